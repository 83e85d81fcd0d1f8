/** Decisions about datasets that need no I/O, and what callers see of them. */
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../../../protocol/core/errors.ts';
import { datasetName } from '../../../../protocol/data/datasets.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { DatasetContent } from './encode.ts';
import type { StoredDataset, VersionRow } from './rows.ts';

/** A version's number never means another content, so it identifies the dataset's state. */
export function datasetEtag({ version }: Pick<VersionRow, 'version'>): string {
  return `"${version}"`;
}

/** For `checkConditions`. */
export function conditionState(stored: VersionRow | undefined) {
  return stored === undefined ? undefined : { etag: datasetEtag(stored), updatedAtMs: stored.createdAtMs };
}

export function hasSameRows(a: DatasetContent, b: DatasetContent): boolean {
  return a.sha256 === b.sha256 && isDeepStrictEqual(a.columns, b.columns);
}

export function datasetRecord(stored: StoredDataset) {
  return { ...listedDataset(stored), columns: [...stored.columns] };
}

export function listedDataset(row: VersionRow) {
  return { name: row.name, ...versionRecord(row) };
}

export function versionRecord({ version, rows, sizeBytes, createdAtMs }: VersionRow) {
  return { version, rows, sizeBytes, createdAt: dateTime(createdAtMs) };
}

export function cursorOf(name: string): string {
  return Buffer.from(name).toString('base64url');
}

/** Throws INVALID_REQUEST when the cursor does not come from `cursorOf`. */
export function nameOfCursor(cursor: string): string {
  const name = Buffer.from(cursor, 'base64url').toString();
  if (datasetName.safeParse(name).success) return name;
  throw new Failure('INVALID_REQUEST', { message: 'cursor: must be the nextCursor of the previous page.', param: 'cursor' });
}
