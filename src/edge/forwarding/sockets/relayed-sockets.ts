/** The front's side of WebSockets: those of clients that are connected here, for artifacts that other nodes own. */
import type { TemplatedApp, WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { CLOSE } from '../../../../protocol/core/close-codes.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type Holders, type Refusals, Shares } from '../../../platform/shares.ts';
import { networkOf } from '../../address.ts';
import type { Exchange } from '../../exchange.ts';
import { encodeHead, headersOf } from '../heads.ts';
import type { PeerStream } from '../peer-stream.ts';
import { Lane } from './lane.ts';
import { decodePublished, decodeShared, RECORD } from './records.ts';
import { CLOSE_GOING_AWAY, type Decision, type RelayedData, RelayedSocket } from './relayed-socket.ts';

const MOVED = 'The node that has the artifact was lost.';

export interface RelayedSocketsDeps {
  /** Opens a stream to the node at the address. Throws or rejects where it cannot be reached. */
  readonly open: (address: string, head: Buffer) => PeerStream | Promise<PeerStream>;
  /** Throws UNAVAILABLE where no further socket may be open at this node. */
  readonly sit: (holders: Holders) => void;
  readonly leave: (holders: Holders) => void;
  /** A connection has become a WebSocket. */
  readonly upgraded: () => void;
  readonly isDraining: () => boolean;
  readonly refusals: Refusals;
}

type RelayedBehavior = Required<Pick<WebSocketBehavior<RelayedData>, 'maxBackpressure' | 'maxPayloadLength'>>;

export class RelayedSockets {
  readonly #deps: RelayedSocketsDeps;
  readonly #owners = new Map<string, Owner>();
  readonly #opening = new Map<string, Promise<Owner>>();
  /** Messages of clients that wait for their owners. */
  readonly #shares = new Shares({
    total: LIMITS.framesWaitingBytesMax,
    network: LIMITS.framesWaitingBytesPerCallerMax,
    caller: LIMITS.framesWaitingBytesPerCallerMax,
    artifact: LIMITS.framesWaitingBytesPerArtifactMax,
  });
  #app: Pick<TemplatedApp, 'publish'> | undefined;
  #lanes = 0;

  constructor(deps: RelayedSocketsDeps) {
    this.#deps = deps;
  }

  get count(): number {
    let count = 0;
    for (const { sockets } of this.#owners.values()) count += sockets.size;
    return count;
  }

  *[Symbol.iterator](): Iterator<RelayedSocket> {
    for (const { sockets } of this.#owners.values()) yield* sockets.values();
  }

  /** Sockets are published to through this app. */
  attach(app: Pick<TemplatedApp, 'publish'>): void {
    this.#app = app;
  }

  /** Asks the owner at the address for a WebSocket. Throws or rejects where the owner cannot be reached, and with UNAVAILABLE. */
  async ask(exchange: Exchange, artifactId: ArtifactId, address: string): Promise<Decision & { readonly relayed: RelayedSocket }> {
    if (this.#deps.isDraining()) throw new Failure('UNAVAILABLE', { message: 'The process is draining.' });
    const holders: Holders = { network: networkOf(exchange.address), artifact: artifactId };
    const owner = await this.#owner(address);
    if (owner.lane.isCongested)
      throw new Failure('UNAVAILABLE', { message: 'The node that has the artifact is too slow now.', retryAfterS: 1 });
    this.#deps.sit(holders);
    const { method, path, query, headers, requestId } = exchange;
    const head = encodeHead({ method, path, query, headers: headersOf(headers, requestId), address: exchange.address });
    return new Promise((resolve) => {
      const relayed: RelayedSocket = owner.ask(head, holders, (decision) => resolve({ ...decision, relayed }));
      exchange.onAbort(() => {
        relayed.closed(CLOSE_GOING_AWAY, new ArrayBuffer(0));
        resolve({ kind: 'lost', relayed });
      });
    });
  }

  opened(relayed: RelayedSocket, socket: WebSocket<RelayedData>, { maxPayloadLength, maxBackpressure }: RelayedBehavior): void {
    this.#deps.upgraded();
    const waitingBytesMax = LIMITS.framesWaitingPerSocketBytesMax + maxPayloadLength;
    relayed.opened(socket, { waitingBytesMax, highWaterBytes: maxBackpressure });
  }

  said(relayed: RelayedSocket, data: ArrayBuffer, isBinary: boolean): void {
    if (relayed.said(data, isBinary)) return;
    this.#deps.refusals.refused('frames of sockets', 'total');
    relayed.close(CLOSE.overloaded, 'More was sent than can be handled now.');
  }

  /** Closes every socket with a code that makes its peer reconnect, because this node stops. */
  closeAll(): void {
    for (const relayed of [...this]) relayed.close(CLOSE.moved, 'The server is stopping.');
  }

  close(): void {
    for (const { lane } of [...this.#owners.values()]) lane.close();
  }

  #owner(address: string): Owner | Promise<Owner> {
    const known = this.#owners.get(address);
    if (known !== undefined) return known;
    const opening = this.#opening.get(address);
    if (opening !== undefined) return opening;
    const made = Promise.resolve(this.#deps.open(address, encodeHead({ lane: 'sockets' })))
      .then((stream) => this.#opened(address, stream))
      .finally(() => this.#opening.delete(address));
    this.#opening.set(address, made);
    return made;
  }

  #opened(address: string, stream: PeerStream): Owner {
    this.#lanes += 1;
    const owner: Owner = new Owner(stream, {
      ...this.#deps,
      shares: this.#shares,
      name: `lane${this.#lanes}`,
      publish: (topic, frame, isBinary) => void this.#app?.publish(topic, frame, isBinary),
      lost: () => {
        if (this.#owners.get(address) === owner) this.#owners.delete(address);
      },
    });
    this.#owners.set(address, owner);
    return owner;
  }
}

interface OwnerDeps extends Pick<RelayedSocketsDeps, 'leave'> {
  readonly shares: Shares;
  /** Distinguishes its topics from those of others. */
  readonly name: string;
  readonly publish: (topic: string, frame: Uint8Array, isBinary: boolean) => void;
  readonly lost: () => void;
}

/** One node that owns artifacts of clients of this one. */
class Owner {
  readonly lane: Lane;
  readonly sockets = new Map<number, RelayedSocket>();
  readonly #deps: OwnerDeps;
  #next = 1;

  constructor(stream: PeerStream, deps: OwnerDeps) {
    this.#deps = deps;
    this.lane = new Lane(stream, {
      record: (type, id, payload) => {
        if (type === RECORD.publish) this.#publish(payload);
        else if (type === RECORD.shared) this.#share(payload);
        else this.sockets.get(id)?.record(type, payload);
      },
      knows: (id) => this.sockets.has(id),
      flowing: () => undefined,
      lost: () => {
        deps.lost();
        for (const socket of [...this.sockets.values()]) socket.lost(CLOSE.moved, MOVED);
      },
    });
  }

  ask(head: Buffer, holders: Holders, decided: (decision: Decision) => void): RelayedSocket {
    const id = this.#newId();
    const relayed = new RelayedSocket({
      lane: this.lane,
      id,
      holders,
      shares: this.#deps.shares,
      topic: (name) => this.#topic(name),
      decided,
      over: () => {
        this.sockets.delete(id);
        this.#deps.leave(holders);
      },
    });
    this.sockets.set(id, relayed);
    this.lane.sendWhole(RECORD.open, id, head);
    return relayed;
  }

  /** 0 is the id of what is published. */
  #newId(): number {
    do this.#next = this.#next === 0xffff_ffff ? 1 : this.#next + 1;
    while (this.sockets.has(this.#next));
    return this.#next;
  }

  #topic(name: string): string {
    return `${this.#deps.name} ${name}`;
  }

  #share(payload: Buffer): void {
    const { ids, isBinary, message } = decodeShared(payload);
    for (const id of ids) this.sockets.get(id)?.record(isBinary ? RECORD.binary : RECORD.text, message);
  }

  /** uWebSockets leaves out one at most, the one that publishes. */
  #publish(payload: Buffer): void {
    const { topic: name, isBinary, except, frame } = decodePublished(payload);
    const topic = this.#topic(name);
    if (except.length > 1) {
      const left = new Set(except);
      for (const [id, { socket }] of this.sockets) if (!left.has(id) && socket?.isSubscribed(topic)) socket.send(frame, isBinary);
      return;
    }
    const author = except[0] === undefined ? undefined : this.sockets.get(except[0])?.socket;
    if (author?.isSubscribed(topic)) author.publish(topic, frame, isBinary);
    else this.#deps.publish(topic, frame, isBinary);
  }
}
