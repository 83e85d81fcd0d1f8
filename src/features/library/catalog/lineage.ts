/** What leads to an entry, and what comes of it: both ways, and no further to what else comes of that. */
import type { z } from 'zod';
import type { CatalogEntryId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { catalogLineage } from '../../../../protocol/library/catalog.ts';
import type { Queries } from '../../deps.ts';
import { listMade, listMakers, type Place, type StepRow } from './lineage-rows.ts';
import type { Catalog, EntryRow } from './rows.ts';

type Lineage = z.input<typeof catalogLineage>;
type Node = Lineage['nodes'][number];
type Edge = Lineage['edges'][number];

/** Steps of a walk that go on from each other. Each is one read of a bounded number of rows. */
export async function readLineage(sql: Queries, catalog: Catalog, entry: EntryRow): Promise<Lineage> {
  const start = placeOf(entry);
  const found = new Found({
    id: entry.id,
    kind: entry.kind,
    name: entry.name,
    source_name: entry.source_name,
    artifact_id: entry.artifact_id,
  });
  if (start !== null) {
    await walk(found, entry.id, start, (near, rowsMax) => listMakers(sql, catalog, near, rowsMax), 'up');
    await walk(found, entry.id, start, (near, rowsMax) => listMade(sql, catalog, near, rowsMax), 'down');
  }
  return found.lineage;
}

/** Null for a note, which nothing makes. */
function placeOf({ kind, artifact_id, connection_id, name }: EntryRow): Place | null {
  if (kind === 'note') return null;
  return kind === 'connection' ? { kind, holder: connection_id ?? '', thing: '' } : { kind, holder: artifact_id ?? '', thing: name };
}

function nodeOf({ id, kind, name, source_name, artifact_id }: StepRow): Node {
  return { id, kind, name, source_name, artifact_id };
}

const keyOf = ({ kind, holder, thing }: Place) => JSON.stringify([kind, holder, thing]);

type Step = (near: readonly Place[], rowsMax: number) => Promise<readonly StepRow[]>;

async function walk(found: Found, id: CatalogEntryId, start: Place, step: Step, direction: 'up' | 'down'): Promise<void> {
  const ids = new Map([[keyOf(start), id as string]]);
  let near: readonly Place[] = [start];
  for (let depth = 0; near.length > 0; depth += 1) {
    if (depth === LIMITS.catalogLineageStepsMax) return found.cut();
    const rows = await step(near, LIMITS.catalogLineageEdgesMax + 1);
    if (rows.length > LIMITS.catalogLineageEdgesMax) found.cut();
    const next: Place[] = [];
    for (const row of rows.slice(0, LIMITS.catalogLineageEdgesMax)) {
      const here = ids.get(keyOf({ kind: row.near_kind, holder: row.near_holder, thing: row.near_thing }));
      if (here === undefined || !found.add(nodeOf(row))) continue;
      found.join(direction === 'up' ? { from: row.id, to: here, kind: row.made_by } : { from: here, to: row.id, kind: row.made_by });
      if (row.made_by === 'import') found.addPageOf(row, here);
      if (ids.has(keyOf(row))) continue;
      ids.set(keyOf(row), row.id);
      next.push({ kind: row.kind, holder: row.holder, thing: row.thing });
    }
    near = next;
  }
}

class Found {
  readonly #nodes = new Map<string, Node>();
  readonly #edges = new Map<string, Edge>();
  #truncated = false;

  constructor(start: Node) {
    this.#nodes.set(start.id, start);
  }

  /** False where there is no more room for it. */
  add(node: Node): boolean {
    if (!this.#nodes.has(node.id)) {
      if (this.#nodes.size >= LIMITS.catalogLineageNodesMax) {
        this.#truncated = true;
        return false;
      }
      this.#nodes.set(node.id, node);
    }
    return true;
  }

  join(edge: Edge): void {
    this.#edges.set(`${edge.from} ${edge.to}`, edge);
  }

  /** The run that made a dataset has made the page that it belongs to as well. Who sees the dataset sees the page. */
  addPageOf({ id, near_holder }: StepRow, dataset: string): void {
    const { source_name: name = '', artifact_id = null } = this.#nodes.get(dataset) ?? {};
    if (this.add({ id: near_holder, kind: 'page', name, source_name: '', artifact_id }))
      this.join({ from: id, to: near_holder, kind: 'import' });
  }

  cut(): void {
    this.#truncated = true;
  }

  get lineage(): Lineage {
    return { nodes: [...this.#nodes.values()], edges: [...this.#edges.values()], truncated: this.#truncated };
  }
}
