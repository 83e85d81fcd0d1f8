import { useState } from 'preact/hooks';
import type { Artifact } from '../api/client.ts';
import { updateArtifact } from '../state/changes.ts';
import { tell } from '../state/toasts.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';
import { words } from '../words/words.ts';

export function RenameDialog({ artifact, onClose }: { readonly artifact: Artifact; readonly onClose: () => void }) {
  const [name, setName] = useState(artifact.name);
  const { library, settings, app } = words.value;
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    onClose();
    if (name.trim() !== artifact.name && (await updateArtifact(artifact, { name: name.trim() })) !== undefined) tell(library.renamed);
  };
  return (
    <Dialog title={library.rename} onClose={onClose} isChanged={name !== artifact.name}>
      <form onSubmit={save}>
        <TextField label={settings.name} value={name} onText={setName} required maxLength={200} autoFocus />
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" disabled={name.trim() === ''}>
            {app.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
