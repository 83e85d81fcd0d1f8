/** The call that handlers get, made from the head of a request and then given its body. */
import type { ArtifactHead, Principal, Role } from '../../actors/access/access.ts';
import type { Failure } from '../../protocol/core/errors.ts';
import type { UserId } from '../../protocol/core/ids.ts';
import type { Admitted } from './admission.ts';
import type { Call } from './call.ts';
import type { FolderSeat, WorkspaceSeat } from './subjects.ts';

/** The source of a call: an exchange, or one request of a batch. */
export interface CallSource {
  readonly requestId: string;
  readonly address: string;
  readonly nowMs: number;
  readonly headers: { get(name: string): string; optional(name: string): string | undefined };
  /** Why its access has ended. */
  readonly refusal: Failure | undefined;
  /** Aborted when the client leaves or `refusal` is set: work for the answer alone can stop. */
  readonly ended: AbortSignal;
  /** Its cookies where they are the API's; empty on a page's own host. */
  readonly cookies: string;
}

export interface TakenBody {
  readonly value: unknown;
  readonly text: string | undefined;
  readonly bytes: Uint8Array;
}

type Values = Readonly<Record<string, unknown>>;

const NO_VALUES: Values = Object.freeze({});
/** Headers that proxies add. */
const FORWARDING = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'forwarded', 'x-real-ip', 'via'];
const NO_BYTES = new Uint8Array(0);

/** It is a class, so that values which few handlers need are computed on access. */
export class ApiCall {
  readonly principal: Principal;
  readonly params: Values;
  readonly query: Values;
  body: unknown;
  bodyText: string | undefined;
  readonly head: ArtifactHead | undefined;
  readonly role: Role;
  readonly #seat: WorkspaceSeat | FolderSeat | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly #source: CallSource;

  constructor(source: CallSource, principal: Principal, params: Values | undefined, query: Values, admitted: Admitted, body: TakenBody) {
    this.principal = principal;
    this.params = params ?? NO_VALUES;
    this.query = query;
    this.body = body.value;
    this.bodyText = body.text;
    this.head = admitted.head;
    this.role = admitted.role;
    this.#seat = admitted.seat;
    this.ifNoneMatch = source.headers.optional('if-none-match');
    this.#source = source;
  }

  /** The same request and caller as a call of another endpoint, which a page makes for its visitor. */
  as(given: { readonly params: Values; readonly query: Values; readonly body: unknown }): ApiCall {
    const none = { head: undefined, role: 'none', seat: undefined } as const;
    return new ApiCall(this.#source, this.principal, given.params, given.query, none, {
      value: given.body,
      text: undefined,
      bytes: NO_BYTES,
    });
  }

  /** Sets its body, which is received after the call was admitted. */
  take(body: TakenBody): void {
    this.body = body.value;
    this.bodyText = body.text;
  }

  get requestId(): string {
    return this.#source.requestId;
  }

  get refusal(): Failure | undefined {
    return this.#source.refusal;
  }

  get ended(): AbortSignal {
    return this.#source.ended;
  }

  /** Set for every access rule that needs a person, as the types of the call promise. */
  get user(): UserId | null {
    return this.principal.kind === 'user' ? this.principal.userId : null;
  }

  get workspace(): WorkspaceSeat | FolderSeat | undefined {
    return this.#seat;
  }

  get folder(): WorkspaceSeat | FolderSeat | undefined {
    return this.#seat;
  }

  get ifMatch(): string | undefined {
    return this.#source.headers.optional('if-match');
  }

  get accept(): string {
    return this.#source.headers.get('accept');
  }

  get acceptEncoding(): string {
    return this.#source.headers.get('accept-encoding');
  }

  get lastEventId(): string | undefined {
    return this.#source.headers.optional('last-event-id');
  }

  get paymentSignature(): string {
    return this.#source.headers.get('stripe-signature');
  }

  get range(): string | undefined {
    return this.#source.headers.optional('range');
  }

  get ifRange(): string | undefined {
    return this.#source.headers.optional('if-range');
  }

  get host(): string {
    return this.#source.headers.get('host');
  }

  get isFromPage(): boolean {
    const { headers } = this.#source;
    // Sec-Fetch-Mode would not do, because Node's fetch sends it as well.
    return headers.get('origin') !== '' || headers.get('sec-fetch-site') !== '';
  }

  get acceptLanguage(): string {
    return this.#source.headers.get('accept-language');
  }

  get isForwarded(): boolean {
    return FORWARDING.some((name) => this.#source.headers.get(name) !== '');
  }

  get signature(): string {
    return this.#source.headers.get('easel-signature');
  }

  get userAgent(): string {
    return this.#source.headers.get('user-agent');
  }

  get cookies(): string {
    return this.#source.cookies;
  }

  get fetchSite(): string {
    return this.#source.headers.get('sec-fetch-site');
  }

  get contentType(): string {
    return this.#source.headers.get('content-type');
  }

  get mediaType(): string | undefined {
    return this.#source.headers.get('content-type').split(';')[0]?.trim().toLowerCase() || undefined;
  }

  get address(): string {
    return this.#source.address;
  }

  get nowMs(): number {
    return this.#source.nowMs;
  }
}

/** The endpoint's own schemas have read every field, and its handler knows their exact types. */
export function asCall(call: ApiCall): Call {
  return call as unknown as Call;
}
