/** Password pages: checks the password that a visitor enters, and limits the attempts so that guessing is hopeless. */
import { createHash } from 'node:crypto';
import { verify } from '@node-rs/argon2';
import type { Clock } from '../../actors/runtime/ports.ts';
import { PAGE_PASSWORD_TRIES } from '../../protocol/core/rate-limits.ts';
import { networkOf } from '../edge/address.ts';
import { chain } from '../edge/chain.ts';
import type { SharedLimiter } from '../storage/shared-limiter.ts';
import type { Grants } from './grants.ts';
import { NO_PAGE, passwordForm } from './pages.ts';
import type { Site } from './sites.ts';
import type { ContentReply, ContentRequest } from './types.ts';

/** One check takes some 20 MB and 30 ms of a thread; more concurrent visitors are asked to retry. */
const CHECKS_MAX = 8;
const GRANT_MS = 24 * 60 * 60 * 1000;

type UnlockLimiter = Pick<SharedLimiter, 'spend' | 'forget'>;

export class Unlock {
  readonly #grants: Grants;
  readonly #clock: Clock;
  readonly #limiter: UnlockLimiter;
  #checks = 0;

  constructor(deps: { readonly grants: Grants; readonly clock: Clock; readonly limiter: UnlockLimiter }) {
    this.#grants = deps.grants;
    this.#clock = deps.clock;
    this.#limiter = deps.limiter;
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
    const retryAfterS = await this.#spend(key);
    if (retryAfterS > 0) return passwordForm(target, { retryAfterS });
    if (!(await this.#matches(site.passwordHash, form.get('password') ?? ''))) return passwordForm(target, 'wrong');
    await this.#limiter.forget(PAGE_PASSWORD_TRIES, key);
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
  async #spend(key: string): Promise<number> {
    if (this.#checks >= CHECKS_MAX) return 1;
    return (await this.#limiter.spend(PAGE_PASSWORD_TRIES, key)).retryAfterS;
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
