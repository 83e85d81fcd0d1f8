/** Removes objects from the store that nothing references any more. */

import type { Clock } from '../../actors/runtime/ports.ts';
import { RETENTION } from '../../protocol/business/retention.ts';
import type { ObjectStore } from './objects.ts';
import type { Queries, Sql } from './sql.ts';

/** An object is stored before the row that references it, so objects younger than this are kept. */
const GRACE_MS = RETENTION.objects.keptMs;
const ROWS_AT_ONCE = 100;
/**
 * The lock of an object's row is trusted for so long after it was asked for. A process that was paused, or whose connection was lost, may not have
 * it any more, and the object may have been stored again.
 */
const LOCK_MS = 5000;

interface Deps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly objects: ObjectStore;
}

/** Returns how many objects it removed. */
export async function removeOrphans({ sql, clock, objects }: Deps, signal: AbortSignal): Promise<number> {
  const storedBeforeMs = clock.nowMs() - GRACE_MS;
  let removed = 0;
  let orphans = await findOrphans(sql, storedBeforeMs, Buffer.alloc(0));
  while (orphans.length > 0) {
    for (const sha256 of orphans) {
      if (signal.aborted) return removed;
      if (await sql.begin((tx) => removeOrphan(tx, { objects, clock }, sha256, storedBeforeMs))) removed += 1;
    }
    orphans = await findOrphans(sql, storedBeforeMs, orphans.at(-1) ?? Buffer.alloc(0));
  }
  return removed;
}

/** SQL condition: object `o` is not referenced by a file of a version, a blob, a dataset, an asset, a thumbnail, an upload, a ticket or a content (as its compressed form). */
function isOrphan(sql: Queries) {
  return sql`
    not exists (select 1 from version_file f where f.sha256 = o.sha256)
    and not exists (select 1 from blob b where b.sha256 = o.sha256)
    and not exists (select 1 from dataset_version d where d.sha256 = o.sha256)
    and not exists (select 1 from thumbnail t where t.sha256 = o.sha256)
    and not exists (select 1 from asset_file a where a.sha256 = o.sha256)
    and not exists (select 1 from asset_thumbnail t where t.sha256 = o.sha256)
    and not exists (select 1 from asset_upload_piece p where p.sha256 = o.sha256)
    and not exists (select 1 from ticket_attachment a where a.sha256 = o.sha256)
    and not exists (select 1 from publish_upload_part p where p.sha256 = o.sha256)
    and not exists (select 1 from person_export x where x.sha256 = o.sha256)
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
 * Removes one object while its row is locked: a concurrent publish of it waits for the lock, finds the row gone and stores the object again.
 * The object is deleted first. If the commit then fails, the next sweep removes the row, which nothing references.
 */
async function removeOrphan(tx: Queries, { objects, clock }: Omit<Deps, 'sql'>, sha256: Buffer, storedBeforeMs: number): Promise<boolean> {
  const askedMs = clock.monotonicMs();
  const [row] = await tx`
    select 1 from stored_object where sha256 = ${sha256} and stored_at_ms <= ${storedBeforeMs} for update skip locked`;
  if (row === undefined) return false;
  // Checked again under the lock in a new statement, which sees what was committed while waiting for the lock.
  const [orphan] = await tx`select 1 from stored_object o where o.sha256 = ${sha256} and ${isOrphan(tx)}`;
  if (orphan === undefined || clock.monotonicMs() - askedMs > LOCK_MS) return false;
  await objects.delete(sha256.toString('hex'));
  await tx`delete from stored_object where sha256 = ${sha256}`;
  return true;
}
