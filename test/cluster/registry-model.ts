/** The registry in memory, on a clock that a test moves: what Redis does with its scripts, and what can happen to a Redis. */
import type { Clock, ClusterNode } from '../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import {
  type Beat,
  type Claim,
  type Found,
  HANDOVER_MS,
  LEASE_MS,
  type Registry,
  type Released,
  type Wanted,
} from '../../src/cluster/placement/registry.ts';

interface Expiring<T> {
  readonly value: T;
  readonly untilMs: number;
}

/** Nobody is there. */
const GONE: ClusterNode = { address: 'gone:7000', incarnation: 'gone', isDraining: false };

export class RegistryModel implements Registry {
  /** Switched off only to test that the simulation notices. */
  settles = true;
  checksLeases = true;
  /** Of a release: that it is of this claim and no later one. */
  checksClaims = true;
  /** Of a node that says again what it holds: that nobody else holds it. */
  checksReclaims = true;
  /** Claims of nodes that are gone count for nothing. */
  freesDead = true;
  renews = true;
  countsMembers = true;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  #server = 1;
  #generation: string | undefined;
  #settlingUntilMs = 0;
  #members = 0;
  readonly #nodes = new Map<string, Expiring<ClusterNode>>();
  readonly #claims = new Map<ArtifactId, { readonly owner: string; readonly claim: number }>();
  readonly #handovers = new Map<ArtifactId, Expiring<string>>();

  constructor(clock: Clock, leaseMs = LEASE_MS) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  get claims(): ReadonlyMap<ArtifactId, string> {
    return new Map([...this.#claims].map(([id, { owner }]) => [id, owner]));
  }

  /** It is emptied. */
  flush(): void {
    this.#generation = undefined;
    this.#nodes.clear();
    this.#claims.clear();
    this.#handovers.clear();
  }

  /** Another server takes its place, which has not heard of these claims. */
  failOver(forgotten: Iterable<ArtifactId>): void {
    this.#server += 1;
    for (const id of forgotten) this.#claims.delete(id);
  }

  async beat(node: ClusterNode, replaces: string | undefined): Promise<Beat> {
    this.#settle();
    if (replaces !== undefined) this.#nodes.delete(replaces);
    const wasAlive = this.#isAlive(node.incarnation);
    if (!wasAlive || this.#nodes.get(node.incarnation)?.value.isDraining !== node.isDraining) this.#members += 1;
    const untilMs = this.#clock.monotonicMs() + this.#leaseMs;
    this.#nodes.set(node.incarnation, {
      value: node,
      untilMs: this.renews ? untilMs : (this.#nodes.get(node.incarnation)?.untilMs ?? untilMs),
    });
    for (const incarnation of [...this.#nodes.keys()]) {
      if (this.#isAlive(incarnation)) continue;
      this.#nodes.delete(incarnation);
      this.#members += 1;
    }
    const nodes = [...this.#nodes.values()].map(({ value }) => value);
    return { wasAlive, generation: this.#generation ?? '', members: this.countsMembers ? this.#members : 0, nodes };
  }

  async find(incarnation: string, wanted: readonly Wanted[]): Promise<readonly Found[]> {
    this.#settle();
    return wanted.map(({ artifactId, claim }) => this.#find(incarnation, artifactId, claim));
  }

  async reclaim(incarnation: string, claims: readonly Claim[]): Promise<readonly ArtifactId[]> {
    if (!this.#isAlive(incarnation)) throw new Error('LAPSED');
    return claims.flatMap(({ artifactId, claim }) => {
      const owner = this.#claims.get(artifactId)?.owner;
      if (this.checksReclaims && owner !== undefined && owner !== incarnation && this.#isAlive(owner)) return [artifactId];
      this.#claims.set(artifactId, { owner: incarnation, claim });
      return [];
    });
  }

  async release(incarnation: string, released: readonly Released[]): Promise<void> {
    for (const { artifactId, claim, handover } of released) {
      const held = this.#claims.get(artifactId);
      if (this.checksClaims && (held?.owner !== incarnation || held.claim !== claim)) continue;
      this.#claims.delete(artifactId);
      if (handover === undefined) this.#handovers.delete(artifactId);
      else this.#handovers.set(artifactId, { value: handover, untilMs: this.#clock.monotonicMs() + HANDOVER_MS });
    }
  }

  async leave(incarnation: string): Promise<void> {
    this.#nodes.delete(incarnation);
    this.#members += 1;
  }

  async sweep(): Promise<string> {
    if (this.#settlingMs() > 0) return '';
    for (const [id, { owner }] of this.#claims) if (!this.#isAlive(owner)) this.#claims.delete(id);
    return '0';
  }

  #find(incarnation: string, id: ArtifactId, wanted: number | undefined): Found {
    const owner = this.#claims.get(id)?.owner;
    const isMine = owner === incarnation && this.#isAlive(incarnation);
    if (this.checksLeases && owner !== undefined && this.#holds(owner, incarnation))
      return { kind: 'held', node: this.#nodes.get(owner)?.value ?? GONE };
    if (!isMine) {
      if (wanted === undefined) return { kind: 'free', members: this.countsMembers ? this.#members : 0 };
      if (!this.#isAlive(incarnation)) return { kind: 'lapsed' };
      const leftMs = this.#settlingMs();
      if (this.settles && leftMs > 0) return { kind: 'settling', leftMs };
      this.#claims.set(id, { owner: incarnation, claim: wanted });
    }
    const claim = this.#claims.get(id)?.claim ?? 0;
    const left = this.#handovers.get(id);
    const ageMs = left === undefined ? 0 : HANDOVER_MS - (left.untilMs - this.#clock.monotonicMs());
    return { kind: 'mine', claim, handover: left === undefined || ageMs >= HANDOVER_MS ? undefined : { text: left.value, ageMs } };
  }

  #holds(owner: string, asker: string): boolean {
    return owner !== asker && (this.#isAlive(owner) || !this.freesDead);
  }

  #settle(): void {
    if (this.#generation?.startsWith(`${this.#server} `)) return;
    this.#generation = `${this.#server} ${this.#clock.monotonicMs()}`;
    this.#settlingUntilMs = this.#clock.monotonicMs() + this.#leaseMs;
  }

  #settlingMs(): number {
    return this.#settlingUntilMs - this.#clock.monotonicMs();
  }

  #isAlive(incarnation: string): boolean {
    return (this.#nodes.get(incarnation)?.untilMs ?? 0) > this.#clock.monotonicMs();
  }
}
