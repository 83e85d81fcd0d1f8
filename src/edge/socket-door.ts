/** Admits WebSockets. The caller is checked before the upgrade, and a refusal is an ordinary HTTP answer. */
import type { WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { type ArtifactHead, decide, type Principal, standsOnPass } from '../../actors/access/access.ts';
import type { Clock, Log } from '../../actors/runtime/ports.ts';
import { CLOSE } from '../../protocol/core/close-codes.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type EndpointId, endpoints, type SocketEndpointId } from '../../protocol/table.ts';
import type { ConnectionCaps } from '../platform/descriptors.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Holders } from '../platform/shares.ts';
import { networkOf } from './address.ts';
import type { Admission } from './admission.ts';
import { type Answer, upgradeAnswer } from './answer.ts';
import { chain } from './chain.ts';
import type { Connections } from './connections.ts';
import type { Exchange } from './exchange.ts';
import type { FanOut } from './fan-out.ts';
import { FrameQueue } from './frame-queue.ts';
import { FrameTurns } from './frame-turns.ts';
import { Missing } from './input.ts';
import { type AccessEnd, closeCodeOf, ENDS, failureOf, type OpenAccess } from './open-access.ts';
import type { Operation } from './operation.ts';
import type { Readiness } from './readiness.ts';
import type { Routed } from './router.ts';
import type { SocketCall, SocketProtocol, SocketSession } from './socket.ts';
import { type Peer, SocketBacklogs } from './socket-backlogs.ts';
import { type SeatedSocket, SocketLink } from './socket-link.ts';
import { holdersOf, type Sitter, SocketSeats } from './socket-seats.ts';

export type Sockets = Readonly<Partial<Record<SocketEndpointId, SocketProtocol>>>;

export interface SocketDoorDeps {
  readonly admission: Admission;
  readonly sockets: Sockets;
  readonly access: OpenAccess;
  readonly readiness: Readiness;
  readonly caps: Pick<ConnectionCaps, 'sockets' | 'unproven'>;
  readonly connections: Pick<Connections, 'upgraded'>;
  /** WebSockets of this node that belong to artifacts of others. */
  readonly relayed?: Iterable<Peer> | undefined;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** A peer that sends no byte for this long, not even a pong, counts as gone. uWebSockets' timer has a resolution of 4 s. */
const IDLE_S = 60;
/** A client whose message was too large reconnects and sends it again, so its upgrades are refused for this long. */
const OVERSIZE_MEMORY_MS = 60_000;
const OVERSIZE_REMEMBERED_MAX = 10_000;
/** The close reason of uWebSockets for a message that is too large. */
const TOO_BIG = 'Received too big message';
/** RFC 6455, 7.4.1: an unexpected condition. */
const CLOSE_INTERNAL_ERROR = 1011;

/** A call whose caller changes with what the account stands for. */
interface HeldCall extends SocketCall {
  principal: Principal;
}

/** One connection, from its admission to its close. */
class Seat implements Peer {
  readonly id: SocketEndpointId;
  readonly call: HeldCall;
  readonly protocol: SocketProtocol;
  readonly sitter: Sitter;
  /** The key under which the client is refused after a message that was too large. */
  readonly sender: string;
  /** Its client is connected to another node. */
  readonly isCarried: boolean;
  readonly network: string;
  link: SocketLink<Seat> | undefined;
  /** What the socket has sent and is not handled yet; from the opening on. */
  frames: FrameQueue | undefined;
  session: SocketSession | undefined;
  /** A `skipped` notice is scheduled. */
  isSkipping = false;
  drains = 0;
  /** Stops the watch over the access of its caller. */
  unwatch: () => void = () => undefined;
  /** Why the access of its caller has ended. */
  over: AccessEnd | undefined;

  constructor({
    id,
    call,
    protocol,
    sitter,
    sender,
    isCarried,
  }: Pick<Seat, 'id' | 'call' | 'protocol' | 'sitter' | 'sender' | 'isCarried'>) {
    this.id = id;
    this.call = call;
    this.protocol = protocol;
    this.sitter = sitter;
    this.sender = sender;
    this.isCarried = isCarried;
    this.network = networkOf(call.address);
  }

  get unreadBytes(): number {
    return this.link?.bufferedBytes ?? 0;
  }

  drop(): void {
    this.link?.drop();
  }
}

type Socket = WebSocket<SeatedSocket<Seat>>;

export class SocketDoor {
  readonly #deps: SocketDoorDeps;
  readonly #seats = new Set<Seat>();
  readonly #places: SocketSeats;
  readonly #backlogs: SocketBacklogs;
  readonly #frames: FrameTurns;
  /** The monotonic ms until which each sender is refused. */
  readonly #oversize = new Map<string, number>();

  constructor(deps: SocketDoorDeps) {
    this.#deps = deps;
    this.#places = new SocketSeats({ caps: deps.caps, refusals: deps.metrics });
    this.#backlogs = new SocketBacklogs({ ...deps, refusals: deps.metrics, peers: () => this.#peers() });
    this.#frames = new FrameTurns({ clock: deps.clock, refusals: deps.metrics });
    deps.metrics.watch('easel_sockets_open', 'WebSockets that are open.', () => this.#seats.size);
    deps.metrics.watch('easel_sockets_unproven', 'WebSockets whose caller has yet to prove access.', () => this.#places.unproven);
    deps.metrics.watch('easel_socket_bytes_buffered', 'Bytes that wait for slow WebSocket peers.', () => this.bufferedBytes);
    deps.metrics.watch(
      'easel_socket_frame_bytes_waiting',
      'Bytes of received WebSocket frames that wait for their turn.',
      () => this.#frames.bytes,
    );
  }

  get bufferedBytes(): number {
    let bytes = 0;
    for (const { unreadBytes } of this.#seats) bytes += unreadBytes;
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
    if (params instanceof Missing) throw params.failure;
    const { token: _secret, ...query } = operation.readQuery(exchange.query);
    const artifactId = params[access.param] as ArtifactId;
    const { requestId, address } = exchange;
    const host = exchange.headers.get('host');
    return chain(this.#deps.admission.upgradingPrincipal(exchange, artifactId, access, operation.endpoint.socket), (principal) =>
      chain(this.#headFor(operation, principal, params), (head) => {
        const sender = `${exchange.path} ${credentialOf(principal) ?? address}`;
        this.#refuseOversize(sender);
        this.#refuseWhileDraining();
        const proven = head === undefined ? undefined : principal;
        const giveWay = () => {
          if (seat.link?.isOpen !== true || seat.link.isLeaving) return false;
          seat.drop();
          return true;
        };
        const sitter: Sitter = { artifactId, address, principal: proven, sinceMs: this.#deps.clock.monotonicMs(), giveWay };
        const prove = (shown: Principal) => this.#places.prove(sitter, shown);
        const call: HeldCall = { requestId, principal, head, params, query, host, address, prove };
        const seat = new Seat({ id, call, protocol, sitter, sender, isCarried: exchange.isCarried });
        this.#take(seat);
        return chain(this.#admitted(seat), () => {
          if (seat.over === undefined) return upgradeAnswer({ userData: { seat }, abandoned: () => this.#leave(seat) });
          this.#leave(seat);
          throw failureOf(seat.over);
        });
      }),
    );
  }

  /** The handlers of one endpoint's sockets. None may throw: uWebSockets would end the process. */
  behavior(id: SocketEndpointId, fanOut: FanOut, take: NonNullable<WebSocketBehavior<SeatedSocket<Seat>>['upgrade']>) {
    const protocol = this.#deps.sockets[id];
    if (protocol === undefined) throw new Error(`${id} speaks no protocol`);
    return {
      maxPayloadLength: protocol.messageBytesMax,
      maxBackpressure: protocol.highWaterBytes,
      // A slow peer gets what it missed once it has drained. If it were closed, it would reconnect and load everything.
      closeOnBackpressureLimit: 0,
      idleTimeout: IDLE_S,
      sendPingsAutomatically: true,
      upgrade: take,
      open: (socket: Socket) => this.#open(socket, fanOut),
      message: (socket: Socket, data: ArrayBuffer, isBinary: boolean) => {
        const { frames, link } = socket.getUserData().seat;
        if (frames === undefined || this.#frames.arrived(frames, data, isBinary)) return;
        link?.close(CLOSE.overloaded, 'More was sent than can be handled now.');
      },
      dropped: (socket: Socket) => this.#dropped(socket.getUserData().seat),
      drain: (socket: Socket) => {
        const { seat } = socket.getUserData();
        seat.drains += 1;
        this.#drained(seat);
      },
      close: (socket: Socket, _code: number, message: ArrayBuffer) => this.#closed(socket.getUserData().seat, message),
    };
  }

  /** Closes every socket with a code that makes its peer reconnect, because the server stops. */
  closeAll(): void {
    for (const { link } of [...this.#seats]) link?.goodbye(CLOSE.moved, 'The server is stopping.');
  }

  /** Resolves when all frames that have been received are handled. */
  idle(): Promise<void> {
    return this.#frames.idle();
  }

  /** Handles no further frame. */
  stop(): void {
    this.#frames.dropAll();
  }

  /** A protocol that authorises by its own frames decides later about a request without a credential. */
  #headFor(
    operation: Operation,
    principal: Principal,
    params: SocketCall['params'],
  ): ArtifactHead | undefined | Promise<ArtifactHead | undefined> {
    const { access, socket } = operation.endpoint;
    if (socket === 'frames' && principal.kind === 'anonymous' && !standsOnPass(principal)) return undefined;
    return chain(this.#deps.admission.admit(access, principal, params), ({ head }) => head);
  }

  /** A socket whose artifact another node owns takes a seat too, because it is a connection of this one. Throws UNAVAILABLE. */
  sit(holders: Holders): void {
    this.#places.takeRelayed(holders);
    this.#backlogs.watch();
  }

  leave(holders: Holders): void {
    this.#places.leaveRelayed(holders);
  }

  *#peers(): Iterable<Peer> {
    // The client of a carried one is at another node, which looks after its connection; here it counts for what waits for it.
    yield* this.#seats;
    yield* this.#deps.relayed ?? [];
  }

  /** The watch begins in the turn that decided the access, and covers the time until the upgrade. */
  #watch(seat: Seat): void {
    seat.unwatch = this.#deps.access.watch(seat.sitter.artifactId, seat.call.principal, (now) => {
      if ('over' in now) {
        this.#accessOver(seat, now.over);
        return;
      }
      seat.call.principal = now.principal;
      if (!this.#isStillAdmitted(seat, now.head)) this.#accessOver(seat, 'refused');
    });
  }

  /** An open session decides by itself what a changed artifact means, except where its caller may hold no more than the connection. */
  #isStillAdmitted({ id, call, session }: Seat, head: ArtifactHead): boolean {
    const { access } = endpoints[id];
    if (call.head === undefined || (session !== undefined && session.accessOver === undefined)) return true;
    return decide(head, call.principal, access.need, access.scope) === 'allowed';
  }

  #accessOver(seat: Seat, over: AccessEnd): void {
    seat.over = over;
    const { link, session } = seat;
    if (link === undefined) return;
    try {
      // A protocol whose frames bring credentials of their own decides by itself whether the socket stays.
      if (session?.accessOver !== undefined) session.accessOver(over);
      else link.close(closeCodeOf(over), ENDS[over]);
    } catch (error) {
      this.#bug(seat, error);
    }
  }

  #refuseOversize(sender: string): void {
    const untilMs = this.#oversize.get(sender);
    if (untilMs === undefined) return;
    const leftMs = untilMs - this.#deps.clock.monotonicMs();
    if (leftMs > 0) {
      throw new Failure('PAYLOAD_TOO_LARGE', {
        message: 'The last message of this client was too large.',
        hint: 'Send smaller messages.',
        retryAfterS: leftMs / 1000,
      });
    }
    this.#oversize.delete(sender);
  }

  #refuseWhileDraining(): void {
    if (this.#deps.readiness.state === 'draining') throw new Failure('UNAVAILABLE', { message: 'The process is draining.' });
  }

  /** The seat is free again where the protocol refuses the upgrade. */
  #admitted(seat: Seat): void | Promise<void> {
    try {
      const admitted = seat.protocol.admit?.(seat.call);
      if (!(admitted instanceof Promise)) return admitted;
      return admitted.catch((error) => {
        this.#leave(seat);
        throw error;
      });
    } catch (error) {
      this.#leave(seat);
      throw error;
    }
  }

  /** Throws UNAVAILABLE. */
  #take(seat: Seat): void {
    this.#places.take(seat.sitter, this.#deps.clock.monotonicMs());
    this.#seats.add(seat);
    this.#watch(seat);
  }

  #leave(seat: Seat): void {
    seat.unwatch();
    if (this.#seats.delete(seat)) this.#places.leave(seat.sitter);
  }

  #open(socket: Socket, fanOut: FanOut): void {
    const { seat } = socket.getUserData();
    const link: SocketLink<Seat> = new SocketLink(socket, fanOut, () => this.#end(seat));
    seat.link = link;
    this.#backlogs.watch();
    seat.frames = this.#queueOf(seat);
    if (!seat.isCarried) this.#deps.connections.upgraded();
    if (this.#deps.readiness.state === 'draining') {
      link.close(CLOSE.moved, 'The server is stopping.');
      return;
    }
    if (seat.over !== undefined) {
      link.close(closeCodeOf(seat.over), ENDS[seat.over]);
      return;
    }
    try {
      const session = seat.protocol.open(link, seat.call);
      seat.session = session;
      // `open` may have closed the link before the session existed.
      if (!link.isOpen) session.closed();
    } catch (error) {
      this.#bug(seat, error);
    }
  }

  /**
   * Notifies the session in a turn of its own, because uWebSockets is iterating its subscribers, and a session that unsubscribes or closes
   * now corrupts the iteration. The socket may have drained by then, and no further drain event would follow.
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

  /** uWebSockets calls this after each part that it writes. */
  #drained(seat: Seat): void {
    const { link } = seat;
    if (link?.isOpen !== true || link.bufferedBytes > 0) return;
    try {
      seat.session?.drained();
    } catch (error) {
      this.#bug(seat, error);
    }
  }

  #queueOf(seat: Seat): FrameQueue {
    return new FrameQueue({
      holders: holdersOf(seat.sitter),
      bytesMax: LIMITS.framesWaitingPerSocketBytesMax + seat.protocol.messageBytesMax,
      handle: (data, isBinary) => {
        try {
          seat.session?.message(data, isBinary);
        } catch (error) {
          this.#bug(seat, error);
        }
      },
      emptied: () => {
        if (seat.link?.isLeaving === true) this.#end(seat);
      },
    });
  }

  /** What a peer sent before it left is still handled, and its access is watched until then. */
  #closed(seat: Seat, message: ArrayBuffer): void {
    const { link, frames } = seat;
    if (message.byteLength === TOO_BIG.length && Buffer.from(message).toString('latin1') === TOO_BIG) this.#rememberOversize(seat.sender);
    if (link !== undefined && !link.isRefused && frames !== undefined && frames.frames > 0) link.leave();
    else this.#end(seat);
  }

  #end(seat: Seat): void {
    if (seat.frames !== undefined) this.#frames.drop(seat.frames);
    this.#leave(seat);
    seat.link?.over();
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
    this.#deps.log.error({ err: error, requestId: call.requestId, operation: id }, 'A bug made a WebSocket fail');
    seat.link?.close(CLOSE_INTERNAL_ERROR, 'Something failed on our side.');
  }
}

/** Undefined for callers without a credential, who are told apart by their addresses. */
function credentialOf(principal: Principal): string | undefined {
  return principal.kind === 'anonymous' ? undefined : principal.tokenId;
}
