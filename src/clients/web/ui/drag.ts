/** Pages that are dragged onto folders. Only within this window: what is dragged is remembered here, not in the event. */
import type { Artifact } from '../api/client.ts';
import { fileArtifact } from '../state/access-changes.ts';
import type { AnyFolder } from '../state/loads.ts';
import { seatIn } from '../state/place.ts';

const TYPE = 'application/x-easel-page';
let dragged: Artifact | undefined;

export function dragSource(artifact: Artifact) {
  return {
    draggable: true,
    onDragStart: (event: DragEvent) => {
      dragged = artifact;
      event.dataTransfer?.setData(TYPE, artifact.id);
      event.dataTransfer?.setData('text/uri-list', artifact.url);
      if (event.dataTransfer) event.dataTransfer.effectAllowed = 'copyMove';
    },
    onDragEnd: () => {
      dragged = undefined;
    },
  };
}

/** A page goes only into folders of where it belongs. */
function fits({ workspace_id }: Artifact, place: string): boolean {
  return place === 'mine' ? workspace_id === null : workspace_id !== null && seatIn(place)?.id === workspace_id;
}

export function dropTarget(place: string, folder: Pick<AnyFolder, 'id' | 'name'> | null) {
  const mark = (event: DragEvent, isOver: boolean) => {
    if (event.currentTarget instanceof Element) event.currentTarget.classList.toggle('is-over', isOver);
  };
  return {
    onDragOver: (event: DragEvent) => {
      if (dragged === undefined || !fits(dragged, place) || !event.dataTransfer?.types.includes(TYPE)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'move';
      mark(event, true);
    },
    onDragLeave: (event: DragEvent) => mark(event, false),
    onDrop: (event: DragEvent) => {
      mark(event, false);
      if (dragged === undefined || !fits(dragged, place)) return;
      event.preventDefault();
      void fileArtifact(dragged, folder);
      dragged = undefined;
    },
  };
}
