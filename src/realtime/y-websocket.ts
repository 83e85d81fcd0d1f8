/** Protocol A of wire.md: one document on one socket, for y-websocket's provider. */
import type { ArtifactHead, Principal } from '../../actors/access/access.ts';
import type { Clock, Log, Timer } from '../../actors/runtime/ports.ts';
import { CLOSE, type CloseCode } from '../../protocol/core/close-codes.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { networkOf } from '../edge/address.ts';
import { type AccessNow, closeCodeOf, ENDS, type OpenAccess } from '../edge/open-access.ts';
import type { Link, SocketCall, SocketProtocol, SocketSession } from '../edge/socket.ts';
import type { Identities, Identity } from '../features/people/identities/identities.ts';
import { AnswerBatch } from './answer-batch.ts';
import { applyUpdate } from './apply-update.ts';
import { type CollaborationScope, collaborationScope } from './collaboration-access.ts';
import type { Connections } from './connections.ts';
import type { Rooms, Seat } from './room-types.ts';
import { type DocumentMessage, frameDenied, frameKeepAlive, frameSyncUpdate, keptFrame, readMessage } from './wire.ts';

export interface YWebsocketDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly heads: { get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> };
  readonly watch: Pick<OpenAccess, 'watch'>;
  readonly identities: Pick<Identities, 'of'>;
  readonly connections: Pick<Connections, 'join'>;
  readonly rooms: Rooms & { warm(artifactId: ArtifactId, document: string): void | Promise<void> };
  /** Globally unique. */
  readonly newSessionId: () => string;
}

/** Interval of keep-alives. Clients give up a connection on which no data arrives for 30 s. Source: wire.md. */
const KEEP_ALIVE_MS = 20_000;
/** Twice the limit of an update. An update above the limit is refused and the connection stays; a larger frame closes it. */
const MESSAGE_BYTES_MAX = 2 * LIMITS.updateBytesMax;
/** Backlog above which a peer gets one difference later instead of every change. */
const HIGH_WATER_BYTES = 256 * 1024;
/** Bytes that may wait while the document is opened. */
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
    // Clients reconnect at once after every close, so everything that can be refused is refused before the upgrade.
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
  #principal: Principal;
  readonly #artifactId: ArtifactId;
  readonly #document: string;
  readonly #network: string;
  readonly #onClosed: () => void;
  #seat: Seat | undefined;
  #scope: CollaborationScope = 'readonly';
  /** Messages that arrived before the document was open. */
  #held: DocumentMessage[] = [];
  #heldBytes = 0;
  readonly #echoes: AnswerBatch;
  /** One of its changes was refused, and its later changes build on that one, so they are refused too. */
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
    this.#network = networkOf(call.address);
    this.#onClosed = onClosed;
    this.#echoes = new AnswerBatch(link, (frame) => link.send(frame));
  }

  async start(): Promise<void> {
    const { identities, heads, watch } = this.#deps;
    try {
      const identity = await identities.of(this.#principal, this.#deps.newSessionId());
      const head = await heads.get(this.#artifactId);
      if (this.#isClosed) return;
      // The decision and the watch begin in one turn, so that no change of access is missed between them.
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
    // The bytes are valid in this turn only, and updates outlive it.
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
    const member = { link: this.#link, address: undefined, network: this.#network, principal: this.#principal, identity, over };
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
    this.#close(CLOSE.overloaded, 'Too much was sent before the document was open.');
  }

  #perform(seat: Seat, message: DocumentMessage): void {
    switch (message.kind) {
      case 'step1':
        seat.requested({ stateVector: message.stateVector });
        break;
      case 'step2':
      case 'update':
        if (message.kind === 'step2') seat.answered();
        if (!this.#isDeaf && this.#scope === 'read-write') this.#change(seat, message);
        break;
      case 'awareness':
        seat.awareness(message.states);
        break;
      case 'queryAwareness':
        seat.requested({ awareness: true });
        break;
      // Messages of protocol B, or ones that only a server sends.
      case 'token':
      case 'stateless':
      case 'close':
      case 'unexpected':
        break;
      default:
        message satisfies never;
    }
  }

  #change(seat: Seat, arrived: Extract<DocumentMessage, { kind: 'step2' | 'update' }>): void {
    const taken = () => {
      // The echo of an update tells its sender that it is durable; clients of version 4 show that.
      if (arrived.kind === 'update') this.#echoes.add(frameSyncUpdate(arrived.update));
    };
    const notTaken = (error: unknown) => this.#notTaken(error);
    applyUpdate(seat, arrived, taken, notTaken);
  }

  #notTaken(error: unknown): void {
    if (this.#isClosed) return;
    if (error instanceof Failure && !AWAY.has(error.code)) this.#refuse(`${error.code}: ${error.message}`);
    // The outcome is unknown. The client syncs again when it reconnects.
    else this.#closeFor(error);
  }

  /** Refuses this and all later changes. The connection stays, because a disconnected client reconnects at once and sends the same again. */
  #refuse(reason: string): void {
    if (this.#isDeaf) return;
    this.#isDeaf = true;
    this.#link.send(frameDenied(reason));
  }

  #accessChanged(now: AccessNow): void {
    if ('over' in now) {
      this.#close(closeCodeOf(now.over), ENDS[now.over]);
      return;
    }
    const before = this.#scope;
    this.#principal = now.principal;
    try {
      this.#scope = collaborationScope(now.head, this.#principal);
    } catch (error) {
      this.#closeFor(error);
      return;
    }
    // The answer includes changes that the link dropped meanwhile.
    if (before === 'readonly' && this.#scope === 'read-write') this.#seat?.sendStep1();
  }

  #closeFor(error: unknown): void {
    if (!(error instanceof Failure)) {
      this.#deps.log.error({ err: error, artifactId: this.#artifactId }, 'a document could not be served');
      this.#close(CLOSE.overloaded, 'The document cannot be loaded now.');
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
