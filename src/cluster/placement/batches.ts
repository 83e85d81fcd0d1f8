/** Calls to the registry for many artifacts at once: what comes while one is under way goes together in the next. */
import type { Clock, Log, Luggage } from '../../../actors/runtime/ports.ts';
import { Failure } from '../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import { BATCH_MAX, type Claim, type Found, type Registry, type Wanted } from './registry.ts';

/** Artifacts that may wait for an answer. Beyond it the registry is the bottleneck, and a queue would only hide that. */
const WAITING_MAX = 20_000;
const RELEASE_ATTEMPTS = 5;
const RETRY_MS = 200;

interface Asked {
  readonly wanted: Wanted;
  readonly resolve: (found: Found) => void;
  readonly reject: (error: unknown) => void;
}

/** Looks artifacts up and claims them for one incarnation. */
export class Finder {
  readonly #registry: Registry;
  readonly #incarnation: string;
  #queue: Asked[] = [];
  #isRunning = false;

  constructor(registry: Registry, incarnation: string) {
    this.#registry = registry;
    this.#incarnation = incarnation;
  }

  /** Rejects as the registry does, or with UNAVAILABLE. */
  find(wanted: Wanted): Promise<Found> {
    if (this.#queue.length >= WAITING_MAX) {
      return Promise.reject(new Failure('UNAVAILABLE', { message: 'Too many artifacts are being located.', retryAfterS: 1 }));
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ wanted, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      queueMicrotask(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, BATCH_MAX);
      this.#queue = this.#queue.slice(BATCH_MAX);
      try {
        const found = await this.#registry.find(
          this.#incarnation,
          batch.map(({ wanted }) => wanted),
        );
        batch.forEach(({ resolve, reject }, at) => {
          const answer = found[at];
          if (answer === undefined) reject(new Error('the registry left an answer out'));
          else resolve(answer);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isRunning = false;
  }
}

interface Leaving {
  readonly claim: number;
  readonly gone: Promise<void>;
  readonly settle: () => void;
}

export interface ReleaserDeps {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Log;
  readonly luggage: () => Luggage | undefined;
}

/** Gives up claims of one incarnation. */
export class Releaser {
  readonly #deps: ReleaserDeps;
  readonly #incarnation: string;
  /** Asked for and not sent yet. */
  readonly #waiting = new Map<ArtifactId, Leaving>();
  readonly #sent = new Map<ArtifactId, Leaving>();
  #isRunning = false;
  #isOver = false;

  constructor(deps: ReleaserDeps, incarnation: string) {
    this.#deps = deps;
    this.#incarnation = incarnation;
  }

  release(artifactId: ArtifactId, claim: number): Promise<void> {
    const known = this.#waiting.get(artifactId);
    if (known !== undefined) return known.gone;
    let settle: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.#waiting.set(artifactId, { claim, gone, settle });
    if (!this.#isRunning) {
      this.#isRunning = true;
      queueMicrotask(() => void this.#run());
    }
    return gone;
  }

  /** Takes a release back that was not sent yet: the claim of that number goes on. */
  keep(artifactId: ArtifactId): number | undefined {
    const leaving = this.#waiting.get(artifactId);
    this.#waiting.delete(artifactId);
    leaving?.settle();
    return leaving?.claim;
  }

  /** What a new claim of this artifact has to wait for. */
  pending(artifactId: ArtifactId): Promise<void> | undefined {
    return this.#sent.get(artifactId)?.gone;
  }

  /** The lease is lost, and with it all claims. */
  end(): void {
    this.#isOver = true;
    for (const { settle } of [...this.#waiting.values(), ...this.#sent.values()]) settle();
    this.#waiting.clear();
  }

  async #run(): Promise<void> {
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting].slice(0, BATCH_MAX);
      for (const [id, leaving] of batch) {
        this.#waiting.delete(id);
        this.#sent.set(id, leaving);
      }
      await this.#send(batch.map(([artifactId, { claim }]) => ({ artifactId, claim })));
      for (const [id, { settle }] of batch) {
        this.#sent.delete(id);
        settle();
      }
    }
    this.#isRunning = false;
  }

  async #send(claims: readonly Claim[]): Promise<void> {
    const { registry, clock, log, luggage } = this.#deps;
    const released = claims.map((claim) => ({ ...claim, handover: luggage()?.pack(claim.artifactId) }));
    for (let attempt = 1; !this.#isOver; attempt += 1) {
      try {
        return await registry.release(this.#incarnation, released);
      } catch (err) {
        if (attempt < RELEASE_ATTEMPTS) await new Promise<void>((resolve) => clock.after(RETRY_MS * attempt, resolve));
        else return log.warn({ err, artifacts: claims.length }, 'claims could not be released, they end with the lease of this node');
      }
    }
  }
}
