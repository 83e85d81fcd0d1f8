/** Serves all rows of a version. They never change, so clients that name the version may keep them for as long as HTTP allows. */
import { DATASET_TYPES } from '../../../../protocol/data/datasets.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { partOf } from '../../../content/conditions.ts';
import type { Call, Reply } from '../../../edge/call.ts';
import { streamOf } from '../../../edge/reply-stream.ts';
import { isRangeWanted } from '../blobs/content.ts';
import { type Objects, rendering } from './renderings.ts';
import type { StoredDataset } from './rows.ts';

type Content =
  | Reply<Endpoints['datasets.content'], 'ok'>
  | Reply<Endpoints['datasets.content'], 'part'>
  | Reply<Endpoints['datasets.content'], 'outside'>;

type ContentCall = Pick<Call<Endpoints['datasets.content']>, 'query' | 'range' | 'ifRange' | 'ifNoneMatch'>;

export function contentReply(objects: Objects, stored: StoredDataset, call: ContentCall, lane: string): Content {
  const { format, version } = call.query;
  const { sizeBytes, read } = rendering(objects, stored, format, lane);
  const etag = `"${stored.version}.${format}"`;
  const headers = {
    'Content-Disposition': `attachment; filename="${stored.name}.${format}"`,
    // No shared caches: they would keep serving a deleted dataset.
    'Cache-Control': version === undefined ? 'private, no-cache' : 'private, max-age=31536000, immutable',
    'Accept-Ranges': 'bytes',
    'X-Dataset-Version': String(stored.version),
  };
  const common = { body: '', etag, type: `${DATASET_TYPES[format]}${format === 'csv' ? '; charset=utf-8' : ''}` } as const;
  const stream = (start: number, end: number) => streamOf(read(start, end), end - start + 1);
  const part = isRangeWanted(call, etag) ? partOf(call.range ?? '', sizeBytes) : 'whole';
  if (part === 'whole') {
    // An empty range has no last byte.
    if (sizeBytes === 0) return { reply: 'ok', ...common, headers };
    return { reply: 'ok', ...common, headers, stream: stream(0, sizeBytes - 1) };
  }
  if (part === 'unsatisfiable') {
    return { reply: 'outside', body: '', type: 'text/plain', headers: { 'Content-Range': `bytes */${sizeBytes}` } };
  }
  const { start, end } = part;
  const range = { ...headers, 'Content-Range': `bytes ${start}-${end}/${sizeBytes}` };
  return { reply: 'part', ...common, headers: range, stream: stream(start, end) };
}
