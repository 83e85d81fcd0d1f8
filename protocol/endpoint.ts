/** What an endpoint is: one value from which router, validation, OpenAPI, client, CLI and the conformance test derive. */
import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Action scopes of workspace agent tokens. Source: spec.md, "Authentication". */
export type Scope = 'artifacts:read' | 'artifacts:publish' | 'data:read' | 'data:write';

/** What the caller wants of an artifact; `actors/access.ts` decides. */
export type Need = 'view' | 'edit' | 'own' | 'data:read' | 'data:write' | 'collab:read' | 'collab:write' | 'comment';

export type Access =
  /** Nothing of the caller is read. */
  | { readonly who: 'anyone' }
  /** A token or session is needed. `scope`: what an agent token must have; without it agents are refused. */
  | { readonly who: 'account'; readonly scope?: Scope }
  /** The artifact named by path parameter `param` must grant `need` (to anonymous callers too, where it is public). `trashed: true` looks in the trash. */
  | { readonly who: 'artifact'; readonly param: string; readonly need: Need; readonly scope: Scope; readonly trashed?: boolean };

/** Which rate limit a call spends. `data`: sliding minute in the artifact's actor. `publish`: sliding hour of a user, counted by the handler in Postgres. `signup`: hour of an address. */
export type LimitName = 'none' | 'data' | 'publish' | 'signup';

export type BodySpec =
  /** A JSON document. `types`: media types taken, default `application/json`. `optional`: no body reads as `{}`. */
  | {
      readonly kind: 'json';
      readonly schema: z.ZodType;
      readonly bytesMax: number;
      readonly types?: readonly string[];
      readonly optional?: boolean;
      readonly tooLarge?: ErrorCode;
    }
  /** Raw bytes. `bytes` are handed over whole; a `stream` while they come, for what is too large to be held in memory. */
  | { readonly kind: 'bytes' | 'stream'; readonly bytesMax: number; readonly types?: readonly string[]; readonly tooLarge?: ErrorCode };

/** A body that is handed over while it comes. Iterate once: a chunk is valid until the next is asked for. Throws where the sender has gone. */
export interface BodyStream extends AsyncIterable<Uint8Array> {
  readonly lengthBytes: number;
}

export type ReplySpec =
  | { readonly status: number; readonly body: z.ZodType; readonly description?: string }
  /** Bytes or text of the media type that the handler names. */
  | { readonly status: number; readonly media: string; readonly description?: string };

export interface Endpoint {
  readonly method: Method;
  /** `/v1/artifacts/{id}`; a parameter is one segment, `{rest*}` at the end is all that follows. */
  readonly path: string;
  readonly group: string;
  readonly summary: string;
  readonly access: Access;
  readonly limit: LimitName;
  /** The array of the body of which every element spends one call; without it a request spends one. */
  readonly limitPer?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: BodySpec;
  /** The first is what a call usually answers; a handler names another by its key, never a number. */
  readonly replies: Readonly<Record<string, ReplySpec>>;
  /** Codes beyond those that the access rule, the body, the limit and the edge itself imply. */
  readonly errors: readonly ErrorCode[];
  /** The answer carries an ETag, takes If-None-Match, and (on a write) If-Match. */
  readonly conditional?: boolean;
  /**
   * A WebSocket: an upgrade that is admitted goes on in its own protocol, anything else is told to upgrade. `request`: all credentials
   * come with the request. `frames`: a request without any is let through, and the protocol authorises by its own frames.
   */
  readonly socket?: 'request' | 'frames';
}

/** Declares an endpoint and keeps its exact type. */
export function endpoint<const E extends Endpoint>(spec: E): E {
  return spec;
}

type Out<S> = S extends z.ZodType ? z.output<S> : Record<never, never>;
type In<S> = S extends z.ZodType ? z.input<S> : Record<never, never>;
export type ParamsOf<E extends Endpoint> = Out<E['params']>;
export type QueryOf<E extends Endpoint> = Out<E['query']>;
export type BodyOf<E extends Endpoint> = E['body'] extends { kind: 'json'; schema: infer S }
  ? Out<S>
  : E['body'] extends { kind: 'bytes' }
    ? Uint8Array
    : E['body'] extends { kind: 'stream' }
      ? BodyStream
      : undefined;
export type ParamsIn<E extends Endpoint> = In<E['params']>;
export type QueryIn<E extends Endpoint> = In<E['query']>;
export type BodyIn<E extends Endpoint> = E['body'] extends { kind: 'json'; schema: infer S }
  ? In<S>
  : E['body'] extends { kind: 'bytes' | 'stream' }
    ? Uint8Array
    : undefined;
export type ReplyKey<E extends Endpoint> = keyof E['replies'] & string;
export type ReplyBody<E extends Endpoint, K extends ReplyKey<E> = ReplyKey<E>> = E['replies'][K] extends { body: infer S }
  ? S extends z.ZodType
    ? z.input<S>
    : never
  : E['replies'][K] extends { media: string }
    ? Uint8Array | string
    : never;
