/** The form that shares a page with addresses, and what became of each. */
import { useState } from 'preact/hooks';
import type { ShareOutcome } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { type GivenRole, shareWith } from '../../state/sharing.ts';
import { Button } from '../../ui/button.tsx';
import { AreaField, SelectField, TextField } from '../../ui/fields.tsx';
import { Tag } from '../../ui/small.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { addressesIn, addressProblem, RECIPIENTS_MAX } from './addresses.ts';

const MESSAGE_CHARS_MAX = 1000;
export const GIVEN_ROLES = ['viewer', 'editor'] as const satisfies readonly GivenRole[];

/** What is typed and not sent; the dialog asks before it is lost. */
interface Draft {
  readonly emails: string;
  readonly message: string;
}

export const EMPTY_DRAFT: Draft = { emails: '', message: '' };

interface ShareFormProps {
  readonly artifactId: string;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
}

export function ShareForm({ artifactId, draft, onDraft }: ShareFormProps) {
  const [role, setRole] = useState<GivenRole>('viewer');
  const [outcomes, setOutcomes] = useState<readonly ShareOutcome[]>();
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { share } = words.value;
  const addresses = addressesIn(draft.emails);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const wrong = addressProblem(addresses);
    setError(wrong);
    if (wrong !== undefined || addresses.length === 0 || isBusy) return;
    setBusy(true);
    setOutcomes(undefined);
    try {
      setOutcomes(await shareWith(artifactId, addresses, role, draft.message));
      onDraft(EMPTY_DRAFT);
    } catch (thrown) {
      const { title, text } = problemWords(problemOf(thrown));
      setError(`${title} ${text}`);
    }
    setBusy(false);
  };
  return (
    <form class="share-form" noValidate onSubmit={submit}>
      <TextField
        label={share.emails}
        hint={share.emailsHint(RECIPIENTS_MAX)}
        error={error}
        value={draft.emails}
        onText={(emails) => {
          setError(undefined);
          onDraft({ ...draft, emails });
        }}
        spellcheck={false}
        autoFocus
      />
      {addresses.length > 0 && (
        <AreaField
          label={share.message}
          value={draft.message}
          onText={(message) => onDraft({ ...draft, message })}
          maxLength={MESSAGE_CHARS_MAX}
          rows={2}
        />
      )}
      <div class="share-send">
        <SelectField
          label={share.as}
          hideLabel
          value={role}
          options={GIVEN_ROLES.map((value) => ({ value, label: `${share.role[value]}: ${share.roleMeans[value]}` }))}
          onChoose={setRole}
        />
        <Button type="submit" look="main" isBusy={isBusy} disabled={addresses.length === 0}>
          {share.send}
        </Button>
      </div>
      <Outcomes outcomes={outcomes} />
    </form>
  );
}

/** The list is there before it has contents, so that screen readers hear them arrive. */
function Outcomes({ outcomes = [] }: { readonly outcomes: readonly ShareOutcome[] | undefined }) {
  const { share } = words.value;
  return (
    <div role="status" class="share-outcomes">
      {outcomes.map(({ email, status }) => (
        <p key={email} class="row">
          <span>{email}</span>
          <Tag tone={status === 'added' || status === 'raised' ? 'good' : status === 'pending' ? 'info' : 'plain'}>
            {share.outcome[status]}
          </Tag>
        </p>
      ))}
    </div>
  );
}
