/** What is made from what, from left to right. The same is said in words below for who does not see it. */
import type { Lineage } from '../../../api/client.ts';
import type { Provider } from '../../../state/imports.ts';
import { words } from '../../../words/words.ts';

type Node = Lineage['nodes'][number];
type Edge = Lineage['edges'][number];

const BOX_WIDTH = 190;
const BOX_HEIGHT = 46;
const GAP_X = 70;
const GAP_Y = 16;
const NAME_CHARS = 22;

interface Placed {
  readonly node: Node;
  readonly x: number;
  readonly y: number;
}

/** The edges without those that close a circle, as where a script writes the table that it reads. What nothing leads to comes first. */
function forwardOf({ nodes, edges }: Lineage): readonly Edge[] {
  const seen = new Map<string, 'open' | 'done'>();
  const kept: Edge[] = [];
  const visit = (id: string) => {
    seen.set(id, 'open');
    for (const edge of edges.filter(({ from }) => from === id)) {
      if (seen.get(edge.to) === 'open') continue;
      kept.push(edge);
      if (!seen.has(edge.to)) visit(edge.to);
    }
    seen.set(id, 'done');
  };
  const isMade = new Set(edges.map(({ to }) => to));
  for (const { id } of [...nodes.filter((node) => !isMade.has(node.id)), ...nodes]) if (!seen.has(id)) visit(id);
  return kept;
}

/** Each node one step to the right of the farthest one that leads to it. */
function columnsOf(nodes: readonly Node[], forward: readonly Edge[]): ReadonlyMap<string, number> {
  const column = new Map<string, number>(nodes.map(({ id }) => [id, 0]));
  for (let round = 0; round < nodes.length; round += 1) {
    let isMoved = false;
    for (const { from, to } of forward) {
      const wanted = (column.get(from) ?? 0) + 1;
      if (wanted <= (column.get(to) ?? 0)) continue;
      column.set(to, wanted);
      isMoved = true;
    }
    if (!isMoved) break;
  }
  return column;
}

function placed(nodes: readonly Node[], forward: readonly Edge[]): readonly Placed[] {
  const columns = columnsOf(nodes, forward);
  const filled = new Map<number, number>();
  return nodes.map((node) => {
    const column = columns.get(node.id) ?? 0;
    const row = filled.get(column) ?? 0;
    filled.set(column, row + 1);
    return { node, x: column * (BOX_WIDTH + GAP_X), y: row * (BOX_HEIGHT + GAP_Y) };
  });
}

function addressOf(slug: string, { id, kind, artifact_id }: Node): string {
  if (kind === 'page') return `/p/${id}`;
  if (kind === 'job') return `/p/${artifact_id}/jobs/${id}`;
  return `/w/${slug}/${kind === 'import' ? 'imports' : 'catalog'}/${id}`;
}

/** What it is, and whose: a table of a page, an import from a drive. */
function kindText({ kind, source_name }: Node): string {
  const { catalog, imports } = words.value;
  if (kind === 'page') return catalog.nodeKind.page;
  if (kind === 'job') return `${catalog.nodeKind.job} · ${source_name}`;
  if (kind === 'import') return `${catalog.nodeKind.import} · ${imports.providers[source_name as Provider] ?? source_name}`;
  return kind === 'connection' ? catalog.kind[kind] : `${catalog.kind[kind]} · ${source_name}`;
}

const short = (text: string) => (text.length > NAME_CHARS ? `${text.slice(0, NAME_CHARS - 1)}…` : text);

function pathOf(from: Placed, to: Placed): string {
  const [x1, y1, x2, y2] = [from.x + BOX_WIDTH, from.y + BOX_HEIGHT / 2, to.x, to.y + BOX_HEIGHT / 2];
  const bend = Math.max(GAP_X / 2, Math.abs(x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 4} ${y2}`;
}

/** Below the boxes, back to where it began. */
function backPathOf(from: Placed, to: Placed): string {
  const [x1, y1, x2, y2] = [from.x + BOX_WIDTH / 2, from.y + BOX_HEIGHT, to.x + BOX_WIDTH / 2, to.y + BOX_HEIGHT];
  const low = Math.max(y1, y2) + GAP_Y + 8;
  return `M${x1} ${y1}C${x1} ${low} ${x2} ${low} ${x2} ${y2 + 4}`;
}

interface GraphProps {
  readonly slug: string;
  readonly lineage: Lineage;
  readonly entryId: string;
}

export function LineageGraph({ slug, lineage, entryId }: GraphProps) {
  const { catalog } = words.value;
  const forward = forwardOf(lineage);
  const isForward = new Set(forward);
  const boxes = placed(lineage.nodes, forward);
  const byId = new Map(boxes.map((box) => [box.node.id as string, box]));
  const said = { materialize: catalog.lineageOf, import: catalog.lineageOf, read: catalog.readBy, write: catalog.writtenBy };
  const nameOf = (id: string) => byId.get(id)?.node.name ?? '';
  const width = Math.max(...boxes.map(({ x }) => x)) + BOX_WIDTH + 4;
  const height = Math.max(...boxes.map(({ y }) => y)) + BOX_HEIGHT + (forward.length < lineage.edges.length ? GAP_Y + 4 : 4);
  return (
    <>
      <nav class="lineage" aria-label={catalog.lineage}>
        <svg width={width} height={height} viewBox={`-2 -2 ${width} ${height}`}>
          <title>{catalog.lineage}</title>
          <defs>
            <marker id="lineage-tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 8 4 0 8z" class="lineage-tip" />
            </marker>
          </defs>
          {lineage.edges.map((edge) => {
            const { from, to } = edge;
            const [start, end] = [byId.get(from), byId.get(to)];
            if (start === undefined || end === undefined) return null;
            return (
              <path
                key={`${from} ${to}`}
                class="lineage-edge"
                d={(isForward.has(edge) ? pathOf : backPathOf)(start, end)}
                marker-end="url(#lineage-tip)"
              />
            );
          })}
          {boxes.map(({ node, x, y }) => (
            <a key={node.id} href={addressOf(slug, node)}>
              <rect
                class={node.id === entryId ? 'lineage-box is-here' : 'lineage-box'}
                x={x}
                y={y}
                width={BOX_WIDTH}
                height={BOX_HEIGHT}
                rx="8"
              />
              <text class="lineage-name" x={x + 12} y={y + 20}>
                {short(node.name)}
              </text>
              <text class="lineage-kind" x={x + 12} y={y + 37}>
                {short(kindText(node))}
              </text>
            </a>
          ))}
        </svg>
      </nav>
      <ul class="unseen">
        {lineage.edges.map(({ from, to, kind }) => (
          <li key={`${from} ${to}`}>{said[kind](nameOf(from), nameOf(to))}</li>
        ))}
      </ul>
      {lineage.truncated && <p class="soft small">{catalog.moreLineage}</p>}
    </>
  );
}
