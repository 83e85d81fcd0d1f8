/** The request and the reply between the edge and the content server. */

/** The largest body that the edge reads for `ContentRequest.body`; beyond it the edge answers 413. Only the password form has a body. */
export const CONTENT_BODY_BYTES_MAX = 4096;

export interface ContentRequest {
  /** In uppercase. */
  readonly method: string;
  /** The part of `Host` before the content host, `{slug}.{contentHost}`, in any case. It may contain anything, dots included. */
  readonly slug: string;
  /** As sent: percent-encoded, without the query, with a leading slash. */
  readonly path: string;
  /** As sent, without the question mark; empty where there is none. */
  readonly query: string;
  /** The peer's address, for limits by address. */
  readonly address: string;
  /** A header by its lowercase name; empty where it is absent. It must work until the reply is made. */
  header(name: string): string;
  /** The whole body, at most `CONTENT_BODY_BYTES_MAX`. */
  body?(): Promise<Uint8Array>;
}

export interface ContentReply {
  readonly status: number;
  /** Without Content-Length, which the edge sets from the body. Shared between replies, so read only. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Null where the status has no body (304, redirects). For HEAD the edge sends only its length. Shared, so read only. */
  readonly body: Uint8Array | string | null;
}
