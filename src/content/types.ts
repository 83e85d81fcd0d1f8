/** What passes between the edge and the content server: one request to a content host, one reply. */

/** The largest body that the edge reads for `ContentRequest.body`; over it the edge answers 413. Only the password form sends one. */
export const CONTENT_BODY_BYTES_MAX = 4096;

export interface ContentRequest {
  /** Upper case. */
  readonly method: string;
  /** What stands before the content host in `Host`, in any case: `{slug}.{contentHost}`. May hold anything, dots too. */
  readonly slug: string;
  /** As it was sent: still percent-encoded, without the query, beginning with a slash. */
  readonly path: string;
  /** As it was sent, without the question mark; empty when there is none. */
  readonly query: string;
  /** The peer's address, for limits by address. */
  readonly address: string;
  /** A header by its lowercase name; empty when it was not sent. Must work until the reply is there. */
  header(name: string): string;
  /** The whole body, at most `CONTENT_BODY_BYTES_MAX`. */
  body?(): Promise<Uint8Array>;
}

export interface ContentReply {
  readonly status: number;
  /** Without Content-Length, which the edge sets from the body. Shared between replies: read only. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Null where the status has no body (304, redirects). For HEAD the edge sends its length only. Shared: read only. */
  readonly body: Uint8Array | string | null;
}
