/** Disconnects WebSocket peers that do not read what waits for them, and those of a network for which too much waits. */
import type { Clock } from '../../actors/runtime/ports.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { Refusals } from '../platform/shares.ts';

const SWEEP_MS = 2000;
/** A peer with less is left alone: the number of connections bounds it. */
const SMALL_BYTES = 64 * 1024;
const RESOURCE = 'socket backlog';

export interface Peer {
  readonly network: string;
  readonly unreadBytes: number;
  /** How often it has taken a part of what waits. */
  readonly drains: number;
  /** Cuts the connection. */
  drop(): void;
}

interface Backlog {
  readonly peer: Peer;
  bytes: number;
  drains: number;
  /** When it is too late to take the next part. */
  untilMs: number;
}

export interface BacklogDeps {
  readonly clock: Clock;
  readonly refusals: Refusals;
  readonly peers: () => Iterable<Peer>;
}

export class SocketBacklogs {
  readonly #deps: BacklogDeps;
  #backlogs = new Map<Peer, Backlog>();
  #isSweeping = false;

  constructor(deps: BacklogDeps) {
    this.#deps = deps;
  }

  /** Call it when a peer has come. */
  watch(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    this.#deps.clock.after(SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#isSweeping = false;
    const nowMs = this.#deps.clock.monotonicMs();
    const backlogs = new Map<Peer, Backlog>();
    let peers = 0;
    for (const peer of this.#deps.peers()) {
      peers += 1;
      const bytes = peer.unreadBytes;
      if (bytes >= SMALL_BYTES) backlogs.set(peer, this.#followed(peer, bytes, nowMs));
    }
    this.#backlogs = backlogs;
    if (peers > 0) this.watch();
    for (const backlog of [...backlogs.values()]) if (nowMs >= backlog.untilMs) this.#drop(backlog);
    this.#dropLargest();
  }

  #followed(peer: Peer, bytes: number, nowMs: number): Backlog {
    const known = this.#backlogs.get(peer);
    const untilMs = known?.drains === peer.drains ? known.untilMs : nowMs + LIMITS.socketStallMs;
    return { peer, bytes, drains: peer.drains, untilMs };
  }

  /** Of a network beyond its share, and of the largest while all are beyond the total. */
  #dropLargest(): void {
    const byNetwork = new Map<string, number>();
    let total = 0;
    for (const { peer, bytes } of this.#backlogs.values()) {
      byNetwork.set(peer.network, (byNetwork.get(peer.network) ?? 0) + bytes);
      total += bytes;
    }
    if (total <= LIMITS.socketBacklogPerNetworkMax) return;
    const largestFirst = [...this.#backlogs.values()].sort(
      (a, b) => (byNetwork.get(b.peer.network) ?? 0) - (byNetwork.get(a.peer.network) ?? 0) || b.bytes - a.bytes,
    );
    for (const backlog of largestFirst) {
      const { network } = backlog.peer;
      const ofNetwork = byNetwork.get(network) ?? 0;
      const isBeyondShare = ofNetwork > LIMITS.socketBacklogPerNetworkMax;
      if (!isBeyondShare && total <= LIMITS.socketBacklogBytesMax) continue;
      byNetwork.set(network, ofNetwork - backlog.bytes);
      total -= backlog.bytes;
      this.#deps.refusals.refused(RESOURCE, isBeyondShare ? 'network' : 'total');
      this.#drop(backlog);
    }
  }

  #drop(backlog: Backlog): void {
    this.#backlogs.delete(backlog.peer);
    backlog.peer.drop();
  }
}
