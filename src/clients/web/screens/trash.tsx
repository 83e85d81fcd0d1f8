/** What can be restored. */
import { restoreArtifact } from '../state/changes.ts';
import { useDeleted } from '../state/loads.ts';
import { useTitle } from '../state/window.ts';
import { Button } from '../ui/button.tsx';
import { Drawing } from '../ui/drawing.tsx';
import { Head } from '../ui/small.tsx';
import { Empty, ProblemState, Skeleton } from '../ui/states.tsx';
import { ago } from '../words/format.ts';
import { words } from '../words/words.ts';
import { More } from './more.tsx';

export function TrashScreen() {
  const pages = useDeleted();
  const { trash } = words.value;
  useTitle(trash.title);
  return (
    <>
      <Head title={trash.title} text={trash.text} />
      {pages.items === undefined && pages.problem === undefined && <Skeleton shape="line" count={4} />}
      {pages.items === undefined && pages.problem !== undefined && <ProblemState problem={pages.problem} onRetry={pages.reload} />}
      {pages.items?.length === 0 && <Empty icon="trash" {...trash.empty} />}
      {pages.items !== undefined && pages.items.length > 0 && (
        <ul class="rows">
          {pages.items.map((artifact) => (
            <li key={artifact.id} class="row-item">
              <span class="row-picture">
                <Drawing seed={artifact.id} />
              </span>
              <div class="grow">
                <p class="row-title">{artifact.name}</p>
                <p class="row-facts">
                  {artifact.deleted_at !== undefined && <span>{trash.deletedAt(ago(artifact.deleted_at))}</span>}
                  {artifact.recoverable_until !== undefined && <span>{trash.until(ago(artifact.recoverable_until))}</span>}
                </p>
              </div>
              <Button icon="restore" aria-label={trash.restoreOf(artifact.name)} onClick={() => void restoreArtifact(artifact)}>
                {trash.restore}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <More pages={pages} />
    </>
  );
}
