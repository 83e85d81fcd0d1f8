/** A change of a skill is written here, and proposed. */
import { useState } from 'preact/hooks';
import { api } from '../../../api/client.ts';
import { problemOf } from '../../../api/problem.ts';
import type { ReadSkill } from '../../../state/skills.ts';
import { changed } from '../../../state/store.ts';
import { tell } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { AreaField, TextField } from '../../../ui/fields.tsx';
import { words } from '../../../words/words.ts';
import { hasMarks } from './conflict.ts';

/** What a change that cannot be merged was about, and its text with the conflict marked. */
export interface Unmerged {
  readonly conflict: string;
  readonly title: string;
  readonly note: string;
}

interface ProposeProps {
  readonly read: ReadSkill;
  /** Undefined for a change of the live version. */
  readonly begun: Unmerged | undefined;
  readonly onClose: () => void;
}

export function ProposeDialog({ read: { detail, markdown }, begun, onClose }: ProposeProps) {
  const start = { text: begun?.conflict ?? markdown, title: begun?.title ?? '', note: begun?.note ?? '' };
  const [text, setText] = useState(start.text);
  const [title, setTitle] = useState(start.title);
  const [note, setNote] = useState(start.note);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { skills, app } = words.value;
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    if (begun !== undefined && hasMarks(text, begun.conflict)) {
      setError(skills.marksLeft);
      return;
    }
    setBusy(true);
    const body = { markdown: text, ...(title.trim() !== '' && { title }), ...(note.trim() !== '' && { note }) };
    try {
      await api.skillChanges.propose({ params: { skillId: detail.id }, body });
      changed(`skillChanges:${detail.id}`);
      tell(skills.proposed);
      onClose();
    } catch (thrown) {
      setError(problemOf(thrown).message);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={skills.proposeTitle(detail.name)}
      wide
      isChanged={text !== start.text || title !== start.title || note !== start.note}
      onClose={onClose}
    >
      <form noValidate onSubmit={save}>
        <TextField label={skills.changeTitle} value={title} onText={setTitle} autoFocus />
        <AreaField label={skills.source} error={error} value={text} onText={setText} rows={14} spellcheck={false} />
        <AreaField label={skills.why} value={note} onText={setNote} rows={2} />
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy} disabled={text === markdown}>
            {skills.send}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
