/** Who calls, and whether they may: the first two questions of every request. */
import { ANONYMOUS, type ArtifactHead, decide, letIn, type Pass, type Principal, type Role, roleOf } from '../../actors/access.ts';
import type { Access, Scope } from '../../protocol/endpoint.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import { chain } from './chain.ts';
import type { ContentDoor } from './content-door.ts';
import type { Hosts } from './hosts.ts';

/** Names the principal of a bearer token. Throws UNAUTHORIZED with its reason. */
export interface Authenticator {
  authenticate(bearer: string): Principal | Promise<Principal>;
}

export interface Heads {
  /** Live artifacts only. */
  get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null>;
  trashed(id: ArtifactId): Promise<ArtifactHead | null>;
}

export interface Admitted {
  readonly head: ArtifactHead | undefined;
  readonly role: Role;
}

export interface AdmissionDeps {
  readonly tokens: Authenticator;
  readonly heads: Heads;
  readonly content: Pick<ContentDoor, 'pass'>;
  readonly hosts: Hosts;
}

interface HeaderSource {
  /** By its lowercase name; empty when it did not come. */
  get(name: string): string;
}

/** A request to open a WebSocket, copied: browsers cannot set its headers, so that a token may also come as `?token=`. */
export interface UpgradeRequest {
  readonly headers: HeaderSource;
  /** As sent, without the question mark. Never to be logged. */
  readonly query: string;
}

type ArtifactAccess = Extract<Access, { who: 'artifact' }>;

const NO_ARTIFACT: Admitted = { head: undefined, role: 'none' };
const BEARER = /^bearer +(\S+)$/i;

export class Admission {
  readonly #tokens: Authenticator;
  readonly #heads: Heads;
  readonly #content: Pick<ContentDoor, 'pass'>;
  readonly #hosts: Hosts;

  constructor({ tokens, heads, content, hosts }: AdmissionDeps) {
    this.#tokens = tokens;
    this.#heads = heads;
    this.#content = content;
    this.#hosts = hosts;
  }

  /** A bad credential is refused even where none is needed: its holder believes to be somebody. */
  principal(access: Access, authorization: string, pass: Pass | null): Principal | Promise<Principal> {
    if (access.who === 'anyone') return ANONYMOUS;
    if (authorization === '') {
      if (access.who === 'account') throw new Failure('UNAUTHORIZED', { reason: 'missing' });
      return pass === null ? ANONYMOUS : letIn(ANONYMOUS, pass);
    }
    const bearer = authorization.startsWith('Bearer so') ? authorization.slice(7) : BEARER.exec(authorization)?.[1];
    if (bearer === undefined) throw new Failure('UNAUTHORIZED', { reason: 'invalid' });
    return chain(this.#tokens.authenticate(bearer), (principal) => {
      if (access.who === 'account') refuseWithoutAccount(principal, access.scope);
      return pass === null ? principal : letIn(principal, pass);
    });
  }

  /**
   * What the cookies of a request to the page's own host open of it. `unsafe`: it could change something, or read what CORS does not guard.
   * Then it must come from the page itself: a neighbour under the same domain can have a browser send these cookies too.
   */
  pass(headers: HeaderSource, head: ArtifactHead, credential: string, unsafe: boolean): Pass | null | Promise<Pass | null> {
    const cookies = headers.get('cookie');
    if (cookies === '' || head.visibility === 'public') return null;
    return chain(this.#content.pass(head.slug, head.id, cookies), (pass) => {
      if (pass === null || !unsafe || this.#isFromPage(headers, head.slug)) return pass;
      if (credential !== '') return null;
      throw new Failure('FORBIDDEN', { message: 'The cookie of a page counts here only in requests of the page itself.' });
    });
  }

  /** Who opens a WebSocket to this artifact: by header, `?token=`, or a pass. Throws UNAUTHORIZED, FORBIDDEN, ARTIFACT_NOT_FOUND. */
  upgradingPrincipal({ headers, query }: UpgradeRequest, id: ArtifactId, access: ArtifactAccess): Principal | Promise<Principal> {
    const token = new URLSearchParams(query).get('token') ?? '';
    const credential = headers.get('authorization') || (token === '' ? '' : `Bearer ${token}`);
    const host = this.#hosts.classify(headers.get('host'));
    if (host.kind !== 'content') return this.principal(access, credential, null);
    return chain<ArtifactHead | null, Principal>(this.#heads.get(id), (head) => {
      // Another artifact does not exist on a page's host.
      if (head?.slug !== host.slug) throw new Failure('ARTIFACT_NOT_FOUND');
      return chain(this.pass(headers, head, credential, true), (pass) => this.principal(access, credential, pass));
    });
  }

  #isFromPage(headers: HeaderSource, slug: string): boolean {
    const origin = headers.get('origin');
    return origin === '' ? headers.get('sec-fetch-site') === 'same-origin' : this.#hosts.slugOfOrigin(origin) === slug;
  }

  /** `params` is undefined where the path cannot name an artifact. */
  admit(access: Access, principal: Principal, params: Readonly<Record<string, unknown>> | undefined): Admitted | Promise<Admitted> {
    if (access.who !== 'artifact') return NO_ARTIFACT;
    if (params === undefined) return admitted(null, principal, access);
    const id = params[access.param] as ArtifactId;
    if (access.trashed) return this.#admitTrashed(id, principal, access);
    return chain<ArtifactHead | null, Admitted>(this.#heads.get(id), (head) => admitted(head, principal, access));
  }

  /** The trash shows itself to owners only; whoever may own a live artifact learns that it is not in the trash. */
  async #admitTrashed(id: ArtifactId, principal: Principal, access: ArtifactAccess): Promise<Admitted> {
    const trashed = await this.#heads.trashed(id);
    if (trashed === null) {
      admitted(await this.#heads.get(id), principal, access);
      throw new Failure('NOT_DELETED');
    }
    return admitted(roleOf(trashed, principal) === 'owner' ? trashed : null, principal, access);
  }
}

function refuseWithoutAccount(principal: Principal, scope: Scope | undefined): void {
  if (principal.kind === 'guest') throw new Failure('FORBIDDEN', { message: 'This needs an account.', hint: 'Use a personal token.' });
  if (principal.kind !== 'agent' || (scope !== undefined && principal.scopes.includes(scope))) return;
  if (scope === undefined) throw new Failure('FORBIDDEN', { message: 'Workspace agents may not do this.' });
  throw new Failure('INSUFFICIENT_SCOPE', { message: `The token lacks the scope ${scope}.` });
}

function admitted(head: ArtifactHead | null, principal: Principal, access: ArtifactAccess): Admitted {
  const decision = decide(head, principal, access.need, access.scope);
  switch (decision) {
    case 'allowed':
      return head === null ? NO_ARTIFACT : { head, role: roleOf(head, principal) };
    case 'unauthenticated':
      throw new Failure('UNAUTHORIZED', { reason: 'missing' });
    case 'hidden':
      throw new Failure('ARTIFACT_NOT_FOUND');
    case 'forbidden':
      throw new Failure('FORBIDDEN');
    case 'insufficient_scope':
      throw new Failure('INSUFFICIENT_SCOPE', { message: `The token lacks the scope ${access.scope}.` });
    default:
      return decision satisfies never;
  }
}
