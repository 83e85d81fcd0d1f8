/**
 * The lease of this node. It is over here before it can be over for others: the time counts from when a renewal was sent, on a clock that
 * never goes back, and a process that was stopped sees that it is over as soon as it looks.
 */
import type { Clock, ClusterNode, Log, Timer } from '../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import { BATCH_MAX, LEASE_MS, type Registry } from './registry.ts';

/** Renewals in a lease time. */
const BEATS = 3;
/** After a failed renewal the next follows so soon that a lease outlives a few of them. */
const RETRIES = 15;
/** Part of the lease time by which it ends earlier here than at the registry, whose clock may run a little faster. */
const MARGIN = 15;
/** Claims that a heartbeat compares with the registry, so that one that was lost there is noticed in the end. */
const AUDITED = 50;

export interface LeaseDeps {
  readonly registry: Registry;
  readonly address: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly newIncarnation: () => string;
  readonly leaseMs?: number;
}

interface LeaseEvents {
  began(incarnation: string): void;
  /** Everything claimed under it is void. */
  lost(): void;
  /** What this node holds, with the numbers of its claims. */
  claims(): ReadonlyMap<ArtifactId, number>;
  /** Another node holds it. */
  taken(artifactId: ArtifactId): void;
  nodes(nodes: readonly ClusterNode[]): void;
}

export class Lease {
  readonly #deps: LeaseDeps;
  readonly #events: LeaseEvents;
  readonly #leaseMs: number;
  #incarnation: string;
  /** The incarnation before this one, until the registry knows that it is over. */
  #replaces: string | undefined;
  #hasBegun = false;
  #renewedMs = Number.NEGATIVE_INFINITY;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #generation = '';
  #members = -1;
  /** The registry may have forgotten what this node holds. Until that is said again the lease is not prolonged. */
  #mustReclaim = false;
  #audit: Iterator<ArtifactId> | undefined;
  #isDraining = false;
  #isStopped = false;
  #timer: Timer | undefined;
  #beating: Promise<boolean> | undefined;
  #failures = 0;

  constructor(deps: LeaseDeps, events: LeaseEvents) {
    this.#deps = deps;
    this.#events = events;
    this.#leaseMs = deps.leaseMs ?? LEASE_MS;
    this.#incarnation = deps.newIncarnation();
  }

  /** Since the last renewal that succeeded was sent; infinite before the first. */
  get ageMs(): number {
    return this.#deps.clock.monotonicMs() - this.#renewedMs;
  }

  /** `Beat.members` of the last heartbeat. */
  get members(): number {
    return this.#members;
  }

  holds(): boolean {
    if (this.#deps.clock.monotonicMs() < this.#heldUntilMs) return true;
    // Not at once, because this runs in the middle of a turn.
    if (this.#hasBegun) queueMicrotask(() => this.#expire());
    return false;
  }

  /** Begins the first lease. Rejects when the registry does not answer for a lease time. */
  async start(): Promise<void> {
    const { clock } = this.#deps;
    const startedMs = clock.monotonicMs();
    while (!(await this.renew())) {
      if (clock.monotonicMs() - startedMs > this.#leaseMs) throw new Error('The registry of placement does not answer.');
      await new Promise<void>((resolve) => clock.after(this.#leaseMs / RETRIES, resolve));
    }
  }

  /** Tells the others, or tries to. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#beating;
    await this.renew();
  }

  /** Ends the lease. Never rejects. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#beating;
    this.#hasBegun = false;
    this.#heldUntilMs = Number.NEGATIVE_INFINITY;
    try {
      await this.#deps.registry.leave(this.#incarnation);
    } catch (err) {
      this.#deps.log.warn({ err }, 'this node could not leave the cluster, the others miss it when its lease is over');
    }
  }

  /** A heartbeat now, or the one under way. Whether the lease was renewed. */
  renew(): Promise<boolean> {
    this.#beating ??= this.#beat().then((isRenewed) => {
      this.#beating = undefined;
      this.#failures = isRenewed ? 0 : this.#failures + 1;
      this.#beatLater(this.#leaseMs / (isRenewed ? BEATS : RETRIES));
      return isRenewed;
    });
    return this.#beating;
  }

  #beatLater(delayMs: number): void {
    this.#timer?.cancel();
    if (!this.#isStopped) this.#timer = this.#deps.clock.after(delayMs, () => void this.renew());
  }

  async #beat(): Promise<boolean> {
    const { registry, address, clock, log } = this.#deps;
    if (this.#hasBegun && !this.holds()) this.#expire();
    const incarnation = this.#incarnation;
    const sentMs = clock.monotonicMs();
    try {
      const { wasAlive, generation, members, nodes } = await registry.beat(
        { address, incarnation, isDraining: this.#isDraining },
        this.#replaces,
      );
      if (this.#isOver(incarnation)) return false;
      this.#replaces = undefined;
      if (this.#hasBegun && (!wasAlive || generation !== this.#generation)) this.#mustReclaim = true;
      this.#generation = generation;
      if (this.#mustReclaim) await this.#reclaim(this.#events.claims().keys());
      else if (this.#hasBegun) await this.#reclaim(this.#audited());
      if (this.#isOver(incarnation)) return false;
      this.#mustReclaim = false;
      this.#renewed(sentMs);
      this.#members = members;
      this.#events.nodes(nodes);
      return this.holds();
    } catch (err) {
      // One in a row is nothing to report: the lease outlives it.
      if (this.#failures === 1) log.warn({ err }, 'the lease could not be renewed, it is tried again');
      return false;
    }
  }

  /** Whether this incarnation has ended while its heartbeat was under way. */
  #isOver(incarnation: string): boolean {
    if (this.#hasBegun && !this.holds()) this.#expire();
    return this.#isStopped || incarnation !== this.#incarnation;
  }

  #renewed(sentMs: number): void {
    this.#renewedMs = sentMs;
    this.#heldUntilMs = sentMs + this.#leaseMs - this.#leaseMs / MARGIN;
    // An answer that took a whole lease time begins none.
    if (this.#hasBegun || this.#deps.clock.monotonicMs() >= this.#heldUntilMs) return;
    this.#hasBegun = true;
    this.#events.began(this.#incarnation);
  }

  async #reclaim(artifactIds: Iterable<ArtifactId>): Promise<void> {
    const incarnation = this.#incarnation;
    const ids = [...artifactIds];
    for (let at = 0; at < ids.length; at += BATCH_MAX) {
      // What was released while earlier batches were under way must not be claimed again.
      const claims = this.#events.claims();
      const held = ids.slice(at, at + BATCH_MAX).flatMap((artifactId) => {
        const claim = claims.get(artifactId);
        return claim === undefined ? [] : [{ artifactId, claim }];
      });
      if (held.length === 0) continue;
      const lost = await this.#deps.registry.reclaim(incarnation, held);
      if (incarnation !== this.#incarnation) return;
      for (const artifactId of lost) this.#events.taken(artifactId);
    }
  }

  /** The next few claims, in turn. */
  #audited(): ArtifactId[] {
    const audited: ArtifactId[] = [];
    const claims = this.#events.claims();
    this.#audit ??= claims.keys();
    while (audited.length < AUDITED) {
      const next = this.#audit.next();
      if (next.done) {
        this.#audit = undefined;
        break;
      }
      audited.push(next.value);
    }
    return audited;
  }

  #expire(): void {
    if (!this.#hasBegun || this.#deps.clock.monotonicMs() < this.#heldUntilMs) return;
    this.#hasBegun = false;
    this.#mustReclaim = false;
    this.#audit = undefined;
    this.#replaces = this.#incarnation;
    this.#incarnation = this.#deps.newIncarnation();
    this.#events.lost();
    // A new lease begins as soon as the registry answers.
    if (!this.#isStopped) this.#beatLater(0);
  }
}
