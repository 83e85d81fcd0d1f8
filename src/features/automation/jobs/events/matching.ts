/** Which changes a job listens to, and which of them it has made itself. Decided without I/O. */

import type { JobId } from '../../../../../protocol/core/ids.ts';
import { CHANGE_TYPE_OF, type ChangeKind } from '../../../../../protocol/data/changes.ts';
import type { RunEvents } from '../runs.ts';
import type { DatasetEvent, Listener, Mark } from './rows.ts';

/** A change, without what it holds. */
export interface Seen {
  readonly seq: number;
  readonly kind: ChangeKind;
  /** The key, the name of the table, or the id of the file or the comment. */
  readonly name: string;
  readonly rowId: string | null;
}

const THINGS_KEPT_MAX = 20;
const DATA_TYPES: ReadonlySet<string> = new Set(['json', 'tables', 'blobs']);

export function listensTo({ event_type, event_filter }: Pick<Listener, 'event_type' | 'event_filter'>, { kind, name }: Seen): boolean {
  if (event_type === 'comment.added') return kind === 'comment:added';
  const type = CHANGE_TYPE_OF[kind];
  if (event_type !== 'data.changed' || !DATA_TYPES.has(type)) return false;
  const { table, key, dataset } = event_filter ?? {};
  if (table === undefined && key === undefined && dataset === undefined) return true;
  if (type === 'tables') return name === table;
  if (type !== 'json' || key === undefined) return false;
  return key.endsWith('*') ? name.startsWith(key.slice(0, -1)) : name === key;
}

export interface Decided {
  readonly events: RunEvents;
  /** The jobs by whose changes it came to this, the listener last. */
  readonly chain: readonly JobId[];
}

/**
 * What of these changes sets the job off; null where nothing does. `isWhole`: each change is there; else only the last of each thing is, so that
 * one by the job itself may hide one of somebody else before it, and then counts for it.
 */
export function decideRun(
  job: Listener,
  changes: readonly Seen[],
  marks: readonly Mark[],
  headSeq: number,
  isWhole: boolean,
): Decided | null {
  const heard = changes.filter((change) => change.seq > job.seen_seq && listensTo(job, change));
  if (heard.length === 0) return null;
  const marked = heard.map((change) => ({ change, mark: markOf(marks, change.seq) }));
  const foreign = marked.filter(({ mark }) => mark?.chain.at(-1) !== job.id);
  const counting = foreign.length === 0 && !isWhole && hidesOthers(job, changes, marks, headSeq) ? marked : foreign;
  if (counting.length === 0) return null;
  const chains = counting.map(({ mark }) => (mark === undefined || mark.chain.at(-1) === job.id ? [] : mark.chain));
  const shortest = chains.reduce((best, chain) => (chain.length < best.length ? chain : best));
  return { events: eventsOf(job, counting), chain: [...shortest, job.id] };
}

/** What of these changes of datasets sets the job off; null where nothing does. Each change is there, with the jobs that have led to it. */
export function decideDatasets(job: Listener, events: readonly DatasetEvent[]): Decided | null {
  const { table, key, dataset } = job.event_filter ?? {};
  const isEach = table === undefined && key === undefined && dataset === undefined;
  const heard = events.filter(
    ({ seq, name, chain }) => seq > job.seen_dataset_seq && (isEach || name === dataset) && chain.at(-1) !== job.id,
  );
  const [first] = heard;
  if (job.event_type !== 'data.changed' || first === undefined) return null;
  const shortest = heard.reduce((best, { chain }) => (chain.length < best.length ? chain : best), first.chain);
  const things = new Map<string, RunEvents['things'][number]>();
  for (const { name, is_deletion } of heard) {
    const kind = is_deletion ? 'dataset.deleted' : 'dataset.version';
    things.set(`${kind} ${name}`, { kind, name });
  }
  const told = { types: [job.event_type], count: heard.length, things: [...things.values()].slice(0, THINGS_KEPT_MAX) };
  return { events: told, chain: [...shortest, job.id] };
}

function eventsOf({ event_type }: Listener, counting: readonly { readonly change: Seen }[]): RunEvents {
  const things = new Map<string, RunEvents['things'][number]>();
  for (const { change } of counting) {
    const { kind, name, rowId } = change;
    things.set(`${kind} ${name} ${rowId}`, { kind, name, ...(rowId !== null && { id: rowId }) });
  }
  return { types: [event_type ?? ''], count: counting.length, things: [...things.values()].slice(0, THINGS_KEPT_MAX) };
}

/** By binary search: marks do not overlap. */
function markOf(marks: readonly Mark[], seq: number): Mark | undefined {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle] as Mark).to_seq < seq) low = middle + 1;
    else high = middle;
  }
  const found = marks[low];
  return found !== undefined && found.from_seq <= seq ? found : undefined;
}

/** Whether there were changes of others that do not show any more. */
function hidesOthers({ seen_seq }: Listener, changes: readonly Seen[], marks: readonly Mark[], headSeq: number): boolean {
  let byRuns = 0;
  for (const { from_seq, to_seq } of marks) byRuns += Math.max(0, Math.min(to_seq, headSeq) - Math.max(from_seq, seen_seq + 1) + 1);
  const shown = changes.filter(({ seq }) => seq > seen_seq && markOf(marks, seq) === undefined).length;
  return headSeq - seen_seq - byRuns > shown;
}

/** Both together, for one run. */
export function joined(before: Decided, after: Decided): Decided {
  const { events: a } = before;
  const { events: b } = after;
  const events = {
    types: [...new Set([...a.types, ...b.types])],
    count: a.count + b.count,
    things: [...a.things, ...b.things].slice(0, THINGS_KEPT_MAX),
  };
  return { events, chain: after.chain.length < before.chain.length ? after.chain : before.chain };
}
