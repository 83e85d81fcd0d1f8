/** Several nodes in one process over one registry in memory, one store and one clock that a test moves. */
import type { ClusterNode, Placement } from '../../actors/runtime/ports.ts';
import { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { type ArtifactId, newId } from '../../protocol/core/ids.ts';
import { ClusterPlacement } from '../../src/cluster/placement/cluster-placement.ts';
import type { Beat, Claim, Found, Registry, Released, Wanted } from '../../src/cluster/placement/registry.ts';
import { MemoryStore } from '../sim/memory-store.ts';
import { SILENT, UNMETERED } from '../sim/world.ts';
import { NodeClock } from '../support/node-clock.ts';
import { SteppedClock } from '../support/stepped-clock.ts';
import { RegistryModel } from './registry-model.ts';

/** The way of one node to the registry: it can be cut, and answers can be held back. */
export class RegistryLink implements Registry {
  readonly #registry: Registry;
  isCut = false;
  /** Answers of `find` wait for this. */
  held: Promise<void> | undefined;
  /** How many of the next heartbeats fail. */
  failingBeats = 0;
  finds = 0;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  async beat(node: ClusterNode, replaces: string | undefined): Promise<Beat> {
    if (this.failingBeats > 0) {
      this.failingBeats -= 1;
      throw new Error('no answer');
    }
    return this.#through(() => this.#registry.beat(node, replaces));
  }

  async find(incarnation: string, wanted: readonly Wanted[]): Promise<readonly Found[]> {
    this.finds += 1;
    const found = await this.#through(() => this.#registry.find(incarnation, wanted));
    await this.held;
    return found;
  }

  reclaim(incarnation: string, ids: readonly Claim[]): Promise<readonly ArtifactId[]> {
    return this.#through(() => this.#registry.reclaim(incarnation, ids));
  }

  release(incarnation: string, released: readonly Released[]): Promise<void> {
    return this.#through(() => this.#registry.release(incarnation, released));
  }

  leave(incarnation: string): Promise<void> {
    return this.#through(() => this.#registry.leave(incarnation));
  }

  sweep(cursor: string): Promise<string> {
    return this.#through(() => this.#registry.sweep(cursor));
  }

  async #through<T>(call: () => Promise<T>): Promise<T> {
    if (this.isCut) throw new Error('connection refused');
    return call();
  }
}

export interface Node {
  readonly name: string;
  readonly placement: ClusterPlacement;
  readonly runtime: ActorRuntime;
  readonly link: RegistryLink;
  readonly clock: NodeClock;
  readonly lost: ArtifactId[];
  readonly incarnations: string[];
}

export interface ClusterStage {
  readonly clock: SteppedClock;
  readonly registry: RegistryModel;
  readonly store: MemoryStore;
  newArtifact(): ArtifactId;
  /** An artifact that this node is chosen for. */
  chosenFor(node: Node): ArtifactId;
  /** Joins and settles. */
  join(name: string, change?: (placement: Placement) => Placement): Promise<Node>;
}

export function clusterStage(): ClusterStage {
  const clock = new SteppedClock();
  const registry = new RegistryModel(clock);
  const store = new MemoryStore();
  let incarnations = 0;
  const newArtifact = () => {
    const id = newId('artifact');
    store.add(id);
    return id;
  };
  return {
    clock,
    registry,
    store,
    newArtifact,
    chosenFor({ placement }) {
      const own = placement.self()?.incarnation;
      for (;;) {
        const id = newArtifact();
        if (placement.chosen(id)?.incarnation === own) return id;
      }
    },
    async join(name, change = (placement) => placement) {
      const link = new RegistryLink(registry);
      const nodeClock = new NodeClock(clock);
      const lost: ArtifactId[] = [];
      const own: string[] = [];
      const newIncarnation = () => {
        incarnations += 1;
        own.push(`${name}${incarnations}`);
        return `${name}${incarnations}`;
      };
      const meter = { claimed: () => undefined };
      const placement = new ClusterPlacement({
        registry: link,
        address: `${name}:7000`,
        clock: nodeClock,
        log: SILENT,
        meter,
        newIncarnation,
      });
      const ports = { store, journal: store, meter: UNMETERED, log: SILENT, idleMs: 60_000, memoryBytesMax: 64 * 1024 * 1024 };
      const runtime = new ActorRuntime({ ...ports, clock: nodeClock, placement: change(placement) });
      placement.onLost((id) => lost.push(id));
      const started = placement.start();
      await clock.advance(4000);
      await started;
      return { name, placement, runtime, link, clock: nodeClock, lost, incarnations: own };
    },
  };
}
