/** Whether an artifact can be taken out of the trash. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ArtifactRow, RETENTION_MS } from '../artifacts/rows.ts';

/** For a caller who owns it. Throws ARTIFACT_NOT_FOUND, NOT_DELETED. Past its retention an artifact is gone, whether or not the sweep has removed it yet. */
export function requireRestorable(row: ArtifactRow | null, nowMs: number): ArtifactRow {
  if (row === null) throw new Failure('ARTIFACT_NOT_FOUND');
  if (row.deleted_at_ms === null) throw new Failure('NOT_DELETED');
  if (row.deleted_at_ms + RETENTION_MS <= nowMs) throw new Failure('ARTIFACT_NOT_FOUND');
  return row;
}
