/** Changes of a page that open or close it to people: what each comes to is simulated first. */
import { type Artifact, api } from '../api/client.ts';
import { words } from '../words/words.ts';
import { artifactsChanged, showChange } from './changes.ts';
import type { AnyFolder } from './loads.ts';
import { changeAccess } from './planned.ts';
import { changed } from './store.ts';
import { optimistic, tell, undoing } from './toasts.ts';

type Update = Parameters<typeof api.artifacts.update>[0]['body'];
type Visible = Pick<Update, 'password'> & { readonly visibility: Artifact['visibility'] };

/** Answers what is there now, with a notice where it was held, or undefined where it was refused or put aside. */
export async function setVisibility({ id }: Artifact, body: Visible) {
  const { planned, visibility: said } = words.value;
  const { visibility } = body;
  const reply = await changeAccess({
    artifactId: id,
    plan: { visibility },
    title: planned.visibility(said[visibility].name),
    action: planned.change,
    make: async (revision) => {
      const undo = showChange(id, (artifact) => ({ ...artifact, visibility }));
      const made = await undoing(undo, api.artifacts.update({ params: { id }, body, ifMatch: revision }));
      // What the server has held back is not shown any longer than it has to be.
      if (made.status === 202) undo();
      return made;
    },
  });
  artifactsChanged(id);
  return reply?.body;
}

/** Files a page in a folder of where it belongs, or with null takes it out of its folder. Personal folders open nothing to anybody. */
export async function fileArtifact(artifact: Artifact, folder: Pick<AnyFolder, 'id' | 'name'> | null): Promise<void> {
  const { id, name, workspace_id } = artifact;
  const { library, planned, folders } = words.value;
  const body = { folder_id: folder?.id ?? null };
  const show = () => showChange(id, (one) => ({ ...one, ...body }) as Artifact);
  const done =
    workspace_id === null
      ? await optimistic(show(), () => api.personalFolders.file({ params: { id }, body }))
      : await changeAccess({
          artifactId: id,
          plan: body,
          title: planned.folder(name, folder?.name ?? folders.none),
          action: planned.move,
          make: (revision) => {
            const params = { workspaceId: workspace_id, artifactId: id };
            return undoing(show(), api.folders.move({ params, body, ifMatch: revision }));
          },
        });
  changed('artifacts:', 'folders:', 'access:', `artifact:${id}`);
  if (done !== undefined) tell(folder === null ? library.movedOut(name) : library.moved(name, folder.name));
}
