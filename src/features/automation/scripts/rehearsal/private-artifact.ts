/**
 * JSON keys and tables of one rehearsal: the parts of a real actor and the handlers of the API on them, with a journal that keeps nothing
 * beyond the rehearsal. So what a write does, and what refuses it, is decided by the same code.
 */

import type { JsonChange, StoredKey } from '../../../../../actors/json/changes.ts';
import { JsonPart } from '../../../../../actors/json/json-part.ts';
import type { ArtifactActor } from '../../../../../actors/runtime/artifact-actor.ts';
import type { Numbered } from '../../../../../actors/runtime/live-kind.ts';
import type { Clock } from '../../../../../actors/runtime/ports.ts';
import type { ActorRuntime } from '../../../../../actors/runtime/runtime.ts';
import type { HolderQuery, StoredRow, StoredTable, TableChange } from '../../../../../actors/tables/changes.ts';
import { TablesPart } from '../../../../../actors/tables/tables-part.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { newId } from '../../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { jsonKeyHandlers } from '../../../data/json-keys/handlers.ts';
import { rowHandlers } from '../../../data/tables/handlers.ts';

/** What a rehearsal may hold in memory. */
const BYTES_MAX = 32 * 1024 * 1024;

export type Change = Numbered<JsonChange | TableChange>;

export class PrivateArtifact {
  readonly json: JsonPart;
  readonly tables: TablesPart;
  readonly handlers: ReturnType<typeof jsonKeyHandlers> & ReturnType<typeof rowHandlers>;
  readonly #onChange: (change: Change, before: StoredRow | undefined) => void;
  /** JSON texts by key; the part may let go of them. */
  readonly #texts = new Map<string, string>();
  /** By table, in the order of insertion. */
  readonly #rows = new Map<string, Map<string, StoredRow>>();
  readonly #id = newId('artifact');
  #seq = 0;
  #bytes = 0;
  #turnBytes = 0;

  /** `onChange` hears of every change before it is made; `before` is the row that it changes. */
  constructor(clock: Clock, onChange: (change: Change, before: StoredRow | undefined) => void) {
    this.#onChange = onChange;
    const ledger = this.#ledger();
    this.json = new JsonPart({ ledger, clock, store: { readValue: async (_, key) => this.#texts.get(key) ?? null } });
    this.tables = new TablesPart({
      ledger,
      clock,
      store: {
        readRows: async (_, table, ids) => ids.flatMap((id) => this.#rows.get(table)?.get(id) ?? []),
        readHolders: async (_, wanted) => this.#holders(wanted),
      },
    });
    // The only parts that these handlers touch.
    const actor = { json: this.json, tables: this.tables } as unknown as ArtifactActor;
    const runtime: Pick<ActorRuntime, 'ask'> = {
      ask: async (_, turn, prepare) => {
        for (let wait = prepare?.(actor); wait !== undefined; wait = prepare?.(actor)) await wait;
        this.#turnBytes = 0;
        return turn(actor);
      },
    };
    this.handlers = { ...jsonKeyHandlers({ runtime }), ...rowHandlers({ runtime }) };
  }

  nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  holdKey(stored: StoredKey & { readonly value: string }): void {
    this.#grow(stored.sizeBytes);
    this.#texts.set(stored.key, stored.value);
    this.json.restore([stored]);
  }

  /** `rows` in the order of insertion. */
  holdTable(table: StoredTable, rows: readonly StoredRow[]): void {
    for (const { data } of rows) this.#grow(data.length);
    this.#rows.set(table.storedAs, new Map(rows.map((row) => [row.rowId, row])));
    this.tables.restore([table], false);
  }

  /** In the order of insertion. */
  rowsOf(table: string): StoredRow[] {
    return [...(this.#rows.get(table)?.values() ?? [])];
  }

  row(table: string, rowId: string): StoredRow | undefined {
    return this.#rows.get(table)?.get(rowId);
  }

  text(key: string): string | undefined {
    return this.#texts.get(key);
  }

  #ledger() {
    const seq = () => this.#seq;
    return {
      id: this.#id,
      epoch: 1,
      get seq() {
        return seq();
      },
      // Whatever is recorded counts as committed at once.
      get committedSeq() {
        return seq();
      },
      admit: () => this.#grow(0),
      record: (change: Change) => this.#record(change),
      spend: (bytes: number, _operation: string, param?: string) => {
        this.#turnBytes += bytes;
        if (this.#turnBytes > LIMITS.turnWorkBytesMax) throw new Failure('REQUEST_TOO_EXPENSIVE', param === undefined ? {} : { param });
      },
      settled: () => Promise.resolve(),
    };
  }

  /** Throws where the rehearsal holds too much. */
  #grow(bytes: number): void {
    if (this.#bytes + bytes > BYTES_MAX) {
      throw new Failure('REQUEST_TOO_EXPENSIVE', {
        message: `A rehearsal can hold ${BYTES_MAX / 1024 / 1024} MB of data.`,
        hint: 'Rehearse with less data, or run the job.',
      });
    }
    this.#bytes += bytes;
  }

  #record(change: Change): void {
    this.#seq = change.seq;
    const rows = 'table' in change ? (this.#rows.get(change.storedAs ?? change.table) ?? new Map<string, StoredRow>()) : undefined;
    this.#onChange(change, 'rowId' in change ? rows?.get(change.rowId) : undefined);
    switch (change.kind) {
      case 'json.put':
        this.#bytes += Buffer.byteLength(change.value);
        this.#texts.set(change.key, change.value);
        return;
      case 'json.delete':
        this.#texts.delete(change.key);
        return;
      case 'row.put':
        this.#bytes += change.data.length;
        rows?.set(change.rowId, change);
        return;
      case 'row.delete':
        rows?.delete(change.rowId);
        return;
      case 'table.put':
        this.#rows.set(change.storedAs ?? change.table, rows ?? new Map());
        return;
      case 'table.drop':
        // No method of a script drops a table.
        return;
      default:
        change satisfies never;
    }
  }

  #holders({ table, column, values, rowsMax }: HolderQuery): StoredRow[] {
    const found: StoredRow[] = [];
    for (const row of this.#rows.get(table)?.values() ?? []) {
      const value: unknown = (JSON.parse(row.data) as Record<string, unknown>)[column];
      if (values.some((wanted) => wanted === value)) found.push(row);
      if (found.length === rowsMax) break;
    }
    return found;
  }
}
