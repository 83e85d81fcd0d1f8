/** Feed of blobs. */
import type { StoredBlob } from '../../../../actors/blobs/changes.ts';
import type { ChangeOf } from '../../../../actors/kinds.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { bareThing, type Feed } from '../changes/feed.ts';

type Description = Pick<StoredBlob, 'filename' | 'mimeType' | 'sizeBytes'>;

export const blobsFeed: Feed<ChangeOf<'blobs'>, Description> = {
  need: 'data:read',
  named: 'id',
  withoutData: ['blob.delete'],
  thingOf(change) {
    const { seq, kind, blobId } = change;
    if (kind === 'blob.delete') return bareThing(seq, kind, blobId, change.atMs);
    const { createdAtMs } = change;
    return { seq, kind, name: blobId, rowId: null, data: blobText(change, createdAtMs), atMs: createdAtMs };
  },
  stored: (sql, id, { sinceSeq, limit }) => [
    sql`
      select seq, 'blob.put', id, null, null, created_at_ms, null::bigint,
        json_build_object('filename', filename, 'mimeType', mime_type, 'sizeBytes', size_bytes)
      from blob where artifact_id = ${id} and seq > ${sinceSeq} order by seq limit ${limit + 1}`,
  ],
  thingOfStored({ seq, kind, name, at_ms: atMs, more }) {
    if (kind === 'blob.delete') return bareThing(seq, kind, name, atMs);
    return { seq, kind, name, rowId: null, data: blobText(more, atMs), atMs };
  },
};

function blobText({ filename, mimeType, sizeBytes }: Description, createdAtMs: number): string {
  return JSON.stringify({ filename, mimeType, sizeBytes, createdAt: dateTime(createdAtMs) });
}
