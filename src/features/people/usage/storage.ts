/**
 * The one place that enforces what an account may store. What counts: each distinct content of an artifact once, a small record for every file
 * of every version (drafts included), every blob, every version of a dataset, every file of an asset
 * library with its versions, the contents of unfinished publishes, and room that is reserved for what is being stored.
 * An artifact counts for its owner, whoever writes, and until it is purged: its bytes are kept as long as it can be restored.
 * The linked accounts of a person have one maximum together. An artifact that nobody owns counts for its workspace, whose plan bounds it.
 *
 * Whoever stores a content reserves its room first, and the transaction that records the content ends the reservation. So no number of
 * concurrent writers exceeds the maximum, and what is refused is refused before it is stored.
 */
import { randomUUID } from 'node:crypto';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { pipelined } from '../../../storage/sql.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import {
  addRelease,
  addUsage,
  type Holder,
  holderOf,
  lockUsage,
  putReservation,
  type Reservation,
  readReservation,
  readUsage,
  takeReservation,
} from './rows.ts';
import { type Growth, requireRoom, type Usage } from './rules.ts';

type Deps = Pick<ServiceDeps, 'sql' | 'clock'>;

/** Throws UNAUTHORIZED: a caller whose account is missing was removed together with it. */
export async function requireUsage(sql: Queries, accountId: Holder, nowMs: number): Promise<Usage> {
  const usage = await readUsage(sql, accountId, nowMs);
  if (usage === null) throw new Failure('UNAUTHORIZED', { reason: 'revoked' });
  return usage;
}

/** An early refusal, before contents are sent. Throws ACCOUNT_STORAGE_FULL. */
export async function checkRoom(sql: Queries, accountId: Holder, added: Growth, nowMs: number): Promise<void> {
  requireRoom(await requireUsage(sql, accountId, nowMs), added);
}

/** The same for the owner of an artifact. Answers what the owner stores; null where the artifact is gone. */
export async function checkOwnersRoom(sql: Queries, id: ArtifactId, bytes: number, nowMs: number): Promise<Usage | null> {
  const accountId = await holderOf(sql, id);
  if (accountId === null) return null;
  const usage = await requireUsage(sql, accountId, nowMs);
  requireRoom(usage, { bytes, artifacts: 0 });
  return usage;
}

/** Reserves room, or changes what is reserved under this id. Throws ACCOUNT_STORAGE_FULL. */
export async function reserve(tx: Queries, reservation: Reservation, nowMs: number): Promise<void> {
  const { id, accountId } = reservation;
  const [, before] = await pipelined([lockUsage(tx, accountId), takeReservation(tx, id, accountId)]);
  await putIfRoom(tx, reservation, before, nowMs);
}

/** Under an id that there was not before. */
async function reserveNew(tx: Queries, reservation: Reservation, nowMs: number): Promise<void> {
  await lockUsage(tx, reservation.accountId);
  await putIfRoom(tx, reservation, 0, nowMs);
}

/** `before`: what was reserved under this id, and still counts. */
async function putIfRoom(tx: Queries, reservation: Reservation, before: number, nowMs: number): Promise<void> {
  const { accountId, bytes } = reservation;
  await requireRoomWithout(tx, accountId, before, { bytes, artifacts: 0 }, nowMs);
  await pipelined([addUsage(tx, accountId, bytes - before), putReservation(tx, reservation)]);
}

/** `taken`: what still counts of a reservation that has been taken. */
async function requireRoomWithout(tx: Queries, accountId: Holder, taken: number, added: Growth, nowMs: number): Promise<void> {
  const usage = await requireUsage(tx, accountId, nowMs);
  requireRoom({ ...usage, bytes: usage.bytes - taken }, added);
}

/** Ends a reservation, if it is still there. `stored`: its contents may be in the object store, which keeps them until the sweep. */
export async function endReservation({ sql, clock }: Deps, id: string, { stored }: { readonly stored: boolean }): Promise<boolean> {
  const found = await readReservation(sql, id);
  if (found === null) return false;
  const { accountId } = found;
  return sql.begin(async (tx) => {
    await lockUsage(tx, accountId);
    const bytes = await takeReservation(tx, id, accountId);
    if (stored) await addRelease(tx, accountId, bytes, clock.nowMs());
    else await addUsage(tx, accountId, -bytes);
    return true;
  });
}

export interface Held {
  readonly id: string;
  readonly accountId: Holder;
}

/** Runs `work` while room is reserved. `work` ends the reservation with `settle`, in its transaction; where it fails, it ends here. */
export async function whileReserved<T>(deps: Deps, accountId: Holder, bytes: number, work: (held: Held) => Promise<T>): Promise<T> {
  const held = { id: `store_${randomUUID()}`, accountId };
  const nowMs = deps.clock.nowMs();
  const expiresAtMs = nowMs + LIMITS.storageReservationTtlMs;
  if (bytes > 0) await deps.sql.begin((tx) => reserveNew(tx, { ...held, bytes, expiresAtMs }, nowMs));
  try {
    return await work(held);
  } catch (error) {
    // The caller needs the first failure; a reservation that cannot be ended now ends when it expires.
    if (bytes > 0) await Promise.allSettled([endReservation(deps, held.id, { stored: true })]);
    throw error;
  }
}

/** Counts what a transaction has stored, instead of what was reserved for it. Throws ACCOUNT_STORAGE_FULL. */
export async function settle(tx: Queries, accountId: Holder, held: Held, added: Growth, nowMs: number): Promise<void> {
  const [, reserved] = await pipelined([lockUsage(tx, accountId), takeReservation(tx, held.id, held.accountId)]);
  const isOwn = held.accountId === accountId;
  // Where it was reserved for another account than the artifact's owner of now, only that one's row is locked.
  if (!isOwn) await addRelease(tx, held.accountId, reserved, nowMs);
  const ended = isOwn ? reserved : 0;
  await requireRoomWithout(tx, accountId, ended, added, nowMs);
  await addUsage(tx, accountId, added.bytes - ended, added.artifacts);
}

/**
 * The same for what a reservation, which cannot have expired, is kept for from its beginning: as far as it reaches there is room, whatever
 * was removed meanwhile.
 */
export async function settleReserved(tx: Queries, { id, accountId }: Held, bytes: number, nowMs: number): Promise<void> {
  await lockUsage(tx, accountId);
  const missing = bytes - (await takeReservation(tx, id, accountId));
  requireRoom(await requireUsage(tx, accountId, nowMs), { bytes: missing, artifacts: 0 });
  await addUsage(tx, accountId, missing);
}

/** Reserves room for a blob at whom its artifact counts for. Throws ACCOUNT_STORAGE_FULL. */
export async function reserveBlob(
  deps: Deps,
  artifactId: ArtifactId,
  reservation: Pick<Reservation, 'id' | 'bytes' | 'expiresAtMs'>,
): Promise<void> {
  await deps.sql.begin(async (tx) => {
    const accountId = await holderOf(tx, artifactId);
    if (accountId !== null) await reserve(tx, { ...reservation, accountId }, deps.clock.nowMs());
  });
}
