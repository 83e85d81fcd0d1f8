/**
 * Sessions on the origins of pages: a ticket that works once becomes a cookie that counts for one artifact. It holds no rights of its own: who
 * has it is what the session stands for at that moment, so it ends with the session.
 */
import { randomBytes } from 'node:crypto';
import type { Principal, UserPrincipal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type ArtifactId, newId, type PageSignInId, type SessionId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type PageSignIns, SECRET_FORM } from '../../../edge/page-entry.ts';
import { BoundedMap } from '../../../platform/cache.ts';
import type { ServiceDeps } from '../../deps.ts';
import { credentialName } from '../../people/tokens/kinds.ts';
import { tokenSha256 } from '../../people/tokens/secret.ts';
import type { TokenService } from '../../people/tokens/tokens.ts';
import { deleteBeyond, insertPageSignIn, readPageSignIn, redeemTicket } from './rows.ts';

const KNOWN_MAX = 20_000;

/** A sign-in never changes, so none goes stale; its session is asked each time. */
interface Known {
  readonly id: PageSignInId;
  readonly artifactId: ArtifactId;
  readonly sessionId: SessionId;
  /** The session's `credentialName`. */
  readonly session: string;
  readonly endsAtMs: number;
  /** The viewer that was made last, and the principal of the session that it was made from. */
  made: { readonly from: Principal; readonly viewer: UserPrincipal } | undefined;
}

export interface PageSignInDeps extends Pick<ServiceDeps, 'sql' | 'clock'> {
  readonly tokens: Pick<TokenService, 'authenticateNamed'>;
}

export class SessionsOnPages implements PageSignIns {
  readonly #deps: PageSignInDeps;
  /** By the secret of the cookie. */
  readonly #known = new BoundedMap<string, Known>(KNOWN_MAX);

  constructor(deps: PageSignInDeps) {
    this.#deps = deps;
  }

  /** A ticket for one artifact and the browser of this challenge. Throws UNAUTHORIZED where the session has ended meanwhile. */
  async ticket(session: UserPrincipal, artifactId: ArtifactId, challenge: string): Promise<string> {
    const { sql, clock } = this.#deps;
    const sessionId = sessionIdOf(session);
    const ticket = newSecret();
    const nowMs = clock.nowMs();
    await deleteBeyond(sql, sessionId, LIMITS.pageSignInsPerSessionMax);
    const made = await insertPageSignIn(sql, {
      ...{ id: newId('pageSignIn'), sessionId, artifactId, nowMs },
      challenge: Buffer.from(challenge, 'base64url'),
      ticketSha256: tokenSha256(ticket),
      ticketEndsAtMs: nowMs + LIMITS.pageTicketTtlMs,
      endsAtMs: nowMs + LIMITS.pageSignInTtlMs,
    });
    if (!made) throw new Failure('UNAUTHORIZED', { reason: 'revoked', hint: 'Sign in again.' });
    return ticket;
  }

  async redeem(ticket: string, challenge: string, artifactId: ArtifactId): Promise<string | null> {
    const secret = newSecret();
    const counts = await redeemTicket(this.#deps.sql, {
      ticketSha256: tokenSha256(ticket),
      challenge: Buffer.from(challenge, 'base64url'),
      artifactId,
      secretSha256: tokenSha256(secret),
      nowMs: this.#deps.clock.nowMs(),
    });
    return counts ? secret : null;
  }

  find(secret: string, artifactId: ArtifactId): UserPrincipal | null | Promise<UserPrincipal | null> {
    const known = this.#known.get(secret);
    if (known !== undefined) return this.#viewer(secret, known, artifactId);
    return SECRET_FORM.test(secret) ? this.#meet(secret, artifactId) : null;
  }

  async #meet(secret: string, artifactId: ArtifactId): Promise<UserPrincipal | null> {
    const row = await readPageSignIn(this.#deps.sql, tokenSha256(secret));
    if (row === null) return null;
    const known: Known = {
      ...{ id: row.id, artifactId: row.artifact_id, sessionId: row.session_id },
      session: credentialName('session', row.session_sha256),
      endsAtMs: row.ends_at_ms,
      made: undefined,
    };
    this.#known.set(secret, known);
    return this.#viewer(secret, known, artifactId);
  }

  #viewer(secret: string, known: Known, artifactId: ArtifactId): UserPrincipal | null | Promise<UserPrincipal | null> {
    if (known.artifactId !== artifactId || known.endsAtMs <= this.#deps.clock.nowMs()) return null;
    try {
      const session = this.#deps.tokens.authenticateNamed(known.session);
      if (!(session instanceof Promise)) return viewerOf(known, session);
      return session.then(
        (principal) => viewerOf(known, principal),
        (error) => this.#ended(secret, error),
      );
    } catch (error) {
      return this.#ended(secret, error);
    }
  }

  #ended(secret: string, error: unknown): null {
    if (!(error instanceof Failure) || error.code !== 'UNAUTHORIZED') throw error;
    this.#known.delete(secret);
    return null;
  }
}

function viewerOf(known: Known, session: Principal): UserPrincipal | null {
  if (session.kind !== 'user') return null;
  if (known.made?.from === session) return known.made.viewer;
  const { id: tokenId, artifactId, sessionId, endsAtMs } = known;
  const expiresAtMs = Math.min(endsAtMs, session.expiresAtMs ?? endsAtMs);
  // A name of its own, because a page may not use up the shares of the session that its viewer works with elsewhere.
  const viewer: UserPrincipal = { ...session, tokenId, expiresAtMs, onPage: { artifactId, sessionId } };
  known.made = { from: session, viewer };
  return viewer;
}

/** Only a session becomes a sign-in on a page: a program with a token must not sign a browser in, and a page's cookie opens no other page. */
function sessionIdOf(principal: UserPrincipal): SessionId {
  if (!isOwnSession(principal)) throw new Failure('FORBIDDEN', { message: 'This needs a signed-in browser.' });
  return principal.tokenId as SessionId;
}

export function isOwnSession({ tokenKind, onPage }: UserPrincipal): boolean {
  return tokenKind === 'session' && onPage === undefined;
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}
