/**
 * What placement does in the background. When a node has joined, the others hand over the artifacts for which it is chosen now; when one is
 * gone, its claims are removed from the registry, where they count for nothing and only take memory.
 */
import type { Clock, ClusterNode, Log, MembershipChange, Timer } from '../../../actors/runtime/ports.ts';
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { ClusterPlacement } from './cluster-placement.ts';
import type { Registry } from './registry.ts';

/** The members stay the same for so long before anything moves, so that a node that comes and goes moves nothing. */
const CALM_MS = 10_000;
/** So many claims are looked at, some 10 ms among 200 nodes, and at most so many moved, in one step. */
const LOOKED = 250;
const MOVED = 50;
const STEP_MS = 250;
const SWEEP_STEP_MS = 50;
const SWEEP_PAUSE_MS = 1000;
/** A claim without an actor is given up after one to two minutes, */
const LOOK_MS = 5000;
const LOOKS = 12;
/** or at the next look where a node has more claims than this: calls for artifacts that do not exist must not fill the registry. */
const CLAIMS_MAX = 100_000;

export interface UpkeepDeps {
  readonly placement: Pick<ClusterPlacement, 'claims' | 'chosen' | 'release' | 'nodes' | 'self' | 'onMembership'>;
  readonly registry: Pick<Registry, 'sweep'>;
  readonly actors: {
    /** See `ActorRuntime.handOver`. */
    handOver(artifactId: ArtifactId, which: 'idle' | 'without connections'): boolean;
    isPresent(artifactId: ArtifactId): boolean;
  };
  readonly clock: Clock;
  readonly log: Log;
}

interface Pass {
  readonly which: 'idle' | 'without connections';
  readonly claims: Iterator<ArtifactId>;
  moved: number;
}

export class PlacementUpkeep {
  readonly #deps: UpkeepDeps;
  readonly #timers = new Map<'calm' | 'step' | 'sweep' | 'unused', Timer>();
  /** Claims that had no actor at the last look. */
  #unused = new Set<ArtifactId>();
  #isStopped = false;

  constructor(deps: UpkeepDeps) {
    this.#deps = deps;
    deps.placement.onMembership((change) => this.#changed(change));
    this.#later('unused', LOOK_MS, () => this.#giveUpUnused(1));
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers.values()) timer.cancel();
  }

  #later(name: 'calm' | 'step' | 'sweep' | 'unused', delayMs: number, run: () => void): void {
    this.#timers.get(name)?.cancel();
    if (!this.#isStopped) this.#timers.set(name, this.#deps.clock.after(delayMs, run));
  }

  #changed({ kind, node }: MembershipChange): void {
    if (kind === 'left') this.#afterDeparture(node);
    this.#timers.get('step')?.cancel();
    this.#later('calm', CALM_MS, () => this.#rebalance(this.#pass('idle')));
  }

  #pass(which: Pass['which']): Pass {
    return { which, claims: this.#deps.placement.claims().keys(), moved: 0 };
  }

  /** First what nobody uses, then what has no connection. The rest stays until it sleeps, or until this node drains. */
  #rebalance(pass: Pass): void {
    const { placement, actors, log } = this.#deps;
    const self = placement.self()?.incarnation;
    let moved = 0;
    for (let looked = 0; looked < LOOKED && moved < MOVED && self !== undefined; looked += 1) {
      const { done, value } = pass.claims.next();
      if (done) {
        const artifacts = pass.moved + moved;
        if (artifacts > 0) log.info({ artifacts }, 'artifacts were handed over to nodes that have joined');
        if (pass.which === 'idle') this.#later('step', STEP_MS, () => this.#rebalance(this.#pass('without connections')));
        return;
      }
      const chosen = placement.chosen(value);
      if (chosen !== undefined && chosen.incarnation !== self && actors.handOver(value, pass.which)) moved += 1;
    }
    pass.moved += moved;
    if (self !== undefined) this.#later('step', STEP_MS, () => this.#rebalance(pass));
  }

  /** A call that was refused before it came to an actor leaves a claim behind. */
  #giveUpUnused(looks: number): void {
    const { placement, actors } = this.#deps;
    const isFull = placement.claims().size > CLAIMS_MAX;
    if (isFull || looks >= LOOKS) {
      const unused = [...placement.claims().keys()].filter((id) => !actors.isPresent(id));
      for (const id of unused) if (isFull || this.#unused.has(id)) void placement.release(id);
      this.#unused = new Set(isFull ? [] : unused);
    }
    this.#later('unused', LOOK_MS, () => this.#giveUpUnused(looks >= LOOKS ? 1 : looks + 1));
  }

  /** One of the nodes that are left sweeps: the one with the first name. */
  #afterDeparture(gone: ClusterNode): void {
    const { placement, log } = this.#deps;
    log.info({ address: gone.address }, 'a node has left the cluster');
    const [first] = placement
      .nodes()
      .map(({ incarnation }) => incarnation)
      .sort();
    if (first === placement.self()?.incarnation) this.#later('sweep', SWEEP_STEP_MS, () => void this.#sweep('0'));
  }

  async #sweep(cursor: string): Promise<void> {
    const next = await this.#deps.registry.sweep(cursor).catch(() => '');
    if (next === '') this.#later('sweep', SWEEP_PAUSE_MS, () => void this.#sweep(cursor));
    else if (next !== '0') this.#later('sweep', SWEEP_STEP_MS, () => void this.#sweep(next));
  }
}
