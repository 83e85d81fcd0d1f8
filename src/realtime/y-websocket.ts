/** Protocol A of wire.md: one document on one socket, as y-websocket's provider speaks it. */
import type { ArtifactHead, Principal } from '../../actors/access.ts';
import type { Clock, Log, Timer } from '../../actors/ports.ts';
import { CLOSE, type CloseCode } from '../../protocol/close-codes.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Link, SocketCall, SocketProtocol, SocketSession } from '../edge/socket.ts';
import { type AccessNow, type AccessWatch, closeCodeOf } from '../services/access-watch.ts';
import type { Identities, Identity } from '../services/identities.ts';
import { AnswerBatch } from './answer-batch.ts';
import { type CollaborationScope, collaborationScope } from './collaboration-access.ts';
import type { Connections } from './connections.ts';
import type { Rooms, Seat } from './room-types.ts';
import { type DocumentMessage, frameDenied, frameKeepAlive, frameSyncUpdate, keptFrame, readMessage } from './wire.ts';

export interface YWebsocketDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
  readonly watch: Pick<AccessWatch, 'watch'>;
  readonly identities: Pick<Identities, 'of'>;
  readonly connections: Pick<Connections, 'join'>;
  readonly rooms: Rooms & { warm(artifactId: ArtifactId, document: string): void | Promise<void> };
  /** Unlike any other in the world. */
  readonly newSessionId: () => string;
}

/** Clients give up a connection on which no data has come for 30 s. Source: wire.md. */
const KEEP_ALIVE_MS = 20_000;
/** Twice an update: one that is too large is refused and its sender stays; only what is larger still closes the connection. */
const MESSAGE_BYTES_MAX = 2 * LIMITS.updateBytesMax;
/** A peer with so much waiting gets one difference later, instead of every change. */
const HIGH_WATER_BYTES = 256 * 1024;
/** What waits while the document is opened. */
const OPENING_BYTES_MAX = MESSAGE_BYTES_MAX;
const OPENING_MESSAGES_MAX = 1000;

const AWAY = new Set(['UNAVAILABLE', 'OWNER_MOVED']);

export function yWebsocket(deps: YWebsocketDeps): SocketProtocol {
  const sessions = new Set<YWebsocketSession>();
  let timer: Timer | undefined;
  const keepAlive = () => {
    timer = sessions.size === 0 ? undefined : deps.clock.after(KEEP_ALIVE_MS, keepAlive);
    const frame = frameKeepAlive();
    for (const session of sessions) session.keepAlive(frame);
  };
  return {
    messageBytesMax: MESSAGE_BYTES_MAX,
    highWaterBytes: HIGH_WATER_BYTES,
    // Its clients take every close for a reason to come back at once: what can be refused is refused before.
    admit: ({ params }) => deps.rooms.warm(params.artifactId as ArtifactId, params.doc as string),
    open: (link, call) => {
      const session = new YWebsocketSession(link, call, deps, () => {
        sessions.delete(session);
        if (sessions.size > 0) return;
        timer?.cancel();
        timer = undefined;
      });
      sessions.add(session);
      timer ??= deps.clock.after(KEEP_ALIVE_MS, keepAlive);
      void session.start();
      return session;
    },
  };
}

class YWebsocketSession implements SocketSession {
  readonly #link: Link;
  readonly #deps: YWebsocketDeps;
  readonly #principal: Principal;
  readonly #artifactId: ArtifactId;
  readonly #document: string;
  readonly #onClosed: () => void;
  #seat: Seat | undefined;
  #scope: CollaborationScope = 'readonly';
  /** What came before the document was open. */
  #held: DocumentMessage[] = [];
  #heldBytes = 0;
  readonly #echoes: AnswerBatch;
  /** One of its changes was refused: those after it build upon what the server does not have. */
  #isDeaf = false;
  #isClosed = false;
  #unwatch: (() => void) | undefined;
  #disconnect: (() => void) | undefined;

  constructor(link: Link, call: SocketCall, deps: YWebsocketDeps, onClosed: () => void) {
    this.#link = link;
    this.#deps = deps;
    this.#principal = call.principal;
    this.#artifactId = call.params.artifactId as ArtifactId;
    this.#document = call.params.doc as string;
    this.#onClosed = onClosed;
    this.#echoes = new AnswerBatch(link, (frame) => link.send(frame));
  }

  async start(): Promise<void> {
    const { identities, heads, watch } = this.#deps;
    try {
      const identity = await identities.of(this.#principal, this.#deps.newSessionId());
      const head = await heads.get(this.#artifactId);
      if (this.#isClosed) return;
      // Decided and watched in one turn: no change of the access falls between them.
      this.#scope = collaborationScope(head, this.#principal);
      this.#unwatch = watch.watch(this.#artifactId, this.#principal, (now) => this.#accessChanged(now));
      this.#disconnect = this.#deps.connections.join(this.#artifactId, identity);
      const seat = await this.#sit(identity);
      if (this.#isClosed) seat.leave();
      else this.#open(seat);
    } catch (error) {
      this.#closeFor(error);
    }
  }

  message(data: ArrayBuffer, isBinary: boolean): void {
    if (this.#isClosed) return;
    if (!isBinary) {
      this.#refuse('This protocol has binary frames only.');
      return;
    }
    // Updates are kept, and the bytes are lent for this turn only.
    const read = readMessage(keptFrame(data));
    if (read.kind === 'malformed') this.#refuse(`Malformed frame: ${read.reason}`);
    else if (this.#seat !== undefined) this.#perform(this.#seat, read);
    else this.#hold(read, data.byteLength);
  }

  keepAlive(frame: Uint8Array): void {
    if (this.#link.bufferedBytes === 0) this.#link.send(frame);
  }

  skipped(): void {
    this.#seat?.skipped();
  }

  drained(): void {
    this.#seat?.drained();
  }

  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClosed();
    this.#unwatch?.();
    this.#disconnect?.();
    this.#seat?.leave();
    this.#held = [];
  }

  #sit(identity: Identity): Seat | Promise<Seat> {
    const over = () => this.#close(CLOSE.moved, 'The document has moved.');
    const member = { link: this.#link, address: undefined, principal: this.#principal, identity, over };
    return this.#deps.rooms.join(this.#artifactId, this.#document, member);
  }

  #open(seat: Seat): void {
    this.#seat = seat;
    seat.sendStep1();
    seat.sendAwareness();
    const held = this.#held;
    this.#held = [];
    for (const message of held) if (!this.#isClosed) this.#perform(seat, message);
  }

  #hold(message: DocumentMessage, bytes: number): void {
    this.#held.push(message);
    this.#heldBytes += bytes;
    if (this.#heldBytes <= OPENING_BYTES_MAX && this.#held.length <= OPENING_MESSAGES_MAX) return;
    this.#close(CLOSE.overloaded, 'More than may wait until the document is open.');
  }

  #perform(seat: Seat, message: DocumentMessage): void {
    switch (message.kind) {
      case 'step1':
        seat.sendStep2(message.stateVector);
        break;
      case 'step2':
      case 'update':
        if (!this.#isDeaf && this.#scope === 'read-write') this.#change(seat, message);
        break;
      case 'awareness':
        seat.awareness(message.states);
        break;
      case 'queryAwareness':
        seat.sendAwareness();
        break;
      // Of the other protocol, or of the server.
      case 'token':
      case 'stateless':
      case 'close':
      case 'unexpected':
        break;
      default:
        message satisfies never;
    }
  }

  #change(seat: Seat, { kind, update }: Extract<DocumentMessage, { kind: 'step2' | 'update' }>): void {
    const taken = () => {
      // To its sender an update that comes back is durable: clients of version 4 show it.
      if (kind === 'update') this.#echoes.add(frameSyncUpdate(update));
    };
    const notTaken = (error: unknown) => this.#notTaken(error);
    try {
      const outcome = seat.apply(update);
      if (outcome instanceof Promise) outcome.then(taken, notTaken);
      else taken();
    } catch (error) {
      notTaken(error);
    }
  }

  #notTaken(error: unknown): void {
    if (this.#isClosed) return;
    if (error instanceof Failure && !AWAY.has(error.code)) this.#refuse(`${error.code}: ${error.message}`);
    // Nobody knows what became of it: the client syncs again when it is back.
    else this.#closeFor(error);
  }

  /** Once and for good. The connection stays: the client would come back at once and send the same again. */
  #refuse(reason: string): void {
    if (this.#isDeaf) return;
    this.#isDeaf = true;
    this.#link.send(frameDenied(reason));
  }

  #accessChanged(now: AccessNow): void {
    if ('over' in now) {
      this.#close(closeCodeOf(now.over), `Access has ended: ${now.over}.`);
      return;
    }
    const before = this.#scope;
    try {
      this.#scope = collaborationScope(now.head, this.#principal);
    } catch (error) {
      this.#closeFor(error);
      return;
    }
    // What was left out meanwhile comes with the answer.
    if (before === 'readonly' && this.#scope === 'read-write') this.#seat?.sendStep1();
  }

  #closeFor(error: unknown): void {
    if (!(error instanceof Failure)) {
      this.#deps.log.error({ err: error, artifactId: this.#artifactId }, 'a document could not be served');
      this.#close(CLOSE.overloaded, 'The document cannot be had now.');
      return;
    }
    const code: Partial<Record<Failure['code'], CloseCode>> = {
      OWNER_MOVED: CLOSE.moved,
      UNAVAILABLE: CLOSE.overloaded,
      UNAUTHORIZED: CLOSE.unauthorized,
      ARTIFACT_NOT_FOUND: CLOSE.gone,
      DOCUMENT_LIMIT_EXCEEDED: CLOSE.refused,
    };
    this.#close(code[error.code] ?? CLOSE.revoked, error.message);
  }

  #close(code: CloseCode, reason: string): void {
    if (!this.#isClosed) this.#link.close(code, reason);
  }
}
