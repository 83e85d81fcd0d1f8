/** Makes a folder, or gives one another name. */
import { useState } from 'preact/hooks';
import { type Problem, problemOf } from '../api/problem.ts';
import { makeFolder, renameFolder } from '../state/changes.ts';
import type { AnyFolder } from '../state/loads.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';
import { problemWords } from '../words/problems.ts';
import { words } from '../words/words.ts';

interface FolderDialogProps {
  /** `mine`, or the slug of a workspace. */
  readonly place: string;
  readonly folder?: AnyFolder;
  readonly parentId?: string | undefined;
  readonly onClose: () => void;
}

export function FolderDialog({ place, folder, parentId, onClose }: FolderDialogProps) {
  const before = folder?.name ?? '';
  const [name, setName] = useState(before);
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { folders, app } = words.value;
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await (folder === undefined ? makeFolder(place, name.trim(), parentId) : renameFolder(place, folder.id, name.trim()));
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  const failed = problem && problemWords(problem);
  return (
    <Dialog title={folder === undefined ? folders.make : folders.rename} onClose={onClose} isChanged={name !== before}>
      <form onSubmit={save}>
        <TextField
          label={folders.name}
          value={name}
          onText={setName}
          required
          maxLength={200}
          autoFocus
          error={failed && `${failed.title} ${failed.text}`}
        />
        <div class="dialog-foot">
          <Button onClick={onClose}>{app.cancel}</Button>
          <Button type="submit" look="main" isBusy={isBusy} disabled={name.trim() === ''}>
            {folder === undefined ? folders.create : app.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
