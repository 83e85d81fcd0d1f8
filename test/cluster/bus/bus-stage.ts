/** Nodes on one channel in memory, on a virtual clock: every message can be lost, every connection cut in one direction or both. */
import type { ClusterNode } from '../../../actors/runtime/ports.ts';
import { ClusterBus } from '../../../src/cluster/bus/cluster-bus.ts';
import { LINGER_MS } from '../../../src/cluster/bus/peer-streams.ts';
import type { FactWire } from '../../../src/cluster/bus/wire.ts';
import type { Fact } from '../../../src/platform/bus.ts';
import { SILENT } from '../../support/database.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

type Listener = Parameters<FactWire['listen']>[0];

/** Timers run in steps of this length, so that what they start ends between them. */
const STEP_MS = 10;

export class StageWire implements FactWire {
  readonly #channel: Set<StageWire>;
  #listener: Listener | undefined;
  /** What happens to what this node sends: `hangs` never answers. `unanswered` arrives, but the sender does not learn it. */
  sends: 'arrives' | 'refused' | 'hangs' | 'unanswered' = 'arrives';
  /** Whether messages arrive here. A cut that nobody notices leaves the connection as it is. */
  receives = true;
  renewals = 0;

  constructor(channel: Set<StageWire>) {
    this.#channel = channel;
    channel.add(this);
  }

  async publish(text: string): Promise<void> {
    if (this.sends === 'refused') throw new Error('no connection');
    if (this.sends === 'hangs') return new Promise(() => undefined);
    for (const wire of this.#channel) wire.arrive(text);
    if (this.sends === 'unanswered') throw new Error('no answer');
  }

  arrive(text: string): void {
    if (this.receives) this.#listener?.message(text);
  }

  listen(listener: Listener): void {
    this.#listener = listener;
    listener.up();
  }

  lose(): void {
    this.receives = false;
    this.#listener?.down();
  }

  comeBack(): void {
    this.receives = true;
    this.#listener?.up();
  }

  renew(): void {
    this.renewals += 1;
  }

  close(): void {
    this.#channel.delete(this);
  }
}

export interface StageNode {
  readonly address: string;
  readonly bus: ClusterBus;
  readonly wire: StageWire;
  /** Facts that a cache and a listener have heard, and when everything was dropped or decided anew. */
  readonly self: ClusterNode;
  readonly heard: (Fact['kind'] | 'everything' | 'resync')[];
  readonly errors: object[];
}

export class BusStage {
  readonly clock = new VirtualClock();
  readonly channel = new Set<StageWire>();
  /** The live nodes, as all see them. */
  members: readonly ClusterNode[] = [];
  #incarnations = 0;

  /** `nodes`: the live nodes as this one sees them. */
  node(address: string, nodes = () => this.members): StageNode {
    const wire = new StageWire(this.channel);
    const self = { address, incarnation: `incarnation ${this.#incarnations++}`, isDraining: false };
    const errors: object[] = [];
    const log = { ...SILENT, error: (fields: object) => void errors.push(fields) };
    const bus = new ClusterBus({ address, wire, clock: this.clock, log, placement: { nodes, self: () => self } });
    const heard: StageNode['heard'] = [];
    const note = (fact: Fact) => void heard.push(fact.kind);
    bus.cache('cache', {
      everything: () => void heard.push('everything'),
      'token.revoked': note,
      'account.changed': note,
      'person.changed': note,
    });
    bus.listen('listener', { resync: () => void heard.push('resync') });
    bus.start();
    this.members = [...this.members, self];
    return { address, self, bus, wire, heard, errors };
  }

  leave(address: string): void {
    this.members = this.members.filter((node) => node.address !== address);
  }

  /** Lets the time pass, and what it starts end. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      this.clock.advance(Math.min(STEP_MS, ms - passed));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Nodes that have heard each other, with nothing noted. */
  async settled(...addresses: string[]): Promise<StageNode[]> {
    const nodes = addresses.map((address) => this.node(address));
    await this.pass(LINGER_MS + 1000);
    for (const node of nodes) node.heard.length = 0;
    return nodes;
  }
}
