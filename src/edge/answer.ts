/** What is written to the wire, decided; nothing of it depends on the request any more. */
import type { ReplyStream } from './reply-stream.ts';

export interface Upgrade {
  /** What uWebSockets hands to the handlers of the socket. */
  readonly userData: object;
  /** The client has gone before. */
  abandoned(): void;
}

export interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  /** Null where the status has no body. */
  readonly payload: string | Uint8Array | null;
  /** The body where it is made while it is sent; `payload` is null then. */
  readonly stream?: ReplyStream;
  /** The connection goes on as a WebSocket: nothing else of the answer is written. */
  readonly upgrade?: Upgrade;
  readonly etag: string | undefined;
  /** Further headers, each as `\r\nName: value`, safe to write as they are. */
  readonly lines: string;
}

/** On every answer of the API: what it says is never to be guessed into a page. */
export const NOSNIFF = '\r\nX-Content-Type-Options: nosniff';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get into a header
const UNSAFE = /[\x00-\x08\x0a-\x1f\x7f]/g;

/** A header value without anything that could end the header. Names of files reach headers too. */
export function safeValue(value: string): string {
  return value.replace(UNSAFE, ' ');
}

export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const [name, value] of Object.entries(headers)) lines += `\r\n${name}: ${safeValue(value)}`;
  return lines;
}

/** Whether `If-None-Match` names this ETag. Weak comparison, as RFC 9110 says for GET. */
export function etagMatches(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true;
  const strong = etag.replace(/^W\//, '');
  return ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === strong);
}
