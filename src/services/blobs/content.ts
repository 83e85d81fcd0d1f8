/** The bytes of a blob: they never change, so whoever has them once need not ask again. */
import type { StoredBlob } from '../../../actors/ports.ts';
import type { Endpoints } from '../../../protocol/table.ts';
import { partOf } from '../../content/conditions.ts';
import { etagMatches } from '../../edge/answer.ts';
import type { Call, Reply } from '../../edge/call.ts';
import { streamOf } from '../../edge/reply-stream.ts';
import type { ObjectStore } from '../../storage/objects.ts';
import { contentTypeOf, dispositionOf } from './record.ts';

const ONE_YEAR_S = 31_536_000;
/** Not even a file that slipped through may run as a page. Browsers show no PDF in a sandbox, and run none of it as ours. */
const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; media-src 'self'; img-src 'self'; sandbox";

type Content =
  | Reply<Endpoints['blobs.content'], 'ok'>
  | Reply<Endpoints['blobs.content'], 'part'>
  | Reply<Endpoints['blobs.content'], 'outside'>;

export function contentReply(
  objects: Pick<ObjectStore, 'readRange'>,
  blob: StoredBlob,
  call: Pick<Call, 'range' | 'ifRange' | 'ifNoneMatch'>,
): Content {
  const { sha256, sizeBytes } = blob;
  // Two blobs may have the same bytes and other types.
  const etag = `"${Buffer.from(sha256, 'hex').toString('base64url').slice(0, 27)}.${blob.id.slice(-8)}"`;
  const headers = {
    'Content-Disposition': dispositionOf(blob),
    // Not for caches that others share: what is deleted must be gone.
    'Cache-Control': `private, max-age=${ONE_YEAR_S}, immutable`,
    'Accept-Ranges': 'bytes',
    ...(blob.mimeType !== 'application/pdf' && { 'Content-Security-Policy': SANDBOX }),
  };
  const common = { body: '', etag, type: contentTypeOf(blob) } as const;
  const stream = (start: number, end: number) => streamOf(objects.readRange(sha256, start, end), end - start + 1);
  const part = rangeWanted(call, etag) ? partOf(call.range ?? '', sizeBytes) : 'whole';
  if (part === 'whole') return { reply: 'ok', ...common, headers, stream: stream(0, sizeBytes - 1) };
  if (part === 'unsatisfiable') {
    return { reply: 'outside', body: '', type: 'text/plain', headers: { 'Content-Range': `bytes */${sizeBytes}` } };
  }
  const { start, end } = part;
  const range = { ...headers, 'Content-Range': `bytes ${start}-${end}/${sizeBytes}` };
  return { reply: 'part', ...common, headers: range, stream: stream(start, end) };
}

/** A 304 goes before a part, and a part of other bytes than the caller's is of no use. */
function rangeWanted({ range, ifRange, ifNoneMatch }: Pick<Call, 'range' | 'ifRange' | 'ifNoneMatch'>, etag: string): boolean {
  if (range === undefined || (ifNoneMatch !== undefined && etagMatches(ifNoneMatch, etag))) return false;
  return ifRange === undefined || ifRange === etag;
}
