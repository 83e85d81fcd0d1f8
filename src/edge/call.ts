/** What a handler is given and what it returns. A handler never touches the raw request and never chooses a status. */
import type { ArtifactHead, Principal, Role } from '../../actors/access/access.ts';
import type { Access, BodyOf, Endpoint, ParamsOf, QueryOf, ReplyBody, ReplyKey, Scope } from '../../protocol/core/endpoint.ts';
import type { Failure } from '../../protocol/core/errors.ts';
import type { UserId } from '../../protocol/core/ids.ts';
import type { EndpointId, Endpoints } from '../../protocol/table.ts';
import type { ReplyStream } from './reply-stream.ts';
import type { FolderSeat, WorkspaceSeat } from './subjects.ts';

/** The artifact of an `artifact` rule, and the caller's role on it: `none` on a public artifact of somebody else. */
interface ArtifactFound {
  readonly head: ArtifactHead;
  readonly role: Role;
}

/** Null for an agent, where the rule admits agents. A rule by artifact also admits visitors then, whom `principal` tells apart. */
type UserFound<A extends Access> = A extends { readonly person: true }
  ? { readonly user: UserId }
  : A extends { readonly who: 'artifact' }
    ? unknown
    : { readonly user: A extends { readonly scope: Scope } ? UserId | null : UserId };

/** What an access rule resolves when it admits a call. */
type Found<A extends Access> = A extends { readonly who: 'anyone' | 'visitor' }
  ? unknown
  : A extends { readonly who: 'artifact' }
    ? ArtifactFound & UserFound<A>
    : A extends { readonly who: 'workspace' }
      ? { readonly workspace: WorkspaceSeat } & UserFound<A>
      : A extends { readonly who: 'folder' }
        ? { readonly folder: FolderSeat } & UserFound<A>
        : UserFound<A>;

export type Call<E extends Endpoint = Endpoint> = BaseCall<E> & Found<E['access']>;

/** A call of any endpoint whose access rule names an artifact. */
export type ArtifactCall = BaseCall & ArtifactFound;

export interface BaseCall<E extends Endpoint = Endpoint> {
  readonly requestId: string;
  /** Set when the access of the call has ended while it was open. Hand the call to `runtime.ask` where the turn writes, so that it is refused. */
  readonly refusal: Failure | undefined;
  /** Aborted when the client leaves or `refusal` is set: work for the answer alone can stop. */
  readonly ended: AbortSignal;
  readonly principal: Principal;
  readonly params: ParamsOf<E>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  /** The JSON body as it was sent, for endpoints that store it. */
  readonly bodyText: string | undefined;
  /** The body's Content-Type as sent; empty when absent. */
  readonly contentType: string;
  /** Media type of the body without parameters. */
  readonly mediaType: string | undefined;
  /** ETags as sent, quotes included; undefined when absent. */
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** The Accept header, empty when absent. */
  readonly accept: string;
  /** The Accept-Encoding header, empty when absent. */
  readonly acceptEncoding: string;
  /** The Last-Event-ID of an event reader that reconnects; undefined when absent. */
  readonly lastEventId: string | undefined;
  /** The Stripe-Signature of an event of the payment provider; empty when absent. */
  readonly paymentSignature: string;
  /** The header as sent; undefined when absent. */
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  /** The Host header: the API's, or that of the artifact's own page. */
  readonly host: string;
  /** The call has an Origin: it comes from a page, whose browser restricts what it may reach. */
  readonly isFromPage: boolean;
  /** The Accept-Language header; empty when absent. */
  readonly acceptLanguage: string;
  /** A proxy has passed it on, whose address is the peer's unless proxies are trusted. */
  readonly isForwarded: boolean;
  /** The User-Agent header; empty when absent. */
  readonly userAgent: string;
  /** The header easel-signature of somebody else's server that signs what it sends; empty when absent. */
  readonly signature: string;
  /** The Cookie header of a request to the API's host; empty on a page's own host, where the cookies are the page's. */
  readonly cookies: string;
  /** The Sec-Fetch-Site header: from where a browser was sent here; empty where it does not say. */
  readonly fetchSite: string;
  /** The peer's address, for limits by address. */
  readonly address: string;
  /** Unix ms at which the call was taken. */
  readonly nowMs: number;
}

export interface Reply<E extends Endpoint = Endpoint, K extends ReplyKey<E> = ReplyKey<E>> {
  readonly reply: K;
  /** An object for a `body` reply; bytes or text for a `media` reply. */
  readonly body: ReplyBody<E, K>;
  /** The serialised JSON of `body`, where the handler already has it; then `body` is not read. Bytes where it is large. */
  readonly json?: string | Uint8Array;
  /** The body of a `media` reply that is produced while it is sent. `body` is '' and not read then, and the edge computes no ETag. */
  readonly stream?: ReplyStream;
  /** A call that could have changed something has not, so that its answer may still be refused for want of room. */
  readonly changedNothing?: boolean;
  /** Quotes included. On a conditional GET the edge compares it with If-None-Match, and without it the edge hashes the body. */
  readonly etag?: string;
  /** Of a reply that may have any; else the status is the declared one. */
  readonly status?: number;
  /** Media type of a `media` reply. */
  readonly type?: string;
  /** A header with several values is sent once for each. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

type AnyReply<E extends Endpoint> = { [K in ReplyKey<E>]: Reply<E, K> }[ReplyKey<E>];

/** Synchronous where it can be: an answer from a resident actor costs no promise. Throws `Failure` for expected failures. */
type Handler<E extends Endpoint> = (call: Call<E>) => AnyReply<E> | Promise<AnyReply<E>>;

export type Handlers<Ids extends EndpointId = EndpointId> = { readonly [I in Ids]: Handler<Endpoints[I]> };
