/** The history of tables that the clients of a simulation saw, and the check of the guarantees. */
import type { Change } from '../../actors/kinds.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { MemoryStore } from './memory-store.ts';

export interface SeenRow {
  readonly rowId: string;
  readonly seq: number;
  readonly data: string;
}

/** Request and answer are dated by the number of durable changes of the artifact. */
export interface TableEntry {
  readonly artifactId: ArtifactId;
  readonly table: string;
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly seen: TableSeen;
}

export type TableSeen =
  | { readonly kind: 'wrote'; readonly rows: readonly SeenRow[]; readonly onlyIf?: string | undefined }
  | ({ readonly kind: 'read' } & SeenRow)
  | { readonly kind: 'deleted'; readonly rowId: string }
  | { readonly kind: 'absent'; readonly rowId: string }
  | { readonly kind: 'conflict'; readonly rowId: string; readonly seq: number }
  | { readonly kind: 'duplicate'; readonly keys: readonly number[] }
  | ({ readonly kind: 'marked'; readonly count: number } & Marking)
  | { readonly kind: 'cleared'; readonly group: string; readonly count: number }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'no table' }
  /** UNAVAILABLE, OWNER_MOVED or INTERNAL_ERROR: the outcome is unknown, and a change by filter may have marked some rows. */
  | { readonly kind: 'unknown'; readonly marking?: Marking | undefined };

/** A change by filter: rows of the group get the mark. */
export interface Marking {
  readonly group: string;
  readonly mark: number;
}

interface Fields {
  readonly k: number;
  readonly g: string;
  readonly v: number;
  readonly m?: number;
}

interface Row extends SeenRow {
  readonly fields: Fields;
}

/** The rows of one table; undefined while the table does not exist. */
type State = ReadonlyMap<string, Row> | undefined;

/** Descriptions of the broken guarantees; empty when all held. `known`: tables before the first change. */
export function brokenTables(history: readonly TableEntry[], store: MemoryStore, known: readonly string[]): string[] {
  const broken: string[] = [];
  const states = new Map<string, readonly State[]>();
  for (const [id, { log, tables }] of store.artifacts) {
    for (const table of new Set([...known, ...log.flatMap((change) => ('table' in change ? change.table : []))])) {
      const ofTable = statesOf(log, table, known.includes(table));
      states.set(`${id} ${table}`, ofTable);
      broken.push(...doubleKeys(ofTable).map((why) => `${id} ${table}: ${why}`));
      const stored = tables.rowsOf(table).map(({ rowId, seq, data }) => `${rowId} ${seq} ${data}`);
      const replayed = [...(ofTable.at(-1) ?? [])].map(([rowId, { seq, data }]) => `${rowId} ${seq} ${data}`);
      if (stored.sort().join() !== replayed.sort().join()) broken.push(`${id} ${table}: the stored state is not the state of its log`);
    }
  }
  for (const entry of history) {
    const { artifactId, table } = entry;
    const { log } = store.of(artifactId);
    const why = contradiction(entry, log, states.get(`${artifactId} ${table}`) ?? log.map(() => undefined).concat(undefined));
    if (why !== undefined) broken.push(`${why}: ${JSON.stringify(entry)}`);
  }
  return broken;
}

/** The table before the first change of the artifact, after it, and so on. */
function statesOf(log: readonly Change[], table: string, isThere: boolean): State[] {
  const states: State[] = [isThere ? new Map() : undefined];
  for (const change of log) states.push(after(states.at(-1), change, table));
  return states;
}

function after(before: State, change: Change, table: string): State {
  if (!('table' in change) || change.table !== table) return before;
  const rows = new Map(before);
  switch (change.kind) {
    case 'table.put':
      return rows;
    case 'table.drop':
      return undefined;
    case 'row.put':
      return rows.set(change.rowId, { rowId: change.rowId, seq: change.seq, data: change.data, fields: JSON.parse(change.data) });
    case 'row.delete':
      rows.delete(change.rowId);
      return rows;
    default:
      return change satisfies never;
  }
}

/** The column is unique in one table and the upsert key of the other, so no state may hold a key twice. */
function doubleKeys(states: readonly State[]): string[] {
  for (const [at, state] of states.entries()) {
    const keys = [...(state?.values() ?? [])].map(({ fields }) => fields.k);
    if (new Set(keys).size < keys.length) return [`after change ${at} two rows have one key`];
  }
  return [];
}

function contradiction(entry: TableEntry, log: readonly Change[], states: readonly State[]): string | undefined {
  const { seen, askedAt, answeredAt } = entry;
  const sometime = (holds: (state: State, at: number) => boolean): boolean => {
    for (let at = askedAt; at <= answeredAt; at += 1) if (holds(states[at], at)) return true;
    return false;
  };
  switch (seen.kind) {
    case 'wrote':
      return contradictionOfWrite(entry, seen, log, states);
    case 'read':
      return sometime((state) => isSame(state?.get(seen.rowId), seen)) ? undefined : 'a reader saw what was not there';
    case 'absent':
      return sometime((state) => state?.has(seen.rowId) !== true) ? undefined : 'a reader missed what was there';
    case 'no table':
      return sometime((state) => state === undefined) ? undefined : 'a reader missed a table';
    case 'deleted':
      return sometime((_state, at) => isDelete(log[at], seen.rowId) && at < answeredAt) ? undefined : 'an acknowledged delete is lost';
    case 'dropped':
      return sometime((_state, at) => log[at]?.kind === 'table.drop' && at < answeredAt) ? undefined : 'an acknowledged drop is lost';
    case 'conflict':
      return sometime((state) => state?.get(seen.rowId)?.seq === seen.seq) ? undefined : 'a conflict named what was not there';
    case 'duplicate':
      // The call itself may contain a key twice.
      if (new Set(seen.keys).size < seen.keys.length) return undefined;
      return sometime((state) => [...(state?.values() ?? [])].some(({ fields }) => seen.keys.includes(fields.k)))
        ? undefined
        : 'a value was refused that nobody had';
    case 'marked':
      return contradictionOfMark(entry, seen, log, states, sometime);
    case 'cleared':
      return sometime((state, at) => cleared(state, at, seen, entry, log)) ? undefined : 'a delete by filter took other rows than matched';
    case 'unknown':
      return seen.marking && contradictionOfPart(entry.table, seen.marking, log, states);
    default:
      return seen satisfies never;
  }
}

function contradictionOfWrite(
  { askedAt, answeredAt }: TableEntry,
  seen: Extract<TableSeen, { kind: 'wrote' }>,
  log: readonly Change[],
  states: readonly State[],
): string | undefined {
  for (const row of seen.rows) {
    const change = row.seq <= answeredAt ? log[row.seq - 1] : undefined;
    if (change?.kind !== 'row.put' || change.rowId !== row.rowId || change.data !== row.data) return 'an acknowledged write is lost';
    if (row.seq <= askedAt) return 'a write has the seq of an earlier change';
    const wanted = seen.onlyIf === undefined ? undefined : Number.parseInt(seen.onlyIf.slice(1, -1), 36);
    if (wanted !== undefined && states[row.seq - 1]?.get(row.rowId)?.seq !== wanted) return 'a conditional write overwrote another change';
  }
  return undefined;
}

/** A change by filter marks all rows that matched before its first change, and no other. */
function contradictionOfMark(
  { table, answeredAt }: TableEntry,
  { mark, group, count }: Extract<TableSeen, { kind: 'marked' }>,
  log: readonly Change[],
  states: readonly State[],
  sometime: (holds: (state: State) => boolean) => boolean,
): string | undefined {
  const marked = marksOf(mark, log, states);
  const [first] = marked;
  if (first === undefined) {
    return count === 0 && sometime((state) => inGroup(state, group).length === 0) ? undefined : 'an acknowledged change by filter is lost';
  }
  if (marked.some(({ at }) => at >= answeredAt)) return 'a change by filter was answered before it was durable';
  if (marked.length !== count || inGroup(states[first.at], group).length !== count)
    return 'a change by filter took other rows than matched';
  return contradictionOfPart(table, { group, mark }, log, states);
}

/** The marked rows are the first matches in insertion order, without another change in between. */
function contradictionOfPart(
  table: string,
  { mark, group }: Marking,
  log: readonly Change[],
  states: readonly State[],
): string | undefined {
  const marked = marksOf(mark, log, states);
  const [first] = marked;
  const last = marked.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const wanted = inGroup(states[first.at], group).slice(0, marked.length);
  if (marked.map(({ rowId }) => rowId).join() !== wanted.join()) return 'a change by filter took other rows than the first that matched';
  const meanwhile = log.slice(first.at, last.at + 1).filter((change) => isOf(change, table));
  return meanwhile.length === marked.length ? undefined : 'another change came between two pieces of one by filter';
}

function marksOf(mark: number, log: readonly Change[], states: readonly State[]): { readonly rowId: string; readonly at: number }[] {
  const marked: { readonly rowId: string; readonly at: number }[] = [];
  log.forEach((change, at) => {
    // A later change of the row keeps its mark, so only the first one counts.
    const isNew = change.kind === 'row.put' && JSON.parse(change.data).m === mark && states[at]?.get(change.rowId)?.fields.m !== mark;
    if (isNew) marked.push({ rowId: change.rowId, at });
  });
  return marked;
}

/** Whether the next changes of the table after `at` delete exactly the rows that matched then. */
function cleared(
  state: State,
  at: number,
  { group, count }: Extract<TableSeen, { kind: 'cleared' }>,
  { table, answeredAt }: TableEntry,
  log: readonly Change[],
): boolean {
  const wanted = inGroup(state, group);
  if (wanted.length !== count) return false;
  const next = log
    .slice(at, answeredAt)
    .filter((change) => isOf(change, table))
    .slice(0, count);
  return next.map((change) => (change.kind === 'row.delete' ? change.rowId : '')).join() === wanted.join();
}

function isOf(change: Change, table: string): boolean {
  return 'table' in change && change.table === table;
}

/** The matching rows in insertion order. */
function inGroup(state: State, group: string): string[] {
  return [...(state?.values() ?? [])].filter(({ fields }) => fields.g === group).map(({ rowId }) => rowId);
}

function isDelete(change: Change | undefined, rowId: string): boolean {
  return change?.kind === 'row.delete' && change.rowId === rowId;
}

function isSame(row: Row | undefined, seen: SeenRow): boolean {
  return row?.seq === seen.seq && row.data === seen.data;
}
