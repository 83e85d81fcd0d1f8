/** Table calls of simulated clients: `t` has no schema and gets its rows by upsert, `u` has a unique column. */

import type { ActorRuntime } from '../../actors/runtime/runtime.ts';
import type { StoredRow } from '../../actors/tables/changes.ts';
import { DeleteMatching, PatchMatching, type PieceBounds, type ReadMatching } from '../../actors/tables/held-table.ts';
import { DeleteRow, DropTable, InsertRows, PatchRow, ReadRow, rowEtag, type TableOperation } from '../../actors/tables/table-operations.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { perform, performInPieces } from '../../src/features/data/tables/perform.ts';
import type { Random } from '../support/random.ts';
import type { SteppedClock } from '../support/stepped-clock.ts';
import type { FaultyStore } from './faulty-store.ts';
import type { MemoryStore } from './memory-store.ts';
import type { Marking, TableEntry, TableSeen } from './table-history.ts';

const KEYS = [1, 2, 3, 4];
const GROUPS = ['x', 'y'];
const mayWrite = () => undefined;

export const UNIQUE_TABLE = 'u';
const UNIQUE_SCHEMA = JSON.stringify({ columns: [{ name: 'k', type: 'integer', unique: true }] });

/** Gives an artifact the table with the unique column. */
export function addUniqueTable(memory: MemoryStore, id: ArtifactId): void {
  const artifact = memory.of(id);
  const times = { createdAtMs: 0, updatedAtMs: 0 };
  artifact.tables.add({ name: UNIQUE_TABLE, storedAs: UNIQUE_TABLE, schema: UNIQUE_SCHEMA, rowCount: 0, seq: 0, ...times });
}

/** Describes a call, for the history of a refused one. */
interface About {
  readonly rowId?: string;
  readonly keys?: readonly number[];
  readonly marking?: Marking;
}

interface Deps {
  readonly random: Random;
  readonly clock: SteppedClock;
  readonly memory: MemoryStore;
  readonly store: FaultyStore;
  owner(id: ArtifactId): ActorRuntime;
}

export class TableCalls {
  readonly history: TableEntry[] = [];
  readonly #deps: Deps;
  /** Row ids that a client has seen, newest last. */
  readonly #ids = new Map<string, string[]>();
  #values = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async call(id: ArtifactId): Promise<void> {
    const { random } = this.#deps;
    const table = random.pick(['t', 't', UNIQUE_TABLE]);
    const dice = random.next();
    if (dice < 0.35) await this.#insert(id, table);
    else if (dice < 0.5) await this.#read(id, table);
    else if (dice < 0.65) await this.#patch(id, table);
    else if (dice < 0.75) await this.#delete(id, table);
    else if (dice < 0.9) await this.#mark(id, table);
    else if (dice < 0.97) await this.#clear(id, table);
    // Dropping `u` would remove its schema.
    else await this.#run(id, 't', new DropTable('t', mayWrite), () => ({ kind: 'dropped' }));
  }

  async #insert(id: ArtifactId, table: string): Promise<void> {
    const { random } = this.#deps;
    const rows = Array.from({ length: 1 + random.integer(2) }, () => ({ k: random.pick(KEYS), g: random.pick(GROUPS), v: this.#value() }));
    const isUpsert = table === 't' || random.chance(0.3);
    const options = { onConflict: isUpsert ? 'k' : undefined, merge: random.chance(0.5), isMany: true, mayWrite };
    const keys = rows.map(({ k }) => k);
    await this.#run(id, table, new InsertRows(table, rows, options), (done) => ({ kind: 'wrote', rows: done.rows.map(seenRow) }), { keys });
  }

  async #read(id: ArtifactId, table: string): Promise<void> {
    const rowId = this.#someId(id, table);
    await this.#run(id, table, new ReadRow(table, rowId), (row) => ({ kind: 'read', ...seenRow(row) }), { rowId });
  }

  async #patch(id: ArtifactId, table: string): Promise<void> {
    const { random, clock } = this.#deps;
    const rowId = this.#someId(id, table);
    let ifMatch: string | undefined;
    if (random.chance(0.5)) {
      const seen = await this.#run(id, table, new ReadRow(table, rowId), (row) => ({ kind: 'read', ...seenRow(row) }), { rowId });
      if (seen.kind !== 'read') return;
      await new Promise<void>((resolve) => clock.after(random.integer(30), resolve));
      ifMatch = rowEtag({ seq: seen.seq } as StoredRow);
    }
    const key = random.pick(KEYS);
    const changes = table === UNIQUE_TABLE && random.chance(0.5) ? { k: key, v: this.#value() } : { v: this.#value() };
    const patch = new PatchRow(table, rowId, changes, { ifMatch, mayWrite });
    await this.#run(id, table, patch, (row) => ({ kind: 'wrote', rows: [seenRow(row)], onlyIf: ifMatch }), { rowId, keys: [key] });
  }

  async #delete(id: ArtifactId, table: string): Promise<void> {
    const rowId = this.#someId(id, table);
    await this.#run(id, table, new DeleteRow(table, rowId, { mayWrite }), () => ({ kind: 'deleted', rowId }), { rowId });
  }

  async #mark(id: ArtifactId, table: string): Promise<void> {
    const group = this.#deps.random.pick(GROUPS);
    const mark = this.#value();
    const operation = new PatchMatching(table, this.#matching(id, group), { m: mark }, mayWrite, this.#piece());
    const change = (runtime: ActorRuntime) => performInPieces(runtime, id, operation);
    await this.#record(id, table, change, (count) => ({ kind: 'marked', group, mark, count }), { marking: { group, mark } });
  }

  async #clear(id: ArtifactId, table: string): Promise<void> {
    const group = this.#deps.random.pick(GROUPS);
    const operation = new DeleteMatching(table, this.#matching(id, group), mayWrite, this.#piece());
    const change = (runtime: ActorRuntime) => performInPieces(runtime, id, operation);
    await this.#record(id, table, change, (count) => ({ kind: 'cleared', group, count }));
  }

  /** Reads in pages of one or two rows. */
  #matching(id: ArtifactId, group: string): ReadMatching {
    const { store, random } = this.#deps;
    return async function* (_tables, { storedAs }) {
      const rows = await store.readMatching(id, storedAs, (row) => JSON.parse(row.data).g === group);
      for (let at = 0; at < rows.length; ) {
        const page = rows.slice(at, at + 1 + random.integer(2));
        at += page.length;
        yield page;
      }
    };
  }

  /** Small pages, so that the rows of a group need more than one. */
  #piece(): PieceBounds {
    return { rowsMax: 1 + this.#deps.random.integer(2), bytesMax: 1000 };
  }

  #run<T>(id: ArtifactId, table: string, operation: TableOperation<T>, seen: (value: T) => TableSeen, about?: About): Promise<TableSeen> {
    return this.#record(id, table, async (runtime) => perform(runtime, id, operation), seen, about);
  }

  async #record<T>(
    id: ArtifactId,
    table: string,
    call: (runtime: ActorRuntime) => Promise<T>,
    seen: (value: T) => TableSeen,
    about: About = {},
  ): Promise<TableSeen> {
    const { memory, owner } = this.#deps;
    const { log } = memory.of(id);
    const askedAt = log.length;
    let result: TableSeen;
    try {
      result = seen(await call(owner(id)));
    } catch (error) {
      result = refusalOf(error, about);
    }
    this.history.push({ artifactId: id, table, askedAt, answeredAt: log.length, seen: result });
    if (result.kind === 'wrote') this.#learn(id, table, result.rows);
    return result;
  }

  #learn(id: ArtifactId, table: string, rows: readonly { readonly rowId: string }[]): void {
    const ids = this.#ids.get(`${id} ${table}`) ?? [];
    this.#ids.set(`${id} ${table}`, [...ids, ...rows.map(({ rowId }) => rowId)].slice(-6));
  }

  #someId(id: ArtifactId, table: string): string {
    return this.#deps.random.pick(this.#ids.get(`${id} ${table}`) ?? ['row_none']);
  }

  #value(): number {
    this.#values += 1;
    return this.#values;
  }
}

function seenRow({ rowId, seq, data }: StoredRow) {
  return { rowId, seq, data };
}

/** An unexpected error ends the simulation. */
function refusalOf(error: unknown, { rowId = '', keys = [], marking }: About): TableSeen {
  if (!(error instanceof Failure)) throw error;
  switch (error.code) {
    case 'TABLE_NOT_FOUND':
      return { kind: 'no table' };
    case 'ROW_NOT_FOUND':
      return { kind: 'absent', rowId };
    case 'DUPLICATE_VALUE':
      return { kind: 'duplicate', keys };
    case 'VERSION_CONFLICT':
      return { kind: 'conflict', rowId, seq: Number.parseInt((error.details.etag ?? '').slice(1, -1), 36) };
    case 'UNAVAILABLE':
    case 'OWNER_MOVED':
    // Another call of the artifact has poisoned the commit.
    case 'INTERNAL_ERROR':
      return { kind: 'unknown', marking };
    default:
      throw error;
  }
}
