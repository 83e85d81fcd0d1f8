/** The front's side of one WebSocket: the client is connected here, and the owner of its artifact, another node, decides what is said to it. */
import type { WebSocket } from 'uWebSockets.js';
import type { Holders, Shares } from '../../../platform/shares.ts';
import { type Answer, upgradeAnswer } from '../../answer.ts';
import { type AnswerHead, decodeHead } from '../heads.ts';
import { type Lane, Way } from './lane.ts';
import { decodeClose, encodeClose, encodeTaken, RECORD } from './records.ts';

/** The owner hears of what the client has taken in such steps, because each costs a record. */
export const REPORT_BYTES = 32 * 1024;

/** RFC 6455, 7.4.1. */
export const CLOSE_GOING_AWAY = 1001;

/** User data of the socket. */
export interface RelayedData {
  readonly relayed: RelayedSocket;
}

/** What the owner says about an upgrade. `lost`: nothing. */
export type Decision =
  | { readonly kind: 'upgraded' }
  | { readonly kind: 'refused'; readonly head: AnswerHead; readonly body: Buffer }
  | { readonly kind: 'lost' };

export interface RelayedDeps {
  readonly lane: Lane;
  readonly id: number;
  readonly holders: Holders;
  /** Of messages of clients that wait for the owner. */
  readonly shares: Pick<Shares, 'take' | 'takeAnyway' | 'give'>;
  /** The topic of the owner as one of this node. */
  readonly topic: (name: string) => string;
  readonly decided: (decision: Decision) => void;
  /** Called once, when nothing of it is left here. */
  readonly over: () => void;
}

interface Held {
  readonly type: number;
  readonly payload: Buffer;
}

/** The messages of one client that may wait for the owner, and how much may wait for the client. */
export interface Bounds {
  readonly waitingBytesMax: number;
  readonly highWaterBytes: number;
}

type State = 'asking' | 'upgraded' | 'open' | 'over';

export class RelayedSocket {
  readonly network: string;
  drains = 0;
  readonly #deps: RelayedDeps;
  readonly #way: Way;
  #state: State = 'asking';
  #socket: WebSocket<RelayedData> | undefined;
  #bounds: Bounds = { waitingBytesMax: 0, highWaterBytes: 0 };
  /** What the owner has sent that the client's socket has no room for yet, or that came before the socket was open. */
  #held: Held[] = [];
  #heldBytes = 0;
  /** Bytes that the owner has not been told of, and how many it believes to wait here. */
  #untold = 0;
  #toldWaiting = 0;

  constructor(deps: RelayedDeps) {
    this.#deps = deps;
    this.network = deps.holders.network ?? '';
    this.#way = new Way(deps.lane, deps.id, (bytes) => deps.shares.give(bytes, deps.holders));
  }

  get socket(): WebSocket<RelayedData> | undefined {
    return this.#socket;
  }

  /** Bytes that the client has not taken. */
  get unreadBytes(): number {
    return this.#heldBytes + (this.#socket?.getBufferedAmount() ?? 0);
  }

  /** Makes the client's connection a WebSocket. */
  answer(): Answer {
    const userData: RelayedData = { relayed: this };
    return upgradeAnswer({ userData, abandoned: () => this.closed(CLOSE_GOING_AWAY, new ArrayBuffer(0)) });
  }

  opened(socket: WebSocket<RelayedData>, bounds: Bounds): void {
    if (this.#state !== 'upgraded') {
      // The owner was lost while the answer was on its way to the client.
      socket.close();
      return;
    }
    this.#state = 'open';
    this.#socket = socket;
    this.#bounds = bounds;
    this.#release();
  }

  /** A message of the client. False where there is no room for it. */
  said(message: ArrayBuffer, isBinary: boolean): boolean {
    if (this.#state !== 'open') return true;
    const bytes = new Uint8Array(message);
    if (this.#way.holdsBack(bytes.length)) {
      if (this.#way.waitingBytes + bytes.length > this.#bounds.waitingBytesMax) return false;
      if (this.#deps.shares.take(bytes.length, this.#deps.holders) !== undefined) return false;
    }
    this.#way.send(isBinary ? RECORD.binary : RECORD.text, bytes);
    return true;
  }

  /** A published frame was dropped. */
  missed(): void {
    if (this.#state !== 'open') return;
    // First, so that the owner knows that it has to wait.
    this.#report();
    this.#way.send(RECORD.dropped);
  }

  drained(): void {
    this.drains += 1;
    this.#release();
    this.#report();
  }

  /** The client has left. */
  closed(code: number, reason: ArrayBuffer): void {
    if (this.#state === 'over') return;
    const payload = encodeClose(code, new Uint8Array(reason));
    if (this.#way.holdsBack(payload.length)) this.#deps.shares.takeAnyway(payload.length, this.#deps.holders);
    this.#way.send(RECORD.closed, payload);
    this.#end();
  }

  /** Closes it because of this node. */
  close(code: number, reason: string): void {
    const socket = this.#socket;
    if (socket === undefined) this.closed(code, new ArrayBuffer(0));
    else socket.end(code, reason);
  }

  drop(): void {
    this.#socket?.close();
  }

  /** The owner is lost, and does not hear of this socket any more. */
  lost(code: number, reason: string): void {
    const wasAsking = this.#state === 'asking';
    const socket = this.#socket;
    this.#end();
    if (wasAsking) this.#deps.decided({ kind: 'lost' });
    socket?.end(code, reason);
  }

  record(type: number, payload: Buffer): void {
    if (type === RECORD.upgraded) this.#decide({ kind: 'upgraded' });
    else if (type === RECORD.refused) this.#refused(payload);
    else if (type === RECORD.cut) this.#cut();
    else if (this.#state !== 'open' || this.#held.length > 0) this.#hold(type, payload);
    else if (!this.#take(type, payload)) this.#hold(type, payload);
  }

  #decide(decision: Decision): void {
    if (this.#state !== 'asking') return;
    if (decision.kind === 'upgraded') this.#state = 'upgraded';
    else this.#end();
    this.#deps.decided(decision);
  }

  #refused(payload: Buffer): void {
    if (payload.length === 0) {
      this.#decide({ kind: 'lost' });
      return;
    }
    const { head, body } = decodeHead<AnswerHead>(payload);
    this.#decide({ kind: 'refused', head, body: Buffer.from(body) });
  }

  /** False where the client's socket has no room now. */
  #take(type: number, payload: Buffer): boolean {
    const socket = this.#socket;
    if (socket === undefined) return false;
    if (type === RECORD.subscribe) socket.subscribe(this.#deps.topic(payload.toString()));
    else if (type === RECORD.unsubscribe) socket.unsubscribe(this.#deps.topic(payload.toString()));
    else if (type === RECORD.end) this.#endBy(payload, socket);
    else {
      // Beyond it uWebSockets would drop the message, which the owner believes to be sent.
      if (socket.getBufferedAmount() > this.#bounds.highWaterBytes) return false;
      socket.send(payload, type === RECORD.binary);
      this.#untold += payload.length;
      this.#report();
    }
    return true;
  }

  #hold(type: number, payload: Buffer): void {
    if (this.#state === 'over') return;
    this.#held.push({ type, payload: Buffer.from(payload) });
    this.#heldBytes += payload.length;
  }

  #release(): void {
    const held = this.#held;
    this.#held = [];
    for (const [at, { type, payload }] of held.entries()) {
      if (this.#state !== 'open') return;
      if (!this.#take(type, payload)) {
        this.#held = held.slice(at);
        return;
      }
      this.#heldBytes -= payload.length;
    }
  }

  #report(): void {
    const waiting = this.unreadBytes;
    const hasChanged = waiting > 0 !== this.#toldWaiting > 0 || Math.abs(waiting - this.#toldWaiting) >= REPORT_BYTES;
    if (this.#state !== 'open' || (this.#untold < REPORT_BYTES && !hasChanged)) return;
    this.#deps.lane.send(RECORD.taken, this.#deps.id, encodeTaken(this.#untold, waiting));
    this.#untold = 0;
    this.#toldWaiting = waiting;
  }

  #endBy(payload: Buffer, socket: WebSocket<RelayedData>): void {
    const { code, reason } = decodeClose(payload);
    this.#end();
    socket.end(code, Buffer.from(reason));
  }

  #cut(): void {
    const socket = this.#socket;
    this.#end();
    socket?.close();
  }

  /** uWebSockets must not be asked about the socket any more. */
  #end(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#socket = undefined;
    this.#held = [];
    this.#heldBytes = 0;
    this.#deps.lane.forget(this.#deps.id);
    this.#deps.over();
  }
}
