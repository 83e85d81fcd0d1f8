/**
 * Placement in a cluster. A node has a lease that it renews by heartbeats; its claims hold as long as the lease. The registry tells where to
 * look; that two nodes never write one artifact is kept by `owner_epoch` in Postgres, whatever the registry forgets.
 */
import { LRUCache } from 'lru-cache';
import type { Clock, ClusterNode, Location, Log, Luggage, MembershipChange, Placement } from '../../../actors/runtime/ports.ts';
import { Failure } from '../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import { Finder, Releaser } from './batches.ts';
import { Lease } from './lease.ts';
import { Members } from './members.ts';
import type { Found, Handover, Registry } from './registry.ts';

/** Artifacts of other nodes whose owner is remembered. */
const ELSEWHERE_MAX = 50_000;
/** A call waits so long for a registry that is settling, then UNAVAILABLE. */
const PATIENCE_MS = 5000;

export interface PlacementMeter {
  /** From the question to the answer of the registry, waiting for it to settle included. */
  claimed(durationMs: number): void;
}

export interface ClusterPlacementDeps {
  readonly registry: Registry;
  /** Where peers reach this node. */
  readonly address: string;
  /** Real time outside of simulations: it is compared with that of the registry. */
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: PlacementMeter;
  /** A name that no incarnation of any node has had. */
  readonly newIncarnation: () => string;
  /** Default: LEASE_MS. */
  readonly leaseMs?: number;
}

type Listener<T extends unknown[]> = (...told: T) => void;
const HERE: Location = { here: true };

/** What belongs to one incarnation and ends with it. */
interface Term {
  readonly incarnation: string;
  /** By artifact, the number of its claim. */
  readonly claims: Map<ArtifactId, number>;
  readonly finder: Finder;
  readonly releaser: Releaser;
  /** Questions under way, shared by all who ask the same. */
  readonly asking: Map<string, Promise<Location>>;
}

export class ClusterPlacement implements Placement {
  readonly #deps: ClusterPlacementDeps;
  readonly #lease: Lease;
  readonly #members = new Members();
  /** The incarnation of the node that holds an artifact. It counts only while that incarnation lives. */
  readonly #elsewhere = new LRUCache<ArtifactId, string>({ max: ELSEWHERE_MAX });
  readonly #lostListeners: Listener<[ArtifactId]>[] = [];
  readonly #memberListeners: Listener<[MembershipChange]>[] = [];
  #luggage: Luggage | undefined;
  #term: Term | undefined;
  #isDraining = false;
  #claimNumber = 0;

  constructor(deps: ClusterPlacementDeps) {
    this.#deps = deps;
    this.#lease = new Lease(deps, {
      began: (incarnation) => {
        this.#term = this.#newTerm(incarnation);
      },
      lost: () => this.#lose(),
      claims: () => this.claims(),
      taken: (artifactId) => {
        if (this.#term?.claims.delete(artifactId)) this.#tellLost([artifactId]);
      },
      nodes: (nodes) => this.#seen(nodes),
    });
  }

  locate(artifactId: ArtifactId): Location | Promise<Location> {
    const term = this.#term;
    if (term?.claims.has(artifactId)) return HERE;
    const owner = this.#members.get(this.#elsewhere.get(artifactId) ?? '');
    if (owner !== undefined) return there(owner);
    if (term === undefined) throw withoutLease();
    return this.#ask(term, artifactId, false);
  }

  forget(artifactId: ArtifactId): void {
    this.#elsewhere.delete(artifactId);
  }

  claim(artifactId: ArtifactId): boolean | Promise<boolean> {
    const term = this.#term;
    if (term === undefined) throw withoutLease();
    if (term.claims.has(artifactId)) return true;
    if (this.#isDraining) return false;
    return this.#ask(term, artifactId, true).then(({ here }) => here);
  }

  release(artifactId: ArtifactId): void | Promise<void> {
    const term = this.#term;
    const claim = term?.claims.get(artifactId);
    if (term === undefined || claim === undefined) return term?.releaser.pending(artifactId);
    term.claims.delete(artifactId);
    return term.releaser.release(artifactId, claim);
  }

  carry(luggage: Luggage): void {
    this.#luggage = luggage;
  }

  holds(): boolean {
    return this.#lease.holds();
  }

  onLost(listener: (artifactId: ArtifactId) => void): void {
    this.#lostListeners.push(listener);
  }

  self(): ClusterNode | undefined {
    const { address } = this.#deps;
    return this.#term && { address, incarnation: this.#term.incarnation, isDraining: this.#isDraining };
  }

  nodes(): readonly ClusterNode[] {
    return this.#members.list;
  }

  onMembership(listener: (change: MembershipChange) => void): void {
    this.#memberListeners.push(listener);
  }

  start(): Promise<void> {
    return this.#lease.start();
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#lease.drain();
  }

  async stop(): Promise<void> {
    this.#isDraining = true;
    const term = this.#term;
    if (term !== undefined) await Promise.all([...term.claims.keys()].map((artifactId) => this.release(artifactId)));
    await this.#lease.stop();
    this.#term = undefined;
    term?.releaser.end();
  }

  stats(): { readonly claims: number; readonly nodes: number; readonly leaseAgeMs: number } {
    return { claims: this.#term?.claims.size ?? 0, nodes: this.#members.size, leaseAgeMs: this.#lease.ageMs };
  }

  /** What this node holds, with the numbers of its claims. */
  claims(): ReadonlyMap<ArtifactId, number> {
    return this.#term?.claims ?? new Map();
  }

  /** The node that should own the artifact. */
  chosen(artifactId: ArtifactId): ClusterNode | undefined {
    return this.#members.chosen(artifactId);
  }

  #newTerm(incarnation: string): Term {
    const releaser = new Releaser({ ...this.#deps, luggage: () => this.#luggage }, incarnation);
    return { incarnation, claims: new Map(), finder: new Finder(this.#deps.registry, incarnation), releaser, asking: new Map() };
  }

  /** Questions about one artifact are shared, so that a claim is made, and its luggage unpacked, once. */
  #ask(term: Term, artifactId: ArtifactId, isForced: boolean): Promise<Location> {
    const kept = term.releaser.keep(artifactId);
    if (kept !== undefined) {
      term.claims.set(artifactId, kept);
      return Promise.resolve(HERE);
    }
    const key = isForced ? `!${artifactId}` : artifactId;
    const asking = term.asking.get(key) ?? this.#resolve(term, artifactId, isForced).finally(() => term.asking.delete(key));
    term.asking.set(key, asking);
    return asking;
  }

  async #resolve(term: Term, artifactId: ArtifactId, isForced: boolean): Promise<Location> {
    const { clock, meter } = this.#deps;
    const startedMs = clock.monotonicMs();
    while (clock.monotonicMs() - startedMs < PATIENCE_MS) {
      await term.releaser.pending(artifactId);
      const chosen = this.#members.chosen(artifactId);
      const claims = !this.#isDraining && (isForced || chosen?.incarnation === term.incarnation);
      const found = await this.#find(term, artifactId, claims);
      // Who was chosen may have left, or drain: then this node has to choose again.
      const isStale = found.kind === 'free' && found.members !== this.#lease.members;
      if (found.kind === 'lapsed' || isStale) await this.#lease.renew();
      else if (found.kind === 'settling') await new Promise<void>((resolve) => clock.after(Math.max(1, found.leftMs), resolve));
      else {
        if (found.kind === 'mine') meter.claimed(clock.monotonicMs() - startedMs);
        return this.#place(term, artifactId, found, chosen);
      }
    }
    throw new Failure('UNAVAILABLE', { message: 'The cluster is settling.', retryAfterS: 1 });
  }

  /** The answer belongs to the lease that the question was sent under: one that arrives after its end claims nothing. */
  async #find(term: Term, artifactId: ArtifactId, claims: boolean): Promise<Found> {
    let found: Found;
    try {
      this.#claimNumber += 1;
      found = await term.finder.find({ artifactId, claim: claims ? this.#claimNumber : undefined });
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure('UNAVAILABLE', { message: 'The artifact could not be located.', retryAfterS: 1 });
    }
    if (this.#term !== term || !this.holds()) throw withoutLease();
    return found;
  }

  #place(term: Term, artifactId: ArtifactId, found: Exclude<Found, { kind: 'lapsed' | 'settling' }>, chosen?: ClusterNode): Location {
    switch (found.kind) {
      case 'mine':
        this.#take(term, artifactId, found.claim, found.handover);
        if (!this.#isDraining) return HERE;
        // The claim was under way when the drain began.
        void this.release(artifactId);
        throw moving();
      case 'held':
        this.#elsewhere.set(artifactId, found.node.incarnation);
        return there(found.node);
      case 'free':
        if (chosen === undefined || chosen.incarnation === term.incarnation) throw moving();
        return there(chosen);
      default:
        return found satisfies never;
    }
  }

  #take(term: Term, artifactId: ArtifactId, claim: number, handover: Handover | undefined): void {
    if (term.claims.has(artifactId)) return;
    term.claims.set(artifactId, claim);
    this.#elsewhere.delete(artifactId);
    if (handover !== undefined) this.#luggage?.unpack(artifactId, handover.text, handover.ageMs);
  }

  #lose(): void {
    const term = this.#term;
    this.#term = undefined;
    if (term === undefined) return;
    term.releaser.end();
    this.#deps.log.warn({ artifacts: term.claims.size }, 'the lease of this node is over, its artifacts belong to whoever claims them');
    this.#tellLost([...term.claims.keys()]);
  }

  #tellLost(artifactIds: readonly ArtifactId[]): void {
    for (const artifactId of artifactIds) for (const listener of this.#lostListeners) listener(artifactId);
  }

  #seen(nodes: readonly ClusterNode[]): void {
    const own = this.#term?.incarnation;
    for (const change of this.#members.update(nodes)) {
      if (change.node.incarnation === own) continue;
      for (const listener of this.#memberListeners) listener(change);
    }
  }
}

function there({ address, incarnation }: ClusterNode): Location {
  return { here: false, address, incarnation };
}

function withoutLease(): Failure {
  return new Failure('UNAVAILABLE', { message: 'This node is not part of the cluster at the moment.', retryAfterS: 1 });
}

function moving(): Failure {
  return new Failure('OWNER_MOVED', { retryAfterS: 1 });
}
