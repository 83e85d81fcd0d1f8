/** Reads and writes one note. What somebody else has written meanwhile is not replaced. */
import { useEffect, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../../../api/problem.ts';
import { readNote, type Stored, writeNote } from '../../../state/sharees.ts';
import { changed } from '../../../state/store.ts';
import { tell } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { AreaField, TextField } from '../../../ui/fields.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { ProblemNote, Skeleton } from '../../../ui/states.tsx';
import { problemWords } from '../../../words/problems.ts';
import { words } from '../../../words/words.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

interface NoteDialogProps {
  readonly slug: string;
  readonly shareeId: string;
  /** Null for a new one. */
  readonly name: string | null;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
}

export function NoteDialog(props: NoteDialogProps) {
  const { slug, shareeId, name } = props;
  const [stored, setStored] = useState<Stored<string>>();
  const [problem, setProblem] = useState<Problem>();
  const load = () => {
    if (name === null) return;
    setProblem(undefined);
    readNote({ slug, shareeId, name }).then(setStored, (error: unknown) => setProblem(problemOf(error)));
  };
  useEffect(load, [slug, shareeId, name]);
  if (name === null) return <Editor {...props} stored={null} />;
  if (stored !== undefined) return <Reader {...props} name={name} stored={stored} />;
  return (
    <Dialog title={name} onClose={props.onClose}>
      {problem === undefined ? <Skeleton shape="block" count={1} /> : <ProblemNote problem={problem} onRetry={load} />}
    </Dialog>
  );
}

function Reader(props: NoteDialogProps & { readonly name: string; readonly stored: Stored<string> }) {
  const [isEditing, setEditing] = useState(false);
  const { name, stored, mayWrite, onClose } = props;
  const { external, app } = words.value;
  if (isEditing) return <Editor {...props} />;
  return (
    <Dialog title={name} wide onClose={onClose}>
      <Markdown text={stored.value} />
      <div class="dialog-foot">
        {mayWrite && (
          <Button icon="pen" aria-label={external.editNote(name)} onClick={() => setEditing(true)}>
            {external.edit}
          </Button>
        )}
        <Button look="main" onClick={onClose}>
          {app.done}
        </Button>
      </div>
    </Dialog>
  );
}

function Editor({ slug, shareeId, name, stored, onClose }: NoteDialogProps & { readonly stored: Stored<string> | null }) {
  const [typedName, setTypedName] = useState('');
  const [text, setText] = useState(stored?.value ?? '');
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { external, app } = words.value;
  const wanted = typedName.trim().replace(/\.md$/, '');
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    if (name === null && !NAME.test(wanted)) {
      setError(external.noteNameWrong);
      return;
    }
    setBusy(true);
    const file = name ?? `${wanted}.md`;
    try {
      await writeNote({ slug, shareeId, name: file }, text, stored?.etag ?? null);
      changed(`notes:${slug}:${shareeId}`);
      tell(external.noteSaved(file));
      onClose();
    } catch (thrown) {
      const problem = problemOf(thrown);
      const { title, text: why } = problemWords(problem);
      const isTaken = problem.code === 'VERSION_CONFLICT';
      setError(isTaken ? (name === null ? external.noteTaken : external.noteChanged) : `${title} ${why}`);
      setBusy(false);
    }
  };
  return (
    <Dialog title={name ?? external.newNote} wide isChanged={text !== (stored?.value ?? '') || typedName !== ''} onClose={onClose}>
      <form noValidate onSubmit={save}>
        {name === null && (
          <TextField
            label={external.noteName}
            hint={external.noteNameHint}
            error={error}
            value={typedName}
            onText={(typed) => {
              setError(undefined);
              setTypedName(typed);
            }}
            spellcheck={false}
            autoFocus
          />
        )}
        <AreaField
          label={external.note}
          error={name === null ? undefined : error}
          value={text}
          onText={setText}
          rows={12}
          autoFocus={name !== null}
        />
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy} disabled={text.trim() === '' || (name === null && wanted === '')}>
            {app.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
