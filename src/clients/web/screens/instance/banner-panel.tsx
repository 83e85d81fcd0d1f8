/** The banner as it is stored, and how to put up another one. */
import { useId, useState } from 'preact/hooks';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { Banner } from '../../api/client.ts';
import type { Read } from '../../state/instance.ts';
import { putBanner, useStoredBanner } from '../../state/instance-whole.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { AreaField, SelectField } from '../../ui/fields.tsx';
import { Loaded } from '../../ui/states.tsx';
import { dateText } from '../../words/format.ts';
import { instanceWords } from '../../words/instance-words.ts';
import { ActionButton } from './common.tsx';

const LEVELS = ['info', 'warning', 'critical'] as const satisfies readonly Banner['level'][];

export function BannerPanel() {
  const loaded = useStoredBanner();
  const { banner } = instanceWords.value;
  return (
    <section class="panel is-whole" aria-label={banner.title}>
      <h2>{banner.title}</h2>
      <p class="soft small">{banner.text}</p>
      <Loaded of={loaded}>
        {(read) => (
          <>
            <Now banner={read.shown} />
            <BannerForm key={read.etag} read={read} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function Now({ banner: shown }: { readonly banner: Banner | null }) {
  const { banner } = instanceWords.value;
  if (shown === null) return <p class="soft small">{banner.none}</p>;
  const { text, level, from, to } = shown;
  const nowMs = Date.now();
  const when =
    to !== null && Date.parse(to) <= nowMs
      ? banner.over
      : from !== null && Date.parse(from) > nowMs
        ? banner.later(dateText(from))
        : banner.now;
  return (
    <div class={`site-banner is-shown is-${level}`}>
      <p>
        <strong>{when}</strong> {text}
      </p>
    </div>
  );
}

/** As the browser's field has it, in the reader's zone. */
function localText(at: string | null): string {
  if (at === null) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function timeOf(text: string): string | null {
  return text === '' ? null : new Date(text).toISOString();
}

function BannerForm({ read }: { readonly read: Read<Banner | null> }) {
  const before = read.shown;
  const [text, setText] = useState(before?.text ?? '');
  const [level, setLevel] = useState<Banner['level']>(before?.level ?? 'info');
  const [from, setFrom] = useState(localText(before?.from ?? null));
  const [to, setTo] = useState(localText(before?.to ?? null));
  const [isBusy, setBusy] = useState(false);
  const { banner } = instanceWords.value;
  const isOrdered = from === '' || to === '' || from < to;
  const put = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await putBanner(read, { text: text.trim(), level, from: timeOf(from), to: timeOf(to) });
      tell(banner.shown);
    } catch (error) {
      tellProblem(error);
    }
    setBusy(false);
  };
  return (
    <form class="instance-banner" onSubmit={put}>
      <AreaField
        label={banner.field}
        hint={banner.fieldHint}
        value={text}
        onText={setText}
        rows={2}
        required
        maxLength={LIMITS.bannerCharsMax}
      />
      <div class="instance-filters">
        <SelectField
          label={banner.level}
          value={level}
          options={LEVELS.map((value) => ({ value, label: banner.levels[value] }))}
          onChoose={setLevel}
        />
        <MomentField label={banner.from} hint={banner.fromHint} value={from} onMoment={setFrom} />
        <MomentField label={banner.to} hint={banner.toHint} value={to} onMoment={setTo} error={isOrdered ? undefined : banner.order} />
      </div>
      <div class="row">
        <Button small type="submit" look="main" isBusy={isBusy} disabled={text.trim() === '' || !isOrdered}>
          {before === null ? banner.show : banner.change}
        </Button>
        {before !== null && (
          <ActionButton
            run={async () => {
              await putBanner(read, null);
              tell(banner.cleared);
            }}
          >
            {banner.clear}
          </ActionButton>
        )}
      </div>
    </form>
  );
}

interface MomentProps {
  readonly label: string;
  readonly hint: string;
  readonly error?: string | undefined;
  readonly value: string;
  readonly onMoment: (text: string) => void;
}

function MomentField({ label, hint, error, value, onMoment }: MomentProps) {
  const id = useId();
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <input
        id={id}
        class="input"
        type="datetime-local"
        aria-describedby={`${id}-note`}
        aria-invalid={error !== undefined}
        value={value}
        onInput={(event) => onMoment(event.currentTarget.value)}
      />
      <p
        id={`${id}-note`}
        class={error === undefined ? 'field-note' : 'field-note is-bad'}
        role={error === undefined ? undefined : 'alert'}
      >
        {error ?? hint}
      </p>
    </div>
  );
}
