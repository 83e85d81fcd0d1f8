/** Versions and their files as callers see them. */
import type { z } from 'zod';
import type { version } from '../../../../protocol/artifacts/versions.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { FileRow, VersionRow } from './rows.ts';

export function presentVersion(row: VersionRow): z.input<typeof version> {
  return {
    id: row.id,
    version_no: row.version_no,
    entrypoint: row.entrypoint,
    created_at: dateTime(row.created_at_ms),
    author_id: row.author_id,
    label: row.label,
    note: row.note,
    is_live: row.is_live,
    is_draft: row.is_draft,
    waiting_since: row.waiting_since_ms === null ? null : dateTime(row.waiting_since_ms),
    size_bytes: row.size_bytes,
  };
}

export function presentFile(row: FileRow) {
  return { path: row.path, mime: row.mime, size_bytes: row.size_bytes, sha256: row.sha256.toString('hex') };
}
