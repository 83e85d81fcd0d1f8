/** Password pages: checks the password that a visitor enters, and limits the attempts so that guessing is hopeless. */
import { createHash } from 'node:crypto';
import { verify } from '@node-rs/argon2';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../actors/runtime/ports.ts';
import { networkOf } from '../edge/address.ts';
import { chain } from '../edge/chain.ts';
import type { Grants } from './grants.ts';
import { NO_PAGE, passwordForm } from './pages.ts';
import type { Site } from './sites.ts';
import type { ContentReply, ContentRequest } from './types.ts';

/** Attempts on an artifact's password that one address has in a window; then 429. */
const ATTEMPTS_MAX = 10;
const WINDOW_MS = 15 * 60 * 1000;
/** Addresses kept at once; an evicted one starts with a full quota. */
const ADDRESSES_MAX = 50_000;
/** One check takes some 20 MB and 30 ms of a thread; more concurrent visitors are asked to retry. */
const CHECKS_MAX = 8;
const GRANT_MS = 24 * 60 * 60 * 1000;

interface Attempts {
  count: number;
  readonly sinceMs: number;
}

export class Unlock {
  readonly #grants: Grants;
  readonly #clock: Clock;
  readonly #attempts = new LRUCache<string, Attempts>({ max: ADDRESSES_MAX });
  #checks = 0;

  constructor(deps: { readonly grants: Grants; readonly clock: Clock }) {
    this.#grants = deps.grants;
    this.#clock = deps.clock;
  }

  /** Until when (Unix ms) the request's grant for the site's current password is valid; null where it has none. */
  until(site: Site, cookies: string, secure: boolean): number | null | Promise<number | null> {
    return chain(this.#grants.read('unlock', cookies, secure), (grant) =>
      grant !== null && grant.subject === subjectOf(site) ? grant.expiresAtMs : null,
    );
  }

  /** Answers the form: redirects to where the visitor came from, or shows the form again. */
  async submit(site: Site, request: ContentRequest, secure: boolean): Promise<ContentReply> {
    if (site.visibility !== 'password' || site.passwordHash === null) return NO_PAGE;
    const form = new URLSearchParams(Buffer.from((await request.body?.()) ?? new Uint8Array()).toString('utf8'));
    const target = localTarget(form.get('to') ?? '/');
    const key = `${site.artifactId} ${networkOf(request.address)}`;
    const retryAfterS = this.#spend(key);
    if (retryAfterS > 0) return passwordForm(target, { retryAfterS });
    if (!(await this.#matches(site.passwordHash, form.get('password') ?? ''))) return passwordForm(target, 'wrong');
    this.#attempts.delete(key);
    const cookie = await this.#grants.issue('unlock', subjectOf(site), this.#clock.nowMs() + GRANT_MS, secure);
    return {
      status: 303,
      headers: [
        ['Location', target],
        ['Set-Cookie', cookie],
        ['Cache-Control', 'private, no-store'],
      ],
      body: null,
    };
  }

  /** Counts an attempt before it is checked, so that concurrent ones cannot exceed the limit. Returns the seconds to wait, 0 for none. */
  #spend(key: string): number {
    if (this.#checks >= CHECKS_MAX) return 1;
    const nowMs = this.#clock.nowMs();
    const known = this.#attempts.get(key);
    if (known === undefined || nowMs - known.sinceMs >= WINDOW_MS) {
      this.#attempts.set(key, { count: 1, sinceMs: nowMs });
      return 0;
    }
    if (known.count >= ATTEMPTS_MAX) return Math.ceil((known.sinceMs + WINDOW_MS - nowMs) / 1000);
    known.count += 1;
    return 0;
  }

  async #matches(hash: string, password: string): Promise<boolean> {
    this.#checks += 1;
    try {
      return await verify(hash, password);
    } finally {
      this.#checks -= 1;
    }
  }
}

/** The subject of grants includes the password's fingerprint, so a changed password ends earlier grants. */
function subjectOf(site: Site): string {
  const fingerprint = createHash('sha256')
    .update(site.passwordHash ?? '')
    .digest('base64url');
  return `${site.artifactId} ${fingerprint}`;
}

/** Accepts only a path of this origin; browsers read `//elsewhere` and `/\elsewhere` as other hosts. */
function localTarget(target: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(target) ? target : '/';
}
