/** The daily sweep: what has had its time is removed for good. Safe beside publishes and beside another sweep. */
import type { ArtifactId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { purgeDocuments } from '../storage/document-purge.ts';
import type { ObjectStore } from '../storage/objects.ts';
import { RETENTION_MS } from './artifact-rows.ts';
import { deleteExpiredBlobUploads } from './blobs/uploads.ts';
import { trimTombstones } from './changes/trim.ts';
import { deleteOldGuests } from './comments/guests.ts';
import type { Queries, ServiceDeps } from './deps.ts';
import { deleteOldMail } from './mail/outbox.ts';
import { purgeDroppedTables, purgeRows } from './tables/purge.ts';

const DAY_MS = 24 * 3600 * 1000;
/** An object is stored before the row that names it: younger ones may just be waiting for theirs. */
const OBJECT_GRACE_MS = DAY_MS;
const ROWS_AT_ONCE = 100;

export interface SweepReport {
  readonly artifacts: number;
  readonly droppedTables: number;
  readonly objects: number;
  readonly uploads: number;
  readonly blobUploads: number;
  readonly previewLinks: number;
  readonly idempotencyRecords: number;
  readonly tokens: number;
  readonly tombstones: number;
  readonly mails: number;
  readonly guests: number;
}

type Deps = Pick<ServiceDeps, 'sql' | 'clock' | 'objects' | 'notices'>;

/** One sweep. `signal` ends it between two steps; what is left is the next one's. */
export async function sweep(deps: Deps, signal: AbortSignal): Promise<SweepReport> {
  const { sql, clock } = deps;
  const nowMs = clock.nowMs();
  return {
    artifacts: await purgeArtifacts(deps, nowMs - RETENTION_MS, signal),
    droppedTables: await purgeDroppedTables(sql, signal),
    uploads: await deleteExpiredUploads(sql, nowMs),
    blobUploads: await deleteExpiredBlobUploads(sql, deps.objects, nowMs, signal),
    previewLinks: await deleteExpiredLinks(sql, nowMs),
    idempotencyRecords: await deleteOldRecords(sql, nowMs - LIMITS.idempotencyTtlMs),
    tokens: await deleteDeadTokens(sql, nowMs - RETENTION_MS),
    tombstones: await trimTombstones(sql, nowMs, signal),
    mails: await deleteOldMail(sql, nowMs - LIMITS.mailRetentionDays * DAY_MS),
    guests: await deleteOldGuests(sql, nowMs, nowMs - RETENTION_MS),
    // Last: the rows removed above may have been the only ones to name them.
    objects: await removeOrphans(deps, nowMs - OBJECT_GRACE_MS, signal),
  };
}

async function purgeArtifacts(deps: Deps, deletedBeforeMs: number, signal: AbortSignal): Promise<number> {
  let purged = 0;
  let doomed = await findExpired(deps.sql, deletedBeforeMs);
  while (doomed.length > 0) {
    for (const { id } of doomed) {
      if (!(await purgeRows(deps.sql, id, signal)) || !(await purgeDocuments(deps.sql, id, signal))) return purged;
      // Another sweep may have been quicker.
      if (!(await deleteArtifact(deps.sql, id, deletedBeforeMs))) continue;
      purged += 1;
      deps.notices.emit({ artifactId: id, slugs: [], kind: 'gone' });
    }
    doomed = await findExpired(deps.sql, deletedBeforeMs);
  }
  return purged;
}

async function removeOrphans(deps: Deps, storedBeforeMs: number, signal: AbortSignal): Promise<number> {
  let removed = 0;
  let orphans = await findOrphans(deps.sql, storedBeforeMs, Buffer.alloc(0));
  while (orphans.length > 0) {
    for (const sha256 of orphans) {
      if (signal.aborted) return removed;
      if (await deps.sql.begin((tx) => removeOrphan(tx, deps.objects, sha256, storedBeforeMs))) removed += 1;
    }
    orphans = await findOrphans(deps.sql, storedBeforeMs, orphans.at(-1) ?? Buffer.alloc(0));
  }
  return removed;
}

function findExpired(sql: Queries, deletedBeforeMs: number): Promise<{ id: ArtifactId }[]> {
  return sql<{ id: ArtifactId }[]>`
    select id from artifact where deleted_at_ms <= ${deletedBeforeMs} order by deleted_at_ms limit ${ROWS_AT_ONCE}`;
}

async function deleteArtifact(sql: Queries, id: ArtifactId, deletedBeforeMs: number): Promise<boolean> {
  return (await sql`delete from artifact where id = ${id} and deleted_at_ms <= ${deletedBeforeMs}`).count > 0;
}

async function deleteExpiredUploads(sql: Queries, nowMs: number): Promise<number> {
  return (await sql`delete from publish_upload where expires_at_ms <= ${nowMs}`).count;
}

async function deleteExpiredLinks(sql: Queries, nowMs: number): Promise<number> {
  return (await sql`delete from preview_link where expires_at_ms <= ${nowMs}`).count;
}

async function deleteOldRecords(sql: Queries, createdBeforeMs: number): Promise<number> {
  return (await sql`delete from idempotency_record where created_at_ms <= ${createdBeforeMs}`).count;
}

/** Kept for a while, so that their holders learn `revoked` or `expired` and not just `invalid`. */
async function deleteDeadTokens(sql: Queries, deadBeforeMs: number): Promise<number> {
  return (await sql`delete from access_token where least(revoked_at_ms, expires_at_ms) <= ${deadBeforeMs}`).count;
}

/** That nothing names this object `o`: no file of a version, no blob, no upload, no content as its compressed form. */
function isOrphan(sql: Queries) {
  return sql`
    not exists (select 1 from version_file f where f.sha256 = o.sha256)
    and not exists (select 1 from blob b where b.sha256 = o.sha256)
    and not exists (select 1 from publish_upload_part p where p.sha256 = o.sha256)
    and not exists (select 1 from object_encoding e where e.encoded_sha256 = o.sha256)`;
}

async function findOrphans(sql: Queries, storedBeforeMs: number, after: Buffer): Promise<Buffer[]> {
  const rows = await sql<{ sha256: Buffer }[]>`
    select o.sha256 from stored_object o
    where o.stored_at_ms <= ${storedBeforeMs} and o.sha256 > ${after} and ${isOrphan(sql)}
    order by o.sha256 limit ${ROWS_AT_ONCE}`;
  return rows.map((row) => row.sha256);
}

/**
 * Removes one object while its row is locked: a publish that wants it waits at the row, finds it gone and stores it anew.
 * The object goes first. Should the commit then fail, a row without object is left that nothing names, for the next sweep.
 */
async function removeOrphan(tx: Queries, objects: ObjectStore, sha256: Buffer, storedBeforeMs: number): Promise<boolean> {
  const [row] = await tx`
    select 1 from stored_object where sha256 = ${sha256} and stored_at_ms <= ${storedBeforeMs} for update skip locked`;
  if (row === undefined) return false;
  // Looked at again under the lock, in a new statement: what was committed while it was taken counts.
  const [orphan] = await tx`select 1 from stored_object o where o.sha256 = ${sha256} and ${isOrphan(tx)}`;
  if (orphan === undefined) return false;
  await objects.delete(sha256.toString('hex'));
  await tx`delete from stored_object where sha256 = ${sha256}`;
  return true;
}
