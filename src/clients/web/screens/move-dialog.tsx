/** Chooses the folder of a page, among those of where it belongs. */
import { useState } from 'preact/hooks';
import type { Artifact } from '../api/client.ts';
import { branchesOf } from '../shell/sidebar.tsx';
import { fileArtifact } from '../state/access-changes.ts';
import { type AnyFolder, useFolders } from '../state/loads.ts';
import { seatIn } from '../state/place.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/states.tsx';
import { words } from '../words/words.ts';
import { FolderDialog } from './folder-dialog.tsx';

export function MoveDialog({ artifact, onClose }: { readonly artifact: Artifact; readonly onClose: () => void }) {
  const place = artifact.workspace_id === null ? 'mine' : (seatIn(artifact.workspace_id)?.slug ?? artifact.workspace_id);
  const folders = useFolders(place);
  const [isMaking, setMaking] = useState(false);
  const { folders: said } = words.value;
  const choose = (folder: AnyFolder | null) => {
    onClose();
    if ((folder?.id ?? null) !== artifact.folder_id) void fileArtifact(artifact, folder);
  };
  return (
    <Dialog title={said.moveTitle(artifact.name)} onClose={onClose}>
      <Loaded of={folders}>
        {(list) => (
          <ul class="choices">
            {[{ folder: null, depth: 0 }, ...branchesOf(list)].map(({ folder, depth }) => (
              <li key={folder?.id ?? 'none'}>
                <button
                  type="button"
                  class={`choice depth-${Math.min(depth, 4)}`}
                  aria-current={(folder?.id ?? null) === artifact.folder_id}
                  onClick={() => choose(folder)}
                >
                  <Icon name={folder === null ? 'close' : 'folder'} />
                  <span class="grow">{folder?.name ?? said.none}</span>
                  {(folder?.id ?? null) === artifact.folder_id && <Icon name="check" />}
                </button>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <div class="dialog-foot">
        <Button icon="plus" onClick={() => setMaking(true)}>
          {said.make}
        </Button>
      </div>
      {isMaking && <FolderDialog place={place} onClose={() => setMaking(false)} />}
    </Dialog>
  );
}
