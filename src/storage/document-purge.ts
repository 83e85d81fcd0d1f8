/** Removes the documents of an artifact before it is deleted. They have no foreign key, because its check would cost more than the update itself. */
import type { ArtifactId } from '../../protocol/core/ids.ts';
import type { Queries } from './sql.ts';

/** Rows in one statement; a whole state has up to 50 MB. */
const UPDATES_AT_ONCE = 1000;
const STATES_AT_ONCE = 10;

/** False if `signal` stopped it early. The artifact must no longer accept writes. */
export async function purgeDocuments(sql: Queries, id: ArtifactId, signal: AbortSignal): Promise<boolean> {
  const steps = [
    () => sql`
      delete from document_update where ctid = any(array(
        select ctid from document_update where artifact_id = ${id} limit ${UPDATES_AT_ONCE}))`,
    () => sql`
      delete from document_snapshot where ctid = any(array(
        select ctid from document_snapshot where artifact_id = ${id} limit ${STATES_AT_ONCE}))`,
    () => sql`
      delete from document_version where ctid = any(array(
        select ctid from document_version where artifact_id = ${id} limit ${STATES_AT_ONCE}))`,
  ];
  for (const step of steps) {
    do {
      if (signal.aborted) return false;
    } while ((await step()).count > 0);
  }
  return true;
}
