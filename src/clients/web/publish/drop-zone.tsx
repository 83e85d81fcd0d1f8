/** The whole window takes files: what is dragged over it is told where it would go. */
import { useEffect, useState } from 'preact/hooks';
import { seatIn } from '../state/place.ts';
import { Icon } from '../ui/icon.tsx';
import { words } from '../words/words.ts';
import { fromDrop } from './gather.ts';
import { here, takeFiles } from './state.ts';

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') ?? false;
}

export function DropZone() {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    // Enter and leave come for each element on the way; together they are even when the pointer has left the window.
    let depth = 0;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth += 1;
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const over = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event) || event.dataTransfer === null) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      void takeFiles(fromDrop(event.dataTransfer));
    };
    addEventListener('dragenter', enter);
    addEventListener('dragleave', leave);
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragenter', enter);
      removeEventListener('dragleave', leave);
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
    };
  }, []);
  if (!isOver) return null;
  const { publish } = words.value;
  const { artifact, workspace } = here.value;
  const place = workspace === undefined ? publish.mine : (seatIn(workspace)?.name ?? workspace);
  return (
    <div class="drop-zone" aria-hidden="true">
      <div class="drop-frame">
        <Icon name="up" size={36} />
        <p class="drop-title">{publish.drop}</p>
        <p>{artifact === undefined ? publish.dropHere(place) : publish.dropVersion(artifact.name)}</p>
      </div>
    </div>
  );
}
