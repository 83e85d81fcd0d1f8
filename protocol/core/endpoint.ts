/** The type of an endpoint: one value from which router, validation, OpenAPI, client, CLI and the conformance test derive. */
import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import type { LimitName } from './rate-limits.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Action scopes of workspace agent tokens. Source: spec.md, "Authentication". */
export const SCOPES = ['artifacts:read', 'artifacts:publish', 'data:read', 'data:write'] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * The right to an artifact that a call needs; `actors/access/access.ts` decides. `manage`: to change what it is called and who sees it, which
 * nobody outside gets. `oversee`: of its owner and those who run its workspace.
 */
export type Need =
  | 'view'
  | 'edit'
  | 'manage'
  | 'own'
  | 'export'
  | 'oversee'
  | 'data:read'
  | 'data:write'
  | 'collab:read'
  | 'collab:write'
  | 'comment'
  | 'comment:write';

/** Roles in a workspace, each with the rights of those after it. Source: contract.md §2. */
export type WorkspaceRole = 'owner' | 'admin' | 'member';

/** The right to a folder that a call needs; grants on a folder apply to the artifacts in it. */
export type FolderNeed = 'view' | 'edit' | 'own';

/**
 * Which workspace agents a rule admits: those whose token has `scope`, or none because only a `person` may call, whose account is `call.user`.
 * Every rule that needs a credential says one of the two.
 */
export type AgentRule = { readonly scope: Scope; readonly person?: undefined } | { readonly person: true; readonly scope?: undefined };

/**
 * Who may call, by the kind of subject that decides it. The handler finds the resolved subject in its call (`Found` in src/edge/call.ts).
 * `param`: the path parameter that names the subject.
 */
export type Access =
  /**
   * Credentials are not read. `browser`: the handler sets or reads cookies of the API's host, so that a write from a page of another origin is
   * refused.
   */
  | { readonly who: 'anyone'; readonly browser?: true }
  /** A page: a session or a token counts where there is one, an ended session is nobody, and a form is taken only from our own pages. */
  | { readonly who: 'visitor' }
  /**
   * A token or session is needed. `ofStanding`: what is answered depends on all that the caller belongs to and was given, so a read that is under
   * way when that changes has to be asked again.
   */
  | ({ readonly who: 'account'; readonly ofStanding?: true } & AgentRule)
  /** The artifact must grant `need` (to anonymous callers too, where it is public). `trashed: true` looks in the trash. */
  | ({ readonly who: 'artifact'; readonly param: string; readonly need: Need; readonly trashed?: true } & AgentRule)
  /** The caller must have `role` in the workspace, or one above it. */
  | ({ readonly who: 'workspace'; readonly param: string; readonly role: WorkspaceRole } & AgentRule)
  /** The folder must grant `need`. */
  | ({ readonly who: 'folder'; readonly param: string; readonly need: FolderNeed } & AgentRule)
  /** Anybody, and the credential of who sends one is read; agents need the scope. The handler decides what is shown to whom. */
  | { readonly who: 'everybody'; readonly scope: Scope }
  /** A person who administers this installation. */
  | { readonly who: 'instanceAdmin' }
  /** A person who answers tickets for this installation, or who administers it. */
  | { readonly who: 'instanceStaff' };

export type BodySpec =
  /**
   * A JSON document. `types`: media types taken, default `application/json`. `optional`: no body reads as `{}`. `exact`: the handler needs
   * numbers that a double cannot hold.
   */
  | {
      readonly kind: 'json';
      readonly schema: z.ZodType;
      readonly bytesMax: number;
      readonly types?: readonly string[];
      readonly optional?: boolean;
      readonly exact?: true;
      readonly tooLarge?: ErrorCode;
    }
  /** Raw bytes. `bytes` are buffered whole; a `stream` is consumed while it arrives, for bodies too large for memory. */
  | { readonly kind: 'bytes' | 'stream'; readonly bytesMax: number; readonly types?: readonly string[]; readonly tooLarge?: ErrorCode };

/** A body that is consumed while it arrives. Iterate it once; a chunk is valid until the next is read. Throws where the sender has gone. */
export interface BodyStream extends AsyncIterable<Uint8Array> {
  readonly lengthBytes: number;
}

export type ReplySpec =
  | { readonly status: number; readonly body: z.ZodType; readonly description?: string }
  /** Bytes or text of the media type that the handler names. */
  | {
      readonly status: number;
      readonly media: string;
      readonly description?: string;
      /** An answer of somebody else is passed on, with its own status. */
      readonly anyStatus?: true;
    };

export interface Endpoint {
  readonly method: Method;
  /** For example `/v1/artifacts/{id}`. A parameter is one segment; `{rest*}` at the end is the rest of the path. */
  readonly path: string;
  readonly group: string;
  readonly summary: string;
  readonly access: Access;
  /** A name in `RATE_LIMITS`. */
  readonly limit: LimitName;
  /** The array in the body whose every element spends one call; without it a request spends one. */
  readonly limitPer?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Somebody else makes its addresses and adds parameters of their own, which are ignored. Elsewhere unknown ones are refused. */
  readonly foreignQuery?: true;
  readonly body?: BodySpec;
  /** The first is the usual reply. Handlers name replies by key, never by status. */
  readonly replies: Readonly<Record<string, ReplySpec>>;
  /** Codes beyond those that follow from the access rule, the body, the limit and the edge itself. */
  readonly errors: readonly ErrorCode[];
  /** The answer carries an ETag. A GET takes If-None-Match, a write If-Match, and a PUT also `If-None-Match: *` to create only. */
  readonly conditional?: boolean;
  /** On a conditional write: the operation id of the GET whose ETag its If-Match names. */
  readonly resource?: string;
  /** The path parameter of the artifact whose live state a call touches; the call must run in the process of that artifact's actor. */
  readonly actor?: string;
  /** A POST that changes nothing: an Idempotency-Key is accepted and does nothing. */
  readonly reads?: true;
  /** A POST whose answer holds a secret that is given once: it is not kept, so an Idempotency-Key is accepted and does nothing. */
  readonly once?: true;
  /**
   * A WebSocket: an admitted upgrade continues in its own protocol, and any other request gets UPGRADE_REQUIRED. `request`: credentials come
   * with the request. `frames`: a request without credentials is admitted, and the protocol authorises by its own frames.
   */
  readonly socket?: 'request' | 'frames';
}

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Bare}*` ? Bare : Name) | ParamNames<Rest>
  : never;

/** Checks at compile time that the path has each parameter that the endpoint names. */
interface OwnParams<E extends Endpoint> {
  readonly actor?: ParamNames<E['path']>;
  readonly access: E['access'] extends { readonly param: string } ? { readonly param: ParamNames<E['path']> } : unknown;
}

/** Declares an endpoint and keeps its exact type. */
export function endpoint<const E extends Endpoint>(spec: E & OwnParams<E>): E {
  return spec;
}

/** Whether an Idempotency-Key has an effect. On reads it is accepted and does nothing. */
export function takesIdempotencyKey({ method, reads, once }: Endpoint): boolean {
  return method === 'POST' && reads !== true && once !== true;
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
