/** Lets WebSockets in: who asks is decided before the upgrade, and answered like any request where it is refused. */
import type { TemplatedApp, WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { type ArtifactHead, type Principal, standsOnPass } from '../../actors/access.ts';
import type { Clock, Log } from '../../actors/ports.ts';
import { CLOSE } from '../../protocol/close-codes.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { EndpointId, SocketEndpointId } from '../../protocol/table.ts';
import type { Metrics } from '../metrics.ts';
import type { Admission } from './admission.ts';
import type { Answer } from './answer.ts';
import { chain } from './chain.ts';
import type { Exchange } from './exchange.ts';
import type { Operation } from './operation.ts';
import type { Readiness } from './readiness.ts';
import type { Routed } from './router.ts';
import type { SocketCall, SocketProtocol, SocketSession } from './socket.ts';
import { type SeatedSocket, SocketLink } from './socket-link.ts';

export type Sockets = Readonly<Partial<Record<SocketEndpointId, SocketProtocol>>>;

export interface SocketDoorDeps {
  readonly admission: Admission;
  readonly sockets: Sockets;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Without a byte of the peer for this long, answers to pings too, it is gone. uWebSockets' timer has a grain of 4 s. */
const IDLE_S = 60;
/** A client that sends what is too large comes back at once and sends it again; so long it is refused before the upgrade. */
const OVERSIZE_MEMORY_MS = 60_000;
const OVERSIZE_REMEMBERED_MAX = 10_000;
/** How uWebSockets names the reason for which it has closed a socket itself. */
const TOO_BIG = 'Received too big message';
/** RFC 6455, 7.4.1: what was not expected. */
const CLOSE_INTERNAL_ERROR = 1011;
const RETRY_AFTER_S = 5;

/** One connection from its admission to its end. */
interface Seat {
  readonly id: SocketEndpointId;
  readonly call: SocketCall;
  readonly protocol: SocketProtocol;
  readonly artifactId: ArtifactId;
  /** Who is refused after a message that was too large. */
  readonly sender: string;
  link: SocketLink<Seat> | undefined;
  session: SocketSession | undefined;
  /** It is about to be told that something was left out. */
  isSkipping: boolean;
}

type Socket = WebSocket<SeatedSocket<Seat>>;

export class SocketDoor {
  readonly #deps: SocketDoorDeps;
  readonly #seats = new Set<Seat>();
  readonly #perArtifact = new Map<ArtifactId, number>();
  /** Until when, in monotonic ms, by sender. */
  readonly #oversize = new Map<string, number>();

  constructor(deps: SocketDoorDeps) {
    this.#deps = deps;
    deps.metrics.watch('easel_sockets_open', 'WebSockets that are open.', () => this.#seats.size);
    deps.metrics.watch('easel_socket_bytes_buffered', 'Bytes that wait for slow WebSocket peers.', () => this.bufferedBytes);
  }

  get bufferedBytes(): number {
    let bytes = 0;
    for (const { link } of this.#seats) bytes += link?.bufferedBytes ?? 0;
    return bytes;
  }

  speaks(id: EndpointId): id is SocketEndpointId {
    return this.#deps.sockets[id as SocketEndpointId] !== undefined;
  }

  /** Answers the upgrade, or throws or rejects with the Failure that refuses it. */
  enter(exchange: Exchange, { operation, values }: Routed<Operation>): Answer | Promise<Answer> {
    const { access } = operation.endpoint;
    const id = operation.id as SocketEndpointId;
    const protocol = this.#deps.sockets[id];
    if (protocol === undefined || access.who !== 'artifact') throw new Error(`${operation.id} speaks no protocol`);
    const params = operation.readParams(values);
    if (params === undefined) throw new Failure('ARTIFACT_NOT_FOUND');
    const { token: _secret, ...query } = operation.readQuery(exchange.query);
    const artifactId = params[access.param] as ArtifactId;
    const { requestId, address } = exchange;
    const host = exchange.headers.get('host');
    return chain(this.#deps.admission.upgradingPrincipal(exchange, artifactId, access), (principal) =>
      chain(this.#headFor(operation, principal, params), (head) => {
        const call: SocketCall = { requestId, principal, head, params, query, host, address };
        const sender = `${exchange.path} ${credentialOf(principal) ?? address}`;
        this.#refuseOversize(sender);
        this.#refuseTooMany(artifactId);
        return chain(protocol.admit?.(call), () => {
          const seat: Seat = { id, call, protocol, artifactId, sender, link: undefined, session: undefined, isSkipping: false };
          this.#take(seat);
          return upgradeAnswer({ userData: { seat }, abandoned: () => this.#leave(seat) });
        });
      }),
    );
  }

  /** The handlers of one endpoint's sockets. None may throw: uWebSockets would end the process. */
  behavior(id: SocketEndpointId, app: Pick<TemplatedApp, 'publish'>, take: NonNullable<WebSocketBehavior<SeatedSocket<Seat>>['upgrade']>) {
    const protocol = this.#deps.sockets[id];
    if (protocol === undefined) throw new Error(`${id} speaks no protocol`);
    return {
      maxPayloadLength: protocol.messageBytesMax,
      maxBackpressure: protocol.highWaterBytes,
      // A slow peer is told what it has missed once it has caught up; closing it would make it ask for everything.
      closeOnBackpressureLimit: 0,
      idleTimeout: IDLE_S,
      sendPingsAutomatically: true,
      upgrade: take,
      open: (socket: Socket) => this.#open(socket, app),
      message: (socket: Socket, data: ArrayBuffer, isBinary: boolean) => {
        const { seat } = socket.getUserData();
        try {
          seat.session?.message(data, isBinary);
        } catch (error) {
          this.#bug(seat, error);
        }
      },
      dropped: (socket: Socket) => this.#dropped(socket.getUserData().seat),
      drain: (socket: Socket) => this.#drained(socket.getUserData().seat),
      close: (socket: Socket, _code: number, message: ArrayBuffer) => this.#closed(socket.getUserData().seat, message),
    };
  }

  /** The server stops: every peer is told to come back. */
  closeAll(): void {
    for (const { link } of [...this.#seats]) link?.close(CLOSE.moved, 'The server is stopping.');
  }

  /** Without any credential a protocol that authorises by its own frames decides later. */
  #headFor(
    operation: Operation,
    principal: Principal,
    params: SocketCall['params'],
  ): ArtifactHead | undefined | Promise<ArtifactHead | undefined> {
    const { access, socket } = operation.endpoint;
    if (socket === 'frames' && principal.kind === 'anonymous' && !standsOnPass(principal)) return undefined;
    return chain(this.#deps.admission.admit(access, principal, params), ({ head }) => head);
  }

  #refuseOversize(sender: string): void {
    const untilMs = this.#oversize.get(sender);
    if (untilMs === undefined) return;
    const leftMs = untilMs - this.#deps.clock.monotonicMs();
    if (leftMs > 0) {
      throw new Failure('PAYLOAD_TOO_LARGE', {
        message: 'A message of this client was too large.',
        hint: 'Send less at once.',
        retryAfterS: leftMs / 1000,
      });
    }
    this.#oversize.delete(sender);
  }

  #refuseTooMany(artifactId: ArtifactId): void {
    const { state } = this.#deps.readiness;
    if (state === 'draining') throw new Failure('UNAVAILABLE', { message: 'The process is draining.' });
    if (this.#seats.size >= LIMITS.socketsMax) {
      throw new Failure('UNAVAILABLE', { message: 'Too many WebSockets are open.', retryAfterS: RETRY_AFTER_S });
    }
    if ((this.#perArtifact.get(artifactId) ?? 0) >= LIMITS.socketsPerArtifactMax) {
      throw new Failure('UNAVAILABLE', { message: 'Too many WebSockets of this artifact are open.', retryAfterS: RETRY_AFTER_S });
    }
  }

  #take(seat: Seat): void {
    this.#seats.add(seat);
    this.#perArtifact.set(seat.artifactId, (this.#perArtifact.get(seat.artifactId) ?? 0) + 1);
  }

  #leave(seat: Seat): void {
    if (!this.#seats.delete(seat)) return;
    const left = (this.#perArtifact.get(seat.artifactId) ?? 1) - 1;
    if (left > 0) this.#perArtifact.set(seat.artifactId, left);
    else this.#perArtifact.delete(seat.artifactId);
  }

  #open(socket: Socket, app: Pick<TemplatedApp, 'publish'>): void {
    const { seat } = socket.getUserData();
    const link = new SocketLink(socket, app);
    seat.link = link;
    if (this.#deps.readiness.state === 'draining') {
      link.close(CLOSE.moved, 'The server is stopping.');
      return;
    }
    try {
      const session = seat.protocol.open(link, seat.call);
      seat.session = session;
      // It may have closed its link before there was anybody to tell.
      if (!link.isOpen) session.closed();
    } catch (error) {
      this.#bug(seat, error);
    }
  }

  /**
   * Told in a turn of its own: uWebSockets is in the midst of its subscribers, and whoever left or closed now would be missed there.
   * By then it may have drained already, and nobody would say so again.
   */
  #dropped(seat: Seat): void {
    if (seat.isSkipping) return;
    seat.isSkipping = true;
    setImmediate(() => {
      seat.isSkipping = false;
      if (seat.link?.isOpen !== true) return;
      try {
        seat.session?.skipped();
      } catch (error) {
        this.#bug(seat, error);
      }
      this.#drained(seat);
    });
  }

  /** uWebSockets tells of each part that has left. */
  #drained(seat: Seat): void {
    const { link } = seat;
    if (link?.isOpen !== true || link.bufferedBytes > 0) return;
    try {
      seat.session?.drained();
    } catch (error) {
      this.#bug(seat, error);
    }
  }

  #closed(seat: Seat, message: ArrayBuffer): void {
    this.#leave(seat);
    seat.link?.over();
    if (message.byteLength === TOO_BIG.length && Buffer.from(message).toString('latin1') === TOO_BIG) this.#rememberOversize(seat.sender);
    try {
      seat.session?.closed();
    } catch (error) {
      this.#bug(seat, error);
    }
  }

  #rememberOversize(sender: string): void {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#oversize.delete(sender);
    this.#oversize.set(sender, nowMs + OVERSIZE_MEMORY_MS);
    for (const [oldest, untilMs] of this.#oversize) {
      if (untilMs > nowMs && this.#oversize.size <= OVERSIZE_REMEMBERED_MAX) break;
      this.#oversize.delete(oldest);
    }
  }

  #bug(seat: Seat, error: unknown): void {
    const { id, call } = seat;
    this.#deps.metrics.unexpected();
    this.#deps.log.error({ err: error, requestId: call.requestId, operation: id }, 'A WebSocket failed for a bug');
    seat.link?.close(CLOSE_INTERNAL_ERROR, 'Something failed on our side.');
  }
}

function upgradeAnswer(upgrade: NonNullable<Answer['upgrade']>): Answer {
  return { status: 101, type: undefined, payload: null, upgrade, etag: undefined, lines: '' };
}

/** Undefined for whoever has shown none: they are told apart by their addresses. */
function credentialOf(principal: Principal): string | undefined {
  return principal.kind === 'anonymous' ? undefined : principal.tokenId;
}
