/** Minimal real files, and a plain HTTP client for the blob tests. */
import { request } from 'node:http';

const base64 = (text: string) => Buffer.from(text, 'base64');

export const PNG = base64('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==');
export const GIF = base64('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7');
export const PDF = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n');
export const SVG = Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
export const HTML = Buffer.from('<!doctype html><script>alert(1)</script>');

/** A valid PNG of any size: readers ignore the bytes after the image. The filler does not repeat, so misplaced parts are noticed. */
export function pngOf(sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(sizeBytes);
  for (let at = 0; at + 4 <= sizeBytes; at += 4) bytes.writeUInt32LE(Math.imul(at, 2654435761) >>> 0, at);
  PNG.copy(bytes);
  return bytes;
}

export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends with `node:http`, which adds no browser headers and accepts a body in pieces. */
export function send(
  url: string,
  method: string,
  headers: Record<string, string | number>,
  body: Iterable<Buffer> = [],
): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method, headers }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(chunks) }));
      reply.on('error', reject);
    });
    sending.on('error', reject);
    for (const piece of body) sending.write(piece);
    sending.end();
  });
}
