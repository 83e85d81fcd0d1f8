/** An answer as it is written to the wire; nothing in it depends on the request any more. */
import { createHash } from 'node:crypto';
import type { ReplyStream } from './reply-stream.ts';

export interface Upgrade {
  /** uWebSockets passes this to the handlers of the socket. */
  readonly userData: object;
  /** Called where the client disconnects before the upgrade. */
  abandoned(): void;
}

export interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  /** Null where the status has no body. */
  readonly payload: string | Uint8Array | null;
  /** Whether it can be refused for want of room although its call is no read by its method. */
  readonly changedNothing?: boolean;
  /** Other answers send the same buffer, which is kept anyway. */
  readonly isShared?: boolean;
  /** A body that is produced while it is sent; `payload` is null then. */
  readonly stream?: ReplyStream;
  /** The connection becomes a WebSocket, and nothing else of the answer is written. */
  readonly upgrade?: Upgrade;
  readonly etag: string | undefined;
  /** The connection closes after it. */
  readonly closes?: boolean;
  /** Further headers, each as `\r\nName: value`, already escaped. */
  readonly lines: string;
}

export function upgradeAnswer(upgrade: Upgrade): Answer {
  return { status: 101, type: undefined, payload: null, upgrade, etag: undefined, lines: '' };
}

/** On every answer of the API, so that no browser sniffs an answer as HTML. */
export const NOSNIFF = '\r\nX-Content-Type-Options: nosniff';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not reach a header
const UNSAFE = /[\x00-\x08\x0a-\x1f\x7f]/g;

/** A header value without characters that could end the header; names of files reach headers too. */
export function safeValue(value: string): string {
  return value.replace(UNSAFE, ' ');
}

export function headerLines(headers: Readonly<Record<string, string | readonly string[]>>): string {
  let lines = '';
  for (const [name, values] of Object.entries(headers)) {
    for (const value of typeof values === 'string' ? [values] : values) lines += `\r\n${name}: ${safeValue(value)}`;
  }
  return lines;
}

/** Identifies content that has no version: 128 bits of its SHA-256, safe within an ETag. */
export function contentDigest(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 22);
}

/** The ETag of content that has no version. Quotes included. */
export function contentEtag(content: string | Uint8Array): string {
  return `"${contentDigest(content)}"`;
}

/** The ETag that the edge gives a JSON answer with this body. */
export function bodyEtag(body: object): string {
  return contentEtag(JSON.stringify(body));
}

/** Whether `If-None-Match` names this ETag. Weak comparison, as RFC 9110 says for GET. */
export function etagMatches(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true;
  const strong = etag.replace(/^W\//, '');
  return ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === strong);
}
