/** What somebody outside may do, and until when. */
import type { Capability, Resource, Terms } from '../../state/outside.ts';
import { DateField, SelectField } from '../../ui/fields.tsx';
import { words } from '../../words/words.ts';

const CAPABILITIES = ['view', 'comment', 'create', 'edit'] as const satisfies readonly Capability[];
const ENDS = ['', '7', '30', '90', 'date'] as const;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface TypedTerms {
  readonly capability: Capability;
  readonly ends: (typeof ENDS)[number];
  readonly date: string;
}

export const FIRST_TERMS: TypedTerms = { capability: 'view', ends: '', date: '' };

/** The chosen day counts whole. Undefined where the date is missing or over. */
export function termsOf({ capability, ends, date }: TypedTerms, nowMs = Date.now()): Terms | undefined {
  if (ends === '') return { capability, expires_at: undefined };
  const endMs = ends === 'date' ? Date.parse(`${date}T23:59:59`) : nowMs + Number(ends) * DAY_MS;
  return Number.isNaN(endMs) || endMs <= nowMs ? undefined : { capability, expires_at: new Date(endMs).toISOString() };
}

interface TermsFieldsProps {
  readonly typed: TypedTerms;
  readonly onType: (typed: TypedTerms) => void;
  /** Only into a folder can somebody publish, and a file can only be looked at. */
  readonly of: Resource['type'];
  /** Whether a date that is missing or over was sent. */
  readonly isWrong: boolean;
}

export function TermsFields({ typed, onType, of, isWrong }: TermsFieldsProps) {
  const { outside } = words.value;
  const offered = CAPABILITIES.filter((capability) => (of === 'file' ? capability === 'view' : of === 'folder' || capability !== 'create'));
  return (
    <>
      <div class="field-pair">
        {offered.length > 1 && (
          <SelectField
            label={outside.capability}
            value={typed.capability}
            options={offered.map((value) => ({
              value,
              label: `${outside.capabilities[value].name}: ${outside.capabilities[value].means}`,
            }))}
            onChoose={(capability) => onType({ ...typed, capability })}
          />
        )}
        <SelectField
          label={outside.expires}
          value={typed.ends}
          options={ENDS.map((value) => ({
            value,
            label: value === '' ? outside.never : value === 'date' ? outside.onDate : outside.days(Number(value)),
          }))}
          onChoose={(ends) => onType({ ...typed, ends })}
        />
      </div>
      {typed.ends === 'date' && (
        <DateField
          label={outside.date}
          error={isWrong ? outside.pastDate : undefined}
          value={typed.date}
          onDate={(date) => onType({ ...typed, date })}
        />
      )}
    </>
  );
}
