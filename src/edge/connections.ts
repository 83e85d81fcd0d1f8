/** Counts the connections that are neither WebSockets nor streams, and keeps them within the descriptors that are left for them. */
import type { HttpResponse } from 'uWebSockets.js';
import type { Clock } from '../../actors/runtime/ports.ts';
import type { ConnectionCaps } from '../platform/descriptors.ts';
import type { Refusals } from '../platform/shares.ts';
import { canonicalAddress, networkOf } from './address.ts';

/** uWebSockets closes a connection that has been idle for 10 s, with a resolution of 4 s. Whoever opened more than its share in this time may still hold them. */
const RECENT_MS = 15_000;
const TIGHT_PART = 0.4;
/** Of the share of a network: who has opened no more lately has few. */
const FEW_PART = 0.1;
/** The rest is for networks that callers with a credential have come from lately, so that strangers from any number of networks leave it to them. */
const STRANGERS_PART = 0.75;
/** How many networks are remembered; those that came first are forgotten first. */
const KNOWN_MAX = 10_000;
/** How long a credential vouches for its network without being asked for its address again. */
const VOUCHED_MS = 60_000;
const LOOPBACK = ['127.0.0.1', '::1'].map(networkOf);
const RESOURCE = 'connections';

export interface ConnectionDeps {
  readonly caps: ConnectionCaps['plain'];
  readonly clock: Clock;
  readonly refusals: Refusals;
  /** Streams that are open; their connections have a cap of their own. */
  readonly streams: () => number;
  /** Behind a proxy every connection has the proxy's address, which therefore has no share. */
  readonly trustProxy: boolean;
}

export class Connections {
  readonly #deps: ConnectionDeps;
  #open = 0;
  /** Connections opened by each network in this period and the one before; each is `RECENT_MS` long. */
  #opened = new Map<string, number>();
  #openedBefore = new Map<string, number>();
  #periodEndsMs = 0;
  #deserted: (() => void)[] = [];
  /** Probes of this machine come from its own address. */
  #known = new Set(LOOPBACK);
  /** When each credential vouched for its network. */
  readonly #vouched = new Map<string, number>();

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
  }

  get count(): number {
    return this.#open - this.#deps.streams();
  }

  /** A good part of them is taken, less than one network may have: most answers close their connections, so that idle ones do not add up. */
  get isTight(): boolean {
    return this.count > this.#deps.caps.total * TIGHT_PART;
  }

  /** Whether the answer to this request closes its connection. Who has shown a credential and opens few connections keeps them, also in a flood. */
  closesIdle(request: { readonly address: string }): boolean {
    if (!this.isTight) return false;
    const { caps, trustProxy } = this.#deps;
    if (trustProxy) return true;
    const network = networkOf(request.address);
    return !this.#known.has(network) || this.#recentlyOpened(network) > caps.network * FEW_PART;
  }

  /** So many were open before. */
  begin(open: number): void {
    this.#open = open;
  }

  /** The filter of uWebSockets: 1 for a new connection, -1 for one that has ended as HTTP. It does not hear of the end of a WebSocket. */
  changed(response: HttpResponse, change: number): void {
    this.#open += change;
    if (change > 0 && !this.#admits(response)) response.close();
    this.#left();
  }

  /** Resolves when none is left. */
  deserted(): Promise<void> {
    if (this.#open <= 0) return Promise.resolve();
    return new Promise((resolve) => this.#deserted.push(resolve));
  }

  /** The connection is a WebSocket from now on. */
  upgraded(): void {
    this.#open -= 1;
    this.#left();
  }

  /** A request with a valid credential: its network may connect where strangers no longer may. */
  vouch(request: { readonly caller: string | undefined; readonly address: string; readonly nowMs: number }): void {
    const { caller, nowMs } = request;
    if (caller === undefined || nowMs - (this.#vouched.get(caller) ?? 0) < VOUCHED_MS) return;
    remember(this.#vouched, caller, nowMs);
    // Read last, because it costs a call into C++.
    const network = networkOf(request.address);
    this.#known.delete(network);
    this.#known.add(network);
    if (this.#known.size <= KNOWN_MAX) return;
    this.#known = new Set([...LOOPBACK, ...[...this.#known].slice(KNOWN_MAX / 2)]);
  }

  #left(): void {
    if (this.#open === 0) for (const resolve of this.#deserted.splice(0)) resolve();
  }

  #admits(response: HttpResponse): boolean {
    const { caps, refusals, trustProxy } = this.#deps;
    if (this.count > caps.total) {
      refusals.refused(RESOURCE, 'total');
      return false;
    }
    if (trustProxy) return true;
    const network = networkOf(canonicalAddress(Buffer.from(response.getRemoteAddressAsText()).toString('latin1')));
    const opened = this.#countOpened(network);
    if (this.count > caps.total * STRANGERS_PART && !this.#known.has(network)) {
      refusals.refused(RESOURCE, 'total');
      return false;
    }
    if (opened <= caps.network || !this.isTight) return true;
    refusals.refused(RESOURCE, 'network');
    return false;
  }

  #countOpened(network: string): number {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs >= this.#periodEndsMs) {
      this.#openedBefore = nowMs >= this.#periodEndsMs + RECENT_MS ? new Map() : this.#opened;
      this.#opened = new Map();
      this.#periodEndsMs = nowMs + RECENT_MS;
    }
    const opened = (this.#opened.get(network) ?? 0) + 1;
    this.#opened.set(network, opened);
    return this.#recentlyOpened(network);
  }

  #recentlyOpened(network: string): number {
    return (this.#opened.get(network) ?? 0) + (this.#openedBefore.get(network) ?? 0);
  }
}

function remember(vouched: Map<string, number>, caller: string, nowMs: number): void {
  if (vouched.size >= KNOWN_MAX) vouched.clear();
  vouched.set(caller, nowMs);
}
