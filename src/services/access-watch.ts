/** Tells what is open for long (streams, sockets) of everything that may change what its caller may do. */
import { type ArtifactHead, type Principal, standsOnPass } from '../../actors/access.ts';
import type { Clock, Log, Timer } from '../../actors/ports.ts';
import { CLOSE, type CloseCode } from '../../protocol/close-codes.ts';
import type { ArtifactId, TokenId } from '../../protocol/ids.ts';
import type { ArtifactNotices } from './notices.ts';

/** Timers of the platform hold 24 days; a token may live for years. */
const EXPIRY_LOOK_MS = 24 * 3600 * 1000;

/**
 * `gone`: the artifact. `revoked`, `expired`: what the caller showed. `undecided`: the caller must come back to be decided anew (a pass
 * may have ended with the change, or the head could not be read).
 */
export type AccessEnd = 'gone' | 'revoked' | 'expired' | 'undecided';
/** `head`: as it is now; the watcher decides anew with it. */
export type AccessNow = { readonly head: ArtifactHead } | { readonly over: AccessEnd };
export type AccessListener = (now: AccessNow) => void;

export interface AccessWatchDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly notices: ArtifactNotices;
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
  readonly tokens: { onRevoked(listener: (id: TokenId) => void): void };
}

interface Watching {
  readonly principal: Principal;
  readonly listener: AccessListener;
  expiry: Timer | undefined;
}

interface Watched {
  readonly watchings: Set<Watching>;
  /** Of the last notice: what was read because of an earlier one may be older. */
  notice: number;
}

export class AccessWatch {
  readonly #deps: AccessWatchDeps;
  readonly #watched = new Map<ArtifactId, Watched>();

  /** Construct it after `heads`, whose cache must hear of a notice first. */
  constructor(deps: AccessWatchDeps) {
    this.#deps = deps;
    deps.notices.on(({ artifactId, kind }) => void this.#changed(artifactId, kind));
    deps.tokens.onRevoked((tokenId) => this.#revoked(tokenId));
  }

  /** Until the function that it answers is called, or `listener` was told that it is over. Call it in the turn in which the access was decided. */
  watch(artifactId: ArtifactId, principal: Principal, listener: AccessListener): () => void {
    const watching: Watching = { principal, listener, expiry: undefined };
    this.#armExpiry(artifactId, watching);
    const watched = this.#watched.get(artifactId) ?? { watchings: new Set(), notice: 0 };
    this.#watched.set(artifactId, watched);
    watched.watchings.add(watching);
    return () => void this.#remove(artifactId, watching);
  }

  #armExpiry(artifactId: ArtifactId, watching: Watching): void {
    const { principal } = watching;
    if (principal.kind === 'agent' || !principal.expiresAtMs) return;
    const leftMs = principal.expiresAtMs - this.#deps.clock.nowMs();
    watching.expiry = this.#deps.clock.after(Math.max(0, Math.min(leftMs, EXPIRY_LOOK_MS)), () => {
      if (leftMs > EXPIRY_LOOK_MS) this.#armExpiry(artifactId, watching);
      else this.#end(artifactId, watching, 'expired');
    });
  }

  /** False where it was over already. */
  #remove(artifactId: ArtifactId, watching: Watching): boolean {
    watching.expiry?.cancel();
    const watched = this.#watched.get(artifactId);
    if (!watched?.watchings.delete(watching)) return false;
    if (watched.watchings.size === 0) this.#watched.delete(artifactId);
    return true;
  }

  #end(artifactId: ArtifactId, watching: Watching, over: AccessEnd): void {
    if (this.#remove(artifactId, watching)) watching.listener({ over });
  }

  async #changed(id: ArtifactId, kind: 'changed' | 'gone' | 'replaced'): Promise<void> {
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    watched.notice += 1;
    const { notice } = watched;
    let now: AccessNow = { over: 'gone' };
    try {
      const head = kind === 'gone' ? null : await this.#deps.heads.get(id);
      if (head !== null) now = { head };
    } catch (err) {
      // Who may not be asked may not go on either.
      this.#deps.log.warn({ err, artifactId: id }, 'what is open ends because its access could not be decided');
      now = { over: 'undecided' };
    }
    if (watched.notice !== notice) return;
    for (const watching of [...watched.watchings]) {
      if ('over' in now) this.#end(id, watching, now.over);
      else if (standsOnPass(watching.principal)) this.#end(id, watching, 'undecided');
      else if (watched.watchings.has(watching)) watching.listener(now);
    }
  }

  #revoked(tokenId: TokenId): void {
    for (const [id, { watchings }] of [...this.#watched]) {
      for (const watching of [...watchings]) {
        if (watching.principal.kind !== 'anonymous' && watching.principal.tokenId === tokenId) this.#end(id, watching, 'revoked');
      }
    }
  }
}

/** How a socket is closed then. */
export function closeCodeOf(over: AccessEnd): CloseCode {
  switch (over) {
    case 'gone':
      return CLOSE.gone;
    case 'revoked':
    case 'expired':
      return CLOSE.unauthorized;
    case 'undecided':
      return CLOSE.moved;
    default:
      return over satisfies never;
  }
}
