/** Gives a page to another person: first whom and what one keeps, then in words what that changes. */
import { useState } from 'preact/hooks';
import { type Artifact, api } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { changed, forget } from '../../state/store.ts';
import { tell } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { RadioCards, TextField } from '../../ui/fields.tsx';
import { problemWords } from '../../words/problems.ts';
import { words } from '../../words/words.ts';
import { addressProblem } from './addresses.ts';

const KEPT = ['editor', 'viewer', 'none'] as const;
type Kept = (typeof KEPT)[number];

export function TransferButton({ artifact, onDone }: { readonly artifact: Artifact; readonly onDone: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const { transfer } = words.value;
  return (
    <p>
      <Button small aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {transfer.open}
      </Button>
      {isOpen && <TransferDialog artifact={artifact} onClose={() => setOpen(false)} onDone={onDone} />}
    </p>
  );
}

interface TransferDialogProps {
  readonly artifact: Artifact;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function TransferDialog({ artifact, onClose, onDone }: TransferDialogProps) {
  const [typed, setTyped] = useState('');
  const [kept, setKept] = useState<Kept>('editor');
  const [isSure, setSure] = useState(false);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { transfer } = words.value;
  const email = typed.trim().toLowerCase();
  const give = async () => {
    setBusy(true);
    try {
      await api.collaborators.transfer({ params: { id: artifact.id }, body: { email, confirm: true, keep_as: kept } });
      tell(transfer.done(email));
      onClose();
      onDone();
      forget(`collaborators:${artifact.id}`, `access:${artifact.id}`, `requests:${artifact.id}`);
      changed('artifacts:', `artifact:${artifact.id}`, 'folders:', 'account');
    } catch (thrown) {
      const { title, text } = problemWords(problemOf(thrown));
      setError(`${title} ${text}`);
      setSure(false);
      setBusy(false);
    }
  };
  const next = (event: SubmitEvent) => {
    event.preventDefault();
    const wrong = addressProblem([email]);
    setError(wrong);
    setSure(wrong === undefined);
  };
  return (
    <Dialog title={transfer.title(artifact.name)} isChanged={typed.trim() !== '' && !isBusy} onClose={onClose}>
      {isSure ? (
        <Consequences
          artifact={artifact}
          email={email}
          kept={kept}
          isBusy={isBusy}
          onBack={() => setSure(false)}
          onGive={() => void give()}
        />
      ) : (
        <form noValidate onSubmit={next}>
          <TextField
            label={transfer.email}
            hint={transfer.emailHint}
            error={error}
            value={typed}
            onText={setTyped}
            spellcheck={false}
            autoFocus
          />
          <p class="label">{transfer.keep}</p>
          <RadioCards
            label={transfer.keep}
            value={kept}
            options={KEPT.map((value) => ({ value, ...transfer.keepAs[value] }))}
            onChoose={setKept}
          />
          <div class="dialog-foot">
            <Button type="submit" look="main" disabled={email === ''}>
              {transfer.next}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

interface ConsequencesProps {
  readonly artifact: Artifact;
  readonly email: string;
  readonly kept: Kept;
  readonly isBusy: boolean;
  readonly onBack: () => void;
  readonly onGive: () => void;
}

function Consequences({ artifact, email, kept, isBusy, onBack, onGive }: ConsequencesProps) {
  const { transfer } = words.value;
  const isInPersonalFolder = artifact.workspace_id === null && artifact.folder_id !== null;
  return (
    <div role="status">
      <h3>{transfer.what}</h3>
      <ul class="planned">
        <li>{transfer.becomes(email)}</li>
        <li>{transfer.you[kept]}</li>
        <li>{transfer.counts}</li>
        {isInPersonalFolder && <li>{transfer.personalFolder}</li>}
        <li>{transfer.others}</li>
        <li>{transfer.back_}</li>
      </ul>
      <div class="dialog-foot">
        <Button onClick={onBack}>{transfer.back}</Button>
        <Button look="danger" isBusy={isBusy} onClick={onGive}>
          {transfer.action}
        </Button>
      </div>
    </div>
  );
}
