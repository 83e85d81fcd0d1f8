import { useState } from 'preact/hooks';
import { api, type Version } from '../../api/client.ts';
import { changed } from '../../state/store.ts';
import { tell, tellProblem } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { AreaField, TextField } from '../../ui/fields.tsx';
import { words } from '../../words/words.ts';

interface NoteDialogProps {
  readonly artifactId: string;
  readonly version: Version;
  readonly onClose: () => void;
}

export function NoteDialog({ artifactId, version, onClose }: NoteDialogProps) {
  const [label, setLabel] = useState(version.label ?? '');
  const [note, setNote] = useState(version.note ?? '');
  const [isBusy, setBusy] = useState(false);
  const { versions, app, page } = words.value;
  const isChanged = label !== (version.label ?? '') || note !== (version.note ?? '');
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const body = { label: label.trim() || null, note: note.trim() || null };
      await api.versions.update({ params: { id: artifactId, version: version.id }, body });
      changed(`versions:${artifactId}`);
      tell(page.saved);
      onClose();
    } catch (error) {
      // What was typed stays, so that it can be tried again.
      tellProblem(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={versions.no(version.version_no)} onClose={onClose} isChanged={isChanged}>
      <form onSubmit={save}>
        <TextField label={versions.label} value={label} onText={setLabel} maxLength={100} autoFocus />
        <AreaField label={versions.noteText} value={note} onText={setNote} maxLength={2000} rows={4} />
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy}>
            {app.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
