/** The way onto a page's own origin: its reserved addresses there, and where it may lead. The app's page and the content server both use it. */
import { createHash } from 'node:crypto';
import type { UserPrincipal } from '../../actors/access/access.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { ownPath } from './return-to.ts';

/** On a page's origin: marks the browser by a cookie, and sends it to the app to prove who it is. */
export const BEGIN_PATH = '/_easel/view';
/** On a page's origin: takes the ticket that the app gives to a browser so marked. */
export const ENTER_PATH = '/_easel/enter';
/** On the API's host. */
export const OPEN_PATH = '/open';

/** 32 random bytes, or a SHA-256, in base64url. */
export const SECRET_FORM = /^[A-Za-z0-9_-]{43}$/;

/** What the app is told of the mark, and what the ticket is bound to. The mark itself leaves the page's origin never. */
export function challengeOf(mark: string): string {
  return createHash('sha256').update(mark).digest('base64url');
}

/** A path of the page itself; its start for anything else, and for what is not the page's but the service's. */
export function pagePath(wanted: string | undefined): string {
  const path = ownPath(wanted, '/');
  return /^\/(?:_easel|v1)(?:[/?#]|$)/i.test(path) ? '/' : path;
}

/** How tickets are redeemed, and who has a page's cookie. */
export interface PageSignIns {
  /** The secret for the cookie; null where the ticket is not for this page and this browser, has been used, or came too late. */
  redeem(ticket: string, challenge: string, artifactId: ArtifactId): Promise<string | null>;
  /** Null where the secret is not one of this artifact, or its session has ended. Synchronous once it is known. */
  find(secret: string, artifactId: ArtifactId): UserPrincipal | null | Promise<UserPrincipal | null>;
}
