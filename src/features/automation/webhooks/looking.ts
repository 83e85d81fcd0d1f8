/**
 * Turns what has happened since the last look into deliveries. The look, its deliveries and how far it has seen are one transaction, so that a
 * node that dies loses nothing and tells nothing twice. What does not fit waits where it is stored: in the artifact itself.
 */
import { newId, type WebhookId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { eventOf } from '../../data/changes/events.ts';
import type { ChangedThing } from '../../data/changes/feed.ts';
import { mustReset } from '../../data/changes/rules.ts';
import { readChanges } from '../../data/changes/store.ts';
import type { Queries } from '../../deps.ts';
import { bodyOf, type Draft, draftsOf, type ReadChange, resetDrafts, stateDrafts, typesFor } from './deliveries.ts';
import {
  dropEventsBeyond,
  insertDeliveries,
  type LookRow,
  lockForLook,
  readArtifactState,
  type Seen,
  takeEvents,
  trimDeliveries,
  writeSeen,
} from './look-rows.ts';

const CHANGES_AT_ONCE = 200;
/** A webhook's list is trimmed each time its number passes a multiple of this. */
const TRIM_EVERY = 50;

export interface Looked {
  readonly made: number;
  /** `more`: look again now. `full`: look again when something was delivered. */
  readonly rest: 'none' | 'more' | 'full';
}

interface Found extends Omit<Seen, 'lastNumber' | 'hasMore'> {
  readonly drafts: readonly Draft[];
  /** Events that nobody is told of any more. */
  readonly dropped: number;
  readonly rest: Looked['rest'];
}

/** Call it in a transaction of its own. */
export async function lookAt(tx: Queries, id: WebhookId, nowMs: number): Promise<Looked> {
  const row = await lockForLook(tx, id);
  if (row === null) return { made: 0, rest: 'none' };
  const room = LIMITS.webhookPendingMax - row.waiting;
  if (room <= 0) return { made: 0, rest: 'full' };
  const found = row.workspace_id === null ? await inArtifact(tx, row, room, nowMs) : await inWorkspace(tx, row, room);
  const first = row.last_number + found.dropped + 1;
  const made = found.drafts.map(({ event, data }, at) => {
    const envelope = { id: newId('delivery'), number: first + at, event, data, atMs: nowMs, webhookId: id };
    return { ...envelope, body: bodyOf({ ...envelope, artifactId: row.artifact_id, workspaceId: row.workspace_id }) };
  });
  const lastNumber = row.last_number + found.dropped + made.length;
  if (made.length > 0) await insertDeliveries(tx, id, made, nowMs);
  await writeSeen(tx, id, { ...found, lastNumber, hasMore: made.length > 0 }, nowMs);
  if (Math.floor(lastNumber / TRIM_EVERY) > Math.floor(row.last_number / TRIM_EVERY)) await trimDeliveries(tx, id, lastNumber);
  return { made: made.length, rest: found.rest };
}

async function inArtifact(tx: Queries, row: LookRow, room: number, nowMs: number): Promise<Found> {
  const state = row.artifact_id === null ? null : await readArtifactState(tx, row.artifact_id);
  if (state === null) throw new Error(`the webhook ${row.id} has no artifact`);
  const { events } = row;
  const seen = { updatedAtMs: row.seen_updated_at_ms, versionId: row.seen_version_id, isDeleted: row.seen_deleted };
  const now = { updatedAtMs: state.updatedAtMs, versionId: state.versionId, isDeleted: state.isDeleted };
  const ofState = stateDrafts(seen, state, events);
  const types = typesFor(events);
  const wanted = { sinceSeq: row.seen_seq, types, reserved: true, limit: CHANGES_AT_ONCE, nowMs };
  const read = types.length === 0 ? null : await readChanges(tx, state.id, wanted);
  if (read === null) return { ...now, seq: state.seq, drafts: ofState.slice(0, room), dropped: 0, rest: 'none' };
  const resets = mustReset(row.seen_seq, read) ? resetDrafts(events, read.headSeq) : [];
  const changes = read.things.map(readChange);
  const ofChanges = draftsOf(changes, events, row.looked_at_ms);
  const roomForChanges = Math.max(0, room - ofState.length - resets.length);
  const taken = ofChanges.slice(0, roomForChanges);
  const isCut = taken.length < ofChanges.length;
  const toSeq = isCut ? (taken.at(-1)?.toSeq ?? row.seen_seq) : read.hasMore ? (changes.at(-1)?.seq ?? read.headSeq) : read.headSeq;
  return {
    ...now,
    seq: toSeq,
    drafts: [...ofState, ...resets, ...taken],
    dropped: 0,
    rest: isCut ? 'full' : read.hasMore ? 'more' : 'none',
  };
}

function readChange(thing: ChangedThing): ReadChange {
  return { ...eventOf(thing), kind: thing.kind, createdAtMs: thing.kind.startsWith('comment:') ? madeAtMs(thing) : undefined };
}

/** When a comment was made, which its text says. */
function madeAtMs({ data }: ChangedThing): number | undefined {
  if (data === null) return undefined;
  const { createdAt } = JSON.parse(data) as { readonly createdAt?: string };
  return createdAt === undefined ? undefined : Date.parse(createdAt);
}

async function inWorkspace(tx: Queries, row: LookRow, room: number): Promise<Found> {
  const dropped = await dropEventsBeyond(tx, row.id, LIMITS.webhookEventsWaitingMax);
  const events = await takeEvents(tx, row.id, room);
  return {
    seq: row.seen_seq,
    updatedAtMs: row.seen_updated_at_ms,
    versionId: row.seen_version_id,
    isDeleted: row.seen_deleted,
    drafts: events.map(({ event, data }) => ({ event, data, toSeq: 0 })),
    dropped,
    rest: events.length < room ? 'none' : 'full',
  };
}
