/** What a handler is given and what it returns. A handler never touches the raw request and never chooses a status. */
import type { ArtifactHead, Principal, Role } from '../../actors/access.ts';
import type { BodyOf, Endpoint, ParamsOf, QueryOf, ReplyBody, ReplyKey } from '../../protocol/endpoint.ts';
import type { EndpointId, Endpoints } from '../../protocol/table.ts';
import type { ReplyStream } from './reply-stream.ts';

export interface Call<E extends Endpoint = Endpoint> {
  readonly requestId: string;
  readonly principal: Principal;
  readonly params: ParamsOf<E>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  /** The JSON body as it was sent, for endpoints that store it. */
  readonly bodyText: string | undefined;
  /** Of the body, as sent; empty when absent. */
  readonly contentType: string;
  /** Media type of the body without parameters. */
  readonly mediaType: string | undefined;
  /** ETags as sent, quotes included; undefined when absent. */
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** The Accept header, empty when absent. */
  readonly accept: string;
  /** Of a reader of events that comes back; undefined when absent. */
  readonly lastEventId: string | undefined;
  /** As sent; undefined when absent. */
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  /** The Host header: the API's, or that of the artifact's own page. */
  readonly host: string;
  /** Sent by a page: what it may reach is bound by its browser. */
  readonly isFromPage: boolean;
  /** The artifact of an `artifact` access rule, already decided; undefined for other rules. */
  readonly head: ArtifactHead | undefined;
  /** The caller's role on `head`; `none` on a public artifact of somebody else. */
  readonly role: Role;
  /** The peer's address, for limits by address. */
  readonly address: string;
  /** Unix ms at which the call was taken. */
  readonly nowMs: number;
}

export interface Reply<E extends Endpoint = Endpoint, K extends ReplyKey<E> = ReplyKey<E>> {
  readonly reply: K;
  /** An object for a `body` reply; bytes or text for a `media` reply. */
  readonly body: ReplyBody<E, K>;
  /** Already serialised JSON of `body`, where the handler has it at hand; then `body` is not read. */
  readonly json?: string;
  /** Of a `media` reply that is made while it is sent; then `body` is '' and not read, and without an `etag` of its own it has none. */
  readonly stream?: ReplyStream;
  /** Quotes included. On a conditional GET the edge compares it with If-None-Match; where it is absent the edge hashes the body. */
  readonly etag?: string;
  /** Media type of a `media` reply. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type AnyReply<E extends Endpoint> = { [K in ReplyKey<E>]: Reply<E, K> }[ReplyKey<E>];

/** Synchronous where it can be: an answer from a resident actor costs no promise. Throws `Failure` for expected failures. */
type Handler<E extends Endpoint> = (call: Call<E>) => AnyReply<E> | Promise<AnyReply<E>>;

export type Handlers<Ids extends EndpointId = EndpointId> = { readonly [I in Ids]: Handler<Endpoints[I]> };
