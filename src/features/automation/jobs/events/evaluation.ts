/** Compares what has happened to an artifact with what its jobs have seen, and writes what is to run. One transaction: nothing is seen twice. */
import type { ArtifactId, JobId } from '../../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { Transaction } from '../../../../storage/sql.ts';
import { readChanges } from '../../../data/changes/store.ts';
import { addEvents, insertRuns, listOpenRuns, type NewRun, type OpenRun, readEvents } from '../runs.ts';
import { type Decided, decideDatasets, decideRun, joined, type Seen } from './matching.ts';
import {
  type ArtifactNow,
  type DatasetEvent,
  type Heard,
  type Listener,
  listDatasetEvents,
  listMarks,
  listNewComments,
  lockListeners,
  type Mark,
  noteSeen,
  readArtifactNow,
} from './rows.ts';

/** What a node has heard of live data; only the first and last seq where that is not whole. */
export interface Gathered {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly seen: readonly Seen[];
  readonly isWhole: boolean;
  /** Jobs for which what none of them listens to was left out. */
  readonly heardFor: readonly Heard[];
}

const EVENT_TYPES = ['data.changed', 'comment.added', 'artifact.updated', 'artifact.viewed'] as const;
const STORE_PAGE = 1000;
/** Beyond these pages only that there were more is known. */
const STORE_PAGES_MAX = 5;

/** Whether something is to run. */
export async function evaluate(tx: Transaction, id: ArtifactId, gathered: Gathered, nowMs: number): Promise<boolean> {
  const jobs = await lockListeners(tx, id, EVENT_TYPES);
  if (jobs.length === 0) return false;
  const now = await readArtifactNow(tx, id);
  const decided = await decideAll(tx, id, jobs, gathered, now, nowMs);
  await noteSeen(
    tx,
    jobs.map((job) => job.id),
    now,
    nowMs,
  );
  if (decided.size === 0) return false;
  const open = await listOpenRuns(tx, [...decided.keys()]);
  const entries: NewRun[] = [];
  for (const job of jobs) {
    const what = decided.get(job.id);
    if (what !== undefined) entries.push(...(await entryOf(tx, job, what, open, nowMs)));
  }
  await insertRuns(tx, entries);
  return entries.some(({ dueMs }) => dueMs !== null);
}

async function decideAll(
  tx: Transaction,
  id: ArtifactId,
  jobs: readonly Listener[],
  gathered: Gathered,
  now: ArtifactNow,
  nowMs: number,
): Promise<ReadonlyMap<JobId, Decided>> {
  const decided = new Map<JobId, Decided>();
  const ofData = jobs.filter(
    ({ event_type, seen_seq }) => event_type !== 'artifact.updated' && event_type !== 'artifact.viewed' && seen_seq < now.seq,
  );
  const sinceSeq = Math.min(...ofData.map(({ seen_seq }) => seen_seq));
  const marks = ofData.length === 0 ? [] : await listMarks(tx, id, sinceSeq);
  // Commits since are not gathered here.
  const isWhole = gathered.isWhole && gathered.firstSeq <= sinceSeq + 1 && gathered.lastSeq >= now.seq && knows(gathered, ofData);
  const changes = ofData.length === 0 ? [] : isWhole ? gathered.seen : await stored(tx, id, ofData, nowMs);
  const datasets = await datasetEvents(tx, id, jobs, now);
  for (const job of jobs) {
    const what = ofData.includes(job) ? decideRun(job, changes, marks as Mark[], now.seq, isWhole) : decideFact(job, now);
    const ofDatasets = decideDatasets(job, datasets);
    const both = what !== null && ofDatasets !== null ? joined(what, ofDatasets) : (what ?? ofDatasets);
    if (both !== null) decided.set(job.id, both);
  }
  return decided;
}

/** A job that was made or changed meanwhile may listen to what was left out. */
function knows({ heardFor }: Gathered, jobs: readonly Listener[]): boolean {
  return jobs.every((job) => heardFor.some(({ id, updated_at_ms }) => id === job.id && updated_at_ms === job.updated_at_ms));
}

/** Each change of a dataset that a job has not seen. */
async function datasetEvents(
  tx: Transaction,
  id: ArtifactId,
  jobs: readonly Listener[],
  now: ArtifactNow,
): Promise<readonly DatasetEvent[]> {
  const sinceSeq = Math.min(
    ...jobs.map(({ event_type, seen_dataset_seq }) => (event_type === 'data.changed' ? seen_dataset_seq : Infinity)),
  );
  const found: DatasetEvent[] = [];
  for (let seq = sinceSeq; seq < now.dataset_seq; ) {
    const page = await listDatasetEvents(tx, id, seq, now.dataset_seq, STORE_PAGE);
    found.push(...page);
    seq = page.length < STORE_PAGE ? now.dataset_seq : (page.at(-1)?.seq ?? now.dataset_seq);
  }
  return found;
}

function decideFact(job: Listener, { updated_at_ms, views }: ArtifactNow): Decided | null {
  const count =
    job.event_type === 'artifact.updated' && updated_at_ms > job.seen_update_ms
      ? 1
      : job.event_type === 'artifact.viewed'
        ? views - job.seen_views
        : 0;
  return count <= 0 ? null : { events: { types: [job.event_type ?? ''], count, things: [] }, chain: [job.id] };
}

/** From what is stored: each thing once, with its last change. */
async function stored(tx: Transaction, id: ArtifactId, jobs: readonly Listener[], nowMs: number): Promise<readonly Seen[]> {
  const found: Seen[] = [];
  let sinceSeq = Math.min(...jobs.map(({ seen_seq }) => seen_seq));
  for (let page = 0; page < STORE_PAGES_MAX; page += 1) {
    const read = await readChanges(tx, id, { sinceSeq, types: ['json', 'tables', 'blobs'], reserved: true, limit: STORE_PAGE, nowMs });
    for (const { seq, kind, name, rowId } of read?.things ?? []) found.push({ seq, kind, name, rowId });
    sinceSeq = found.at(-1)?.seq ?? sinceSeq;
    if (read?.hasMore !== true) break;
  }
  const listening = jobs.filter(({ event_type }) => event_type === 'comment.added');
  if (listening.length > 0) {
    const fromSeq = Math.min(...listening.map(({ seen_seq }) => seen_seq));
    const fromMs = Math.min(...listening.map(({ seen_at_ms }) => seen_at_ms));
    for (const { id: name, seq } of await listNewComments(tx, id, fromSeq, fromMs, STORE_PAGE))
      found.push({ seq, kind: 'comment:added', name, rowId: null });
  }
  return found;
}

/** A run that still waits takes the events along; of one under way it is not known what it has read already. */
async function entryOf(tx: Transaction, job: Listener, what: Decided, open: readonly OpenRun[], nowMs: number): Promise<readonly NewRun[]> {
  const common = {
    jobId: job.id,
    artifactId: job.artifact_id,
    creatorId: job.creator_id,
    trigger: 'event',
    scheduledForMs: nowMs,
    nowMs,
  } as const;
  if (what.chain.length > LIMITS.jobChainMax) {
    const reason = `Jobs have set each other off ${LIMITS.jobChainMax} times in a row: ${what.chain.join(' → ')}.`;
    return [{ ...common, ...what, status: 'skipped', dueMs: null, reason }];
  }
  const waiting = open.find((run) => run.job_id === job.id && run.trigger === 'event' && run.status === 'queued' && run.attempt === 0);
  if (waiting === undefined) return [{ ...common, ...what, status: 'queued', dueMs: nowMs }];
  const before = await readEvents(tx, waiting.id);
  const both = before.events === null ? what : joined({ events: before.events, chain: before.chain }, what);
  await addEvents(tx, waiting.id, both.events, both.chain);
  return [];
}
