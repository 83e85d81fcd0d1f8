/** Who calls, and whether they may: the first two questions of every request. */
import {
  ANONYMOUS,
  type ArtifactHead,
  decide,
  isInstanceStaff,
  letIn,
  type Pass,
  type Principal,
  type Role,
  roleOf,
} from '../../actors/access/access.ts';
import type { Access, FolderNeed, Scope, WorkspaceRole } from '../../protocol/core/endpoint.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { chain } from './chain.ts';
import type { ContentDoor } from './content-door.ts';
import type { Hosts } from './hosts.ts';
import type { OwnPages } from './own-pages.ts';
import { callerOf, mayReadAsViewer, NO_CALLER, type PageCaller } from './page-caller.ts';
import { lacksScope, refusalOf } from './refusals.ts';
import { sessionSecretIn } from './session-cookies.ts';
import type { FolderSeat, SubjectResolver, Subjects, WorkspaceSeat } from './subjects.ts';

/** Names the principal of a bearer token. Throws UNAUTHORIZED with its reason. */
export interface Authenticator {
  authenticate(bearer: string): Principal | Promise<Principal>;
  /** The same for the secret of a session, which a cookie holds. */
  authenticateSession(secret: string): Principal | Promise<Principal>;
}

export interface Heads {
  /** Live artifacts only. */
  get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null>;
  trashed(id: ArtifactId): Promise<ArtifactHead | null>;
}

export interface Admitted {
  readonly head: ArtifactHead | undefined;
  readonly role: Role;
  /** Defined for rules by workspace or folder. */
  readonly seat: WorkspaceSeat | FolderSeat | undefined;
}

export interface AdmissionDeps {
  readonly tokens: Authenticator;
  readonly heads: Heads;
  readonly ownPages: OwnPages;
  readonly content: Pick<ContentDoor, 'caller'>;
  readonly hosts: Hosts;
  readonly subjects: Subjects;
  /** Hears of everybody who is let in to an artifact. Returns at once. */
  readonly receipts?: { note(head: ArtifactHead, principal: Principal): void };
}

interface HeaderSource {
  /** `name` is lowercase. Empty when the header is absent. */
  get(name: string): string;
}

/** What a request says about its caller. */
export interface CallerSource {
  readonly method: string;
  readonly headers: HeaderSource & { readonly authorization: string };
  /** The cookies of the API's host; empty on a page's own host. */
  readonly cookies: string;
  /** Who its cookies say calls, on a page's own host. */
  readonly pageCaller: PageCaller;
}

/** A copy of a request to open a WebSocket. Browsers cannot set its headers, so it may carry the token as `?token=`. */
export interface UpgradeRequest {
  readonly headers: HeaderSource;
  readonly cookies: string;
  /** As sent, without the question mark. Never logged, because it may hold a token. */
  readonly query: string;
}

type ArtifactAccess = Extract<Access, { who: 'artifact' }>;
/** Rules that need an account or an agent's token. */
type AccountAccess = Exclude<Access, { who: 'anyone' | 'visitor' | 'everybody' | 'artifact' }>;
type Values = Readonly<Record<string, unknown>>;

const NO_SUBJECT: Admitted = { head: undefined, role: 'none', seat: undefined };
/** Each role has the rights of those before it. */
const WORKSPACE_ROLES: readonly WorkspaceRole[] = ['member', 'admin', 'owner'];
const FOLDER_ROLES: readonly FolderSeat['role'][] = ['viewer', 'editor', 'owner'];
const FOLDER_NEEDS: readonly FolderNeed[] = ['view', 'edit', 'own'];
const BEARER = /^bearer +(\S+)$/i;

export class Admission {
  readonly #tokens: Authenticator;
  readonly #ownPages: OwnPages;
  readonly #heads: Heads;
  readonly #content: Pick<ContentDoor, 'caller'>;
  readonly #hosts: Hosts;
  readonly #subjects: Subjects;
  readonly #receipts: AdmissionDeps['receipts'];

  constructor({ tokens, ownPages, heads, content, hosts, subjects, receipts }: AdmissionDeps) {
    this.#receipts = receipts;
    this.#tokens = tokens;
    this.#ownPages = ownPages;
    this.#heads = heads;
    this.#content = content;
    this.#hosts = hosts;
    this.#subjects = subjects;
  }

  /** Refuses a bad token even where none is needed, because its holder expects to act as somebody. A token counts before a cookie. */
  principal(access: Access, source: CallerSource): Principal | Promise<Principal> {
    if (access.who === 'anyone') {
      if (access.browser === true && mayChange(source.method) && this.#ownPages.isFromElsewhere(source.headers))
        throw new Failure('ORIGIN_REFUSED');
      return ANONYMOUS;
    }
    const { authorization } = source.headers;
    if (access.who === 'visitor' && mayChange(source.method) && !this.#ownPages.isOwn(source.headers)) throw new Failure('ORIGIN_REFUSED');
    if (authorization !== '') return this.#bearer(access, authorization, source.pageCaller.pass);
    const secret = source.cookies === '' ? undefined : sessionSecretIn(source.cookies, this.#ownPages.isSecure);
    if (secret !== undefined && this.#mayUseCookie(source)) return this.#signedIn(access, secret, mayChange(source.method));
    return withoutCredential(access, source.pageCaller);
  }

  #bearer(access: Exclude<Access, { who: 'anyone' }>, authorization: string, pass: Pass | null): Principal | Promise<Principal> {
    const bearer = authorization.startsWith('Bearer so') ? authorization.slice(7) : BEARER.exec(authorization)?.[1];
    if (bearer === undefined) throw new Failure('UNAUTHORIZED', { reason: 'invalid' });
    return chain(this.#tokens.authenticate(bearer), (principal) => {
      if (access.who !== 'artifact' && isRun(principal))
        throw new Failure('FORBIDDEN', { message: 'A job reaches the data of its artifact only.' });
      if (access.who === 'visitor' && isExternal(principal)) throw new Failure('FORBIDDEN', { message: OPENS_SHARED_ONLY });
      if (access.who === 'everybody') refuseWithoutScope(principal, access.scope);
      else if (access.who !== 'artifact' && access.who !== 'visitor') refuseWithoutAccount(principal, access);
      return pass === null ? principal : letIn(principal, pass);
    });
  }

  /** Throws ORIGIN_REFUSED for a write. A read that a page of another origin makes is one without the cookie. */
  #mayUseCookie({ method, headers }: CallerSource): boolean {
    if (!mayChange(method)) return this.#ownPages.mayRead(headers);
    if (this.#ownPages.isOwn(headers)) return true;
    throw new Failure('ORIGIN_REFUSED');
  }

  /**
   * Browsers send a session's cookie along until it expires, so one that has ended reads as nobody. A call that changes something is refused,
   * because its sender expects to act as somebody.
   */
  #signedIn(access: Exclude<Access, { who: 'anyone' }>, secret: string, changes: boolean): Principal | Promise<Principal> {
    const admit = (principal: Principal) => {
      if (access.who !== 'artifact' && access.who !== 'visitor' && access.who !== 'everybody') refuseWithoutAccount(principal, access);
      return principal;
    };
    const ended = (error: unknown) => {
      if (!(error instanceof Failure) || error.code !== 'UNAUTHORIZED') throw error;
      if (access.who === 'visitor' || ((access.who === 'artifact' || access.who === 'everybody') && !changes)) return ANONYMOUS;
      throw new Failure('UNAUTHORIZED', { ...error.details, hint: 'Sign in again.' });
    };
    try {
      const found = this.#tokens.authenticateSession(secret);
      return found instanceof Promise ? found.then(admit, ended) : admit(found);
    } catch (error) {
      return ended(error);
    }
  }

  /**
   * Who calls, by the cookies of a request to the page's own host. `unsafe`: the request could change something, or read what CORS does not
   * protect. Such a request must come from the page itself, because a page on a sibling host can also make a browser send these cookies.
   */
  pageCaller(headers: HeaderSource, head: ArtifactHead, credential: string, unsafe: boolean): PageCaller | Promise<PageCaller> {
    const cookies = headers.get('cookie');
    if (cookies === '') return NO_CALLER;
    return chain(this.#content.caller(head.slug, head.id, cookies), (caller) => {
      const { viewer, pass } = caller;
      if (viewer === null && pass === null) return NO_CALLER;
      if (unsafe && !this.#isFromPage(headers, head.slug)) {
        if (credential !== '') return NO_CALLER;
        throw new Failure('FORBIDDEN', { message: 'The cookie of a page is accepted here only in requests from that page.' });
      }
      if (viewer === null) return caller;
      // A token counts before the cookie.
      const isViewer = credential === '' && mayReadAsViewer(headers, this.#isFromPage(headers, head.slug));
      if (!isViewer) return { viewer: null, pass };
      // Who sees the page by themselves needs no pass, and what they have open must not end with it.
      return pass !== null && roleOf(head, viewer) !== 'none' ? { viewer, pass: null } : caller;
    });
  }

  /**
   * Who opens a WebSocket to this artifact: by header, `?token=`, a pass, or the cookie of a session, in this order. Throws UNAUTHORIZED,
   * FORBIDDEN, ORIGIN_REFUSED, ARTIFACT_NOT_FOUND.
   */
  upgradingPrincipal(
    request: UpgradeRequest,
    id: ArtifactId,
    access: ArtifactAccess,
    socket?: 'frames' | 'request',
  ): Principal | Promise<Principal> {
    const { headers, query } = request;
    const token = new URLSearchParams(query).get('token') ?? '';
    const credential = headers.get('authorization') || (token === '' ? '' : `Bearer ${token}`);
    const host = this.#hosts.classify(headers.get('host'));
    if (host.kind === 'content') {
      return chain<ArtifactHead | null, Principal>(this.#heads.get(id), (head) => {
        // A page's host serves only its own artifact.
        if (head?.slug !== host.slug) throw new Failure('ARTIFACT_NOT_FOUND');
        return chain(this.pageCaller(headers, head, credential, true), (caller) =>
          credential === '' ? withoutCredential(access, caller) : this.#bearer(access, credential, caller.pass),
        );
      });
    }
    if (credential !== '') return this.#bearer(access, credential, null);
    const secret = request.cookies === '' ? undefined : sessionSecretIn(request.cookies, this.#ownPages.isSecure);
    if (secret === undefined) return ANONYMOUS;
    if (this.#ownPages.isOwn(headers)) return this.#signedIn(access, secret, true);
    // A browser adds the cookie to what a page of another origin opens, which may be meant as nobody or prove access by its frames.
    if (socket === 'frames') return ANONYMOUS;
    return chain<ArtifactHead | null, Principal>(this.#heads.get(id), (head) => {
      if (decide(head, ANONYMOUS, access.need, access.scope ?? null) === 'allowed') return ANONYMOUS;
      throw new Failure('ORIGIN_REFUSED');
    });
  }

  #isFromPage(headers: HeaderSource, slug: string): boolean {
    const origin = headers.get('origin');
    return origin === '' ? headers.get('sec-fetch-site') === 'same-origin' : this.#hosts.slugOfOrigin(origin) === slug;
  }

  /** `params` is undefined where the path cannot name a subject of the rule's kind. */
  admit(access: Access, principal: Principal, params: Values | undefined): Admitted | Promise<Admitted> {
    switch (access.who) {
      case 'artifact':
        return this.#admitArtifact(access, principal, params);
      case 'anyone':
      case 'visitor':
      case 'account':
      case 'everybody':
      case 'instanceAdmin':
      case 'instanceStaff':
        return NO_SUBJECT;
      case 'workspace':
        return chain(findSeat(this.#subjects.workspace, access.param, principal, params), (seat) => {
          if (seat === null) throw new Failure('WORKSPACE_NOT_FOUND');
          return seated(seat, WORKSPACE_ROLES.indexOf(seat.role) >= WORKSPACE_ROLES.indexOf(access.role));
        });
      case 'folder':
        return chain(findSeat(this.#subjects.folder, access.param, principal, params), (seat) => {
          if (seat === null) throw new Failure('FOLDER_NOT_FOUND');
          return seated(seat, FOLDER_ROLES.indexOf(seat.role) >= FOLDER_NEEDS.indexOf(access.need));
        });
      default:
        return access satisfies never;
    }
  }

  #admitArtifact(access: ArtifactAccess, principal: Principal, params: Values | undefined): Admitted | Promise<Admitted> {
    if (params === undefined) return admitted(null, principal, access);
    const id = params[access.param] as ArtifactId;
    if (access.trashed) return this.#admitTrashed(id, principal, access);
    return chain<ArtifactHead | null, Admitted>(this.#heads.get(id), (head) => {
      const found = admitted(head, principal, access);
      if (head !== null) this.#receipts?.note(head, principal);
      return found;
    });
  }

  /** Only owners see the trash. An owner of a live artifact is told that it is not in the trash. */
  async #admitTrashed(id: ArtifactId, principal: Principal, access: ArtifactAccess): Promise<Admitted> {
    const trashed = await this.#heads.trashed(id);
    if (trashed === null) {
      admitted(await this.#heads.get(id), principal, access);
      throw new Failure('NOT_DELETED');
    }
    return admitted(roleOf(trashed, principal) === 'owner' ? trashed : null, principal, access);
  }
}

/** Who is signed in on a page counts for its artifact only, so for no rule that names another subject. */
function withoutCredential(access: Exclude<Access, { who: 'anyone' }>, caller: PageCaller): Principal {
  if (access.who === 'artifact') return callerOf(caller);
  if (access.who !== 'visitor' && access.who !== 'everybody') throw new Failure('UNAUTHORIZED', { reason: 'missing' });
  return ANONYMOUS;
}

export function mayChange(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

function findSeat<Seat>(
  resolver: SubjectResolver<Seat> | undefined,
  param: string,
  principal: Principal,
  params: Values | undefined,
): Seat | null | Promise<Seat | null> {
  if (resolver === undefined) throw new Error(`no resolver is registered for the subject that the parameter ${param} names`);
  return params === undefined ? null : resolver.find(params[param] as string, principal);
}

function seated(seat: WorkspaceSeat | FolderSeat, isEnough: boolean): Admitted {
  if (!isEnough) throw new Failure('FORBIDDEN');
  return { head: undefined, role: 'none', seat };
}

function refuseWithoutAccount(principal: Principal, access: AccountAccess): void {
  if (access.who === 'instanceAdmin') {
    if (principal.kind === 'user' && principal.isAdmin && principal.onPage === undefined && !isExternal(principal)) return;
    throw new Failure('ADMIN_REQUIRED');
  }
  if (access.who === 'instanceStaff') {
    if (isInstanceStaff(principal)) return;
    throw new Failure('STAFF_REQUIRED');
  }
  if (access.who === 'account' && access.person === true && isExternal(principal))
    throw new Failure('FORBIDDEN', { message: OPENS_SHARED_ONLY });
  if (principal.kind !== 'agent' || access.person === true) refuseWithoutPerson(principal);
  else if (!principal.scopes.includes(access.scope)) throw lacksScope(access.scope);
}

const OPENS_SHARED_ONLY = 'This token opens only what a workspace shares with its holder.';

function isExternal(principal: Principal): boolean {
  return principal.kind === 'user' && principal.tokenKind === 'external';
}

function isRun(principal: Principal): boolean {
  return principal.kind === 'user' && principal.run !== undefined;
}

function refuseWithoutScope(principal: Principal, scope: Scope): void {
  if (principal.kind === 'agent' && !principal.scopes.includes(scope)) throw lacksScope(scope);
}

/** Throws UNAUTHORIZED for anonymous callers and FORBIDDEN for guests and agents, which have no account of their own. */
function refuseWithoutPerson({ kind }: Principal): void {
  if (kind === 'user') return;
  if (kind === 'anonymous') throw new Failure('UNAUTHORIZED', { reason: 'missing' });
  if (kind === 'guest') throw new Failure('FORBIDDEN', { message: 'This needs an account.', hint: 'Use a personal token.' });
  throw new Failure('FORBIDDEN', { message: 'Workspace agents may not do this.', hint: 'Use a personal token.' });
}

function admitted(head: ArtifactHead | null, principal: Principal, access: ArtifactAccess): Admitted {
  const scope = access.scope ?? null;
  const decision = decide(head, principal, access.need, scope);
  if (decision !== 'allowed') throw refusalOf(decision, scope);
  if (access.person === true) refuseWithoutPerson(principal);
  return head === null ? NO_SUBJECT : { head, role: roleOf(head, principal), seat: undefined };
}
