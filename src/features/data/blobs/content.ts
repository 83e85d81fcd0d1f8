/** Serves the bytes of a blob, or of another stored file. */
import type { StoredBlob } from '../../../../actors/blobs/changes.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { partOf } from '../../../content/conditions.ts';
import { etagMatches } from '../../../edge/answer.ts';
import type { Call, Reply } from '../../../edge/call.ts';
import { streamOf } from '../../../edge/reply-stream.ts';
import type { ObjectStore } from '../../../storage/objects.ts';
import { contentTypeOf, dispositionOf } from './record.ts';

const ONE_YEAR_S = 31_536_000;
/** The bytes of a blob never change. No shared caches: they would keep serving a deleted blob. */
const IMMUTABLE = { 'Cache-Control': `private, max-age=${ONE_YEAR_S}, immutable` };
/** Prevents a file that passed the type check by mistake from running as a page. PDFs go without it: browsers show no PDF in a sandbox. */
const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; media-src 'self'; img-src 'self'; sandbox";

type Content =
  | Reply<Endpoints['blobs.content'], 'ok'>
  | Reply<Endpoints['blobs.content'], 'part'>
  | Reply<Endpoints['blobs.content'], 'outside'>;

export function contentReply(
  objects: Pick<ObjectStore, 'readRange'>,
  blob: Omit<StoredBlob, 'createdAtMs'>,
  call: Pick<Call, 'range' | 'ifRange' | 'ifNoneMatch'>,
  caching: Readonly<Record<string, string>> = IMMUTABLE,
): Content {
  const { sha256, sizeBytes } = blob;
  // The id is part of the ETag because two blobs with the same bytes can differ in type.
  const etag = `"${Buffer.from(sha256, 'hex').toString('base64url').slice(0, 27)}.${blob.id.slice(-8)}"`;
  const headers = {
    'Content-Disposition': dispositionOf(blob),
    ...caching,
    'Accept-Ranges': 'bytes',
    ...(blob.mimeType !== 'application/pdf' && { 'Content-Security-Policy': SANDBOX }),
  };
  const common = { body: '', etag, type: contentTypeOf(blob) } as const;
  const stream = (start: number, end: number) => streamOf(objects.readRange(sha256, start, end), end - start + 1);
  const part = isRangeWanted(call, etag) ? partOf(call.range ?? '', sizeBytes) : 'whole';
  if (part === 'whole') return { reply: 'ok', ...common, headers, stream: stream(0, sizeBytes - 1) };
  if (part === 'unsatisfiable') {
    return { reply: 'outside', body: '', type: 'text/plain', headers: { 'Content-Range': `bytes */${sizeBytes}` } };
  }
  const { start, end } = part;
  const range = { ...headers, 'Content-Range': `bytes ${start}-${end}/${sizeBytes}` };
  return { reply: 'part', ...common, headers: range, stream: stream(start, end) };
}

/** A matching If-None-Match leads to a 304 without a range. A stale If-Range leads to the whole file. */
export function isRangeWanted({ range, ifRange, ifNoneMatch }: Pick<Call, 'range' | 'ifRange' | 'ifNoneMatch'>, etag: string): boolean {
  if (range === undefined || (ifNoneMatch !== undefined && etagMatches(ifNoneMatch, etag))) return false;
  return ifRange === undefined || ifRange === etag;
}
