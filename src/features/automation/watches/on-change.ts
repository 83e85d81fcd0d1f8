/** Has watches looked at soon after their table has changed. Of the node that owns the artifact, which hears of each commit. */
import type { Change } from '../../../../actors/kinds.ts';
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import type { CommitListener } from '../../../../actors/runtime/runtime.ts';
import type { ArtifactId, MetricWatchId } from '../../../../protocol/core/ids.ts';
import { type Bus, onArtifact } from '../../../platform/bus.ts';
import { ReadCache } from '../../../platform/cache.ts';
import type { Sql } from '../../../storage/sql.ts';
import { hastenTurns } from '../metrics/turns.ts';
import { readWatched } from './rows.ts';

/** Changes of this time are looked at once. */
const GATHER_MS = 1000;
/** Watches that wait to be looked at; further ones wait for their quarter of an hour. */
const WAITING_MAX = 10_000;
const ARTIFACTS_MAX = 20_000;

/** The watches of each table; undefined for an artifact without watches. */
type Watched = ReadonlyMap<string, readonly MetricWatchId[]>;
const NONE: Watched = new Map();

export interface OnChangeDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly bus: Bus;
  readonly runtime: { onCommitted(listener: CommitListener): void };
  /** Called when watches are due. */
  readonly wake: () => void;
}

export class WatchesOnChange {
  readonly #deps: OnChangeDeps;
  readonly #watched: ReadCache<ArtifactId, Watched>;
  #waiting = new Set<MetricWatchId>();
  #timer: Timer | undefined;
  #hastening: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(deps: OnChangeDeps) {
    this.#deps = deps;
    this.#watched = new ReadCache({ entriesMax: ARTIFACTS_MAX, load: (id) => this.#load(id) });
    deps.bus.cache('watched tables', {
      everything: () => this.#watched.clear(),
      ...onArtifact(({ artifactId }) => this.#watched.invalidate(artifactId)),
    });
    deps.runtime.onCommitted((id, changes) => this.#committed(id, changes));
  }

  async close(): Promise<void> {
    this.#isOver = true;
    this.#timer?.cancel();
    await this.#hastening;
  }

  async #load(id: ArtifactId): Promise<Watched> {
    const rows = await readWatched(this.#deps.sql, id);
    if (rows.length === 0) return NONE;
    const byTable = new Map<string, MetricWatchId[]>();
    for (const { id: watchId, table_name } of rows) byTable.set(table_name, [...(byTable.get(table_name) ?? []), watchId]);
    return byTable;
  }

  /** Runs at each commit of every artifact, so it does as little as it can: most change no table, and most have no watches. */
  #committed(id: ArtifactId, changes: readonly Change[]): void {
    const tables = tablesIn(changes);
    if (tables === undefined || this.#isOver) return;
    const watched = this.#watched.get(id);
    if (watched instanceof Promise) void this.#readAnd(id, watched, tables);
    else this.#note(watched, tables);
  }

  /** Never rejects. */
  async #readAnd(id: ArtifactId, watched: Promise<Watched | null>, tables: ReadonlySet<string>): Promise<void> {
    try {
      this.#note((await watched) ?? NONE, tables);
    } catch (err) {
      this.#deps.log.warn(
        { err, artifactId: id },
        'watches of changed tables were not read; they are looked at within a quarter of an hour',
      );
    }
  }

  #note(watched: Watched, tables: ReadonlySet<string>): void {
    if (watched.size === 0 || this.#isOver) return;
    for (const table of tables) {
      for (const id of watched.get(table) ?? []) if (this.#waiting.size < WAITING_MAX) this.#waiting.add(id);
    }
    if (this.#waiting.size > 0) this.#timer ??= this.#deps.clock.after(GATHER_MS, () => this.#hasten());
  }

  #hasten(): void {
    this.#timer = undefined;
    const ids = [...this.#waiting];
    this.#waiting = new Set();
    const { sql, clock, log, wake } = this.#deps;
    this.#hastening = this.#hastening.then(async () => {
      try {
        await hastenTurns(sql, ids, clock.nowMs());
        wake();
      } catch (err) {
        log.warn({ err, watches: ids.length }, 'watches of changed tables are looked at within a quarter of an hour only');
      }
    });
  }
}

/** Undefined where no rows have changed. */
function tablesIn(changes: readonly Change[]): ReadonlySet<string> | undefined {
  let tables: Set<string> | undefined;
  for (const change of changes) {
    if (change.kind !== 'row.put' && change.kind !== 'row.delete' && change.kind !== 'table.drop') continue;
    tables ??= new Set();
    tables.add(change.table);
  }
  return tables;
}
