/** Takes every request, passes it by host and path to the API's pipeline or to the content server, and makes sure that it is answered. */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { ArtifactHead } from '../../actors/access/access.ts';
import type { Clock, Log } from '../../actors/runtime/ports.ts';
import type { ActorRuntime } from '../../actors/runtime/runtime.ts';
import { Failure } from '../../protocol/core/errors.ts';
import type { operations } from '../../protocol/core/operations.ts';
import type { batches } from '../../protocol/data/batch.ts';
import { type EndpointId, endpoints } from '../../protocol/table.ts';
import type { Config } from '../platform/config.ts';
import type { DependencyName, DependencyWatch } from '../platform/dependency-watch.ts';
import type { ConnectionCaps } from '../platform/descriptors.ts';
import { loopTurns } from '../platform/loop-turns.ts';
import type { Metrics, RequestMeter, RuntimeStats } from '../platform/metrics.ts';
import type { Sql } from '../storage/sql.ts';
import { isLateStatement, unavailableDependency } from '../storage/unavailable.ts';
import { Admission, type AdmissionDeps, type Authenticator, type Heads, mayChange } from './admission.ts';
import type { Answer } from './answer.ts';
import { withRoom } from './answer-room.ts';
import { AnswersInFlight } from './answers-in-flight.ts';
import { artifactIdOf } from './artifact-path.ts';
import { type AtomicHandlers, batchHandlers } from './batch.ts';
import { BodyIntake } from './body-intake.ts';
import type { Handlers } from './call.ts';
import { chain } from './chain.ts';
import { Connections } from './connections.ts';
import { type ContentDoor, contentAnswer } from './content-door.ts';
import { corsLines, isPreflight, PREFLIGHT_ANSWER } from './cors.ts';
import { dependencyFailure, lateReadFailure } from './dependency-failures.ts';
import { ClientGone, Exchange, type UpgradeOffer } from './exchange.ts';
import { type FailureExtras, failureAnswer } from './failures.ts';
import { carriedRequest, carriedResponse } from './forwarding/carried-call.ts';
import { Forwarder, type Peers } from './forwarding/forwarder.ts';
import { decodeHead, type LaneHead, type RequestHead } from './forwarding/heads.ts';
import type { PeerStream } from './forwarding/peer-stream.ts';
import { RelayedSockets } from './forwarding/sockets/relayed-sockets.ts';
import { operationHandlers } from './handlers.ts';
import { refusalOf } from './headers.ts';
import { type HostKind, Hosts } from './hosts.ts';
import { ReplayedFailure } from './idempotency.ts';
import type { Limiters } from './limits.ts';
import type { OpenAccess } from './open-access.ts';
import { actorOf, DATA_PREFIX, isRead, type Operation, routeTable } from './operation.ts';
import { OwnPages } from './own-pages.ts';
import { PendingCalls } from './pending-calls.ts';
import { Pipeline, typesOf } from './pipeline.ts';
import { Readiness } from './readiness.ts';
import type { Router } from './router.ts';
import { SocketDoor, type Sockets } from './socket-door.ts';
import { requireSubjects, type Subjects } from './subjects.ts';

/** pino's logger is one. */
interface EdgeLog extends Log {
  debug(fields: object, message: string): void;
  isLevelEnabled(level: 'debug'): boolean;
}

export type ServiceHandlers = Handlers<Exclude<EndpointId, keyof typeof operations | keyof typeof batches>>;

export interface EdgeDeps {
  readonly config: Config;
  readonly handlers: ServiceHandlers;
  /** The handlers of requests that an atomic batch can hold. */
  readonly atomic: AtomicHandlers;
  readonly tokens: Authenticator;
  readonly heads: Heads;
  readonly subjects: Subjects;
  /** Hears of everybody who is let in to an artifact. */
  readonly receipts?: AdmissionDeps['receipts'];
  readonly dependencies: Pick<DependencyWatch, 'health' | 'watches'>;
  /** See `operationHandlers`. */
  readonly openapi: string;
  /** Ends what is open when the access of its caller ends. */
  readonly access: OpenAccess;
  readonly runtime: Pick<ActorRuntime, 'ask'> & { stats(): RuntimeStats };
  readonly limiters: Limiters;
  readonly content: ContentDoor;
  /** The protocols of the endpoints that are upgraded to WebSockets. */
  readonly sockets: Sockets;
  readonly caps: ConnectionCaps;
  /** Streams that are open. */
  readonly streams: () => number;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: EdgeLog;
  /** The other nodes; absent where there is no cluster. */
  readonly peers?: Peers;
  /** Undefined where there is no cluster. */
  readonly node?: NodeGate | undefined;
}

/** Asked before each request. */
export interface NodeGate {
  /** Called first: this process may have been paused since the last request. */
  awake(): void;
  /** False while this node has lost touch with the others: it changes nothing that they would have to hear of. */
  mayWrite(): boolean;
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** What is known of a request so far, for its meter, its log line and the headers of its failure. */
interface Progress {
  meter: RequestMeter;
  operation: Operation | undefined;
  allow: string | undefined;
  /** The parser and the client may disagree where the next request begins, so the connection must close. */
  closeAfter: boolean;
}

/**
 * Requests that are taken in one turn of the event loop, which is less than 50 ms of work. One packet may hold thousands, and the parser only
 * stops at one whose answer closes the connection.
 */
const TAKEN_PER_TURN_MAX = 1000;

export class Dispatcher {
  readonly readiness = new Readiness();
  readonly bodies: BodyIntake;
  readonly answers: AnswersInFlight;
  readonly connections: Connections;
  readonly sockets: SocketDoor;
  /** WebSockets of clients of this node, for artifacts that others own; undefined where there is no cluster. */
  readonly relayed: RelayedSockets | undefined;
  readonly #deps: EdgeDeps;
  readonly #hosts: Hosts;
  readonly #router: Router<Operation>;
  readonly #admission: Admission;
  readonly #pipeline: Pipeline;
  readonly #pending: PendingCalls;
  readonly #contentMeter: RequestMeter;
  readonly #unroutedMeter: RequestMeter;
  readonly #forwardedMeter: RequestMeter;
  readonly #forwarder: Forwarder | undefined;
  readonly #logsEach: boolean;
  /** Requests whose streamed answer never ends by itself. */
  readonly #endless = new Set<Exchange>();
  #open = 0;
  /** Requests taken in this turn of the event loop. */
  #taken = 0;
  #idleWaiters: (() => void)[] = [];

  constructor(deps: EdgeDeps) {
    const { metrics, config } = deps;
    this.#deps = deps;
    requireSubjects(endpoints, deps.subjects);
    this.#hosts = new Hosts(config.contentHost);
    this.bodies = new BodyIntake(deps.clock);
    this.#pending = new PendingCalls(deps.clock);
    deps.access.attend(this.#pending);
    this.answers = new AnswersInFlight({ clock: deps.clock, refusals: metrics });
    const own = operationHandlers({ ...deps, baseUrl: config.baseUrl, readiness: this.readiness });
    this.#router = routeTable({ ...own, ...this.#batchHandlers(), ...deps.handlers }, metrics);
    this.#admission = new Admission({ ...deps, hosts: this.#hosts, ownPages: new OwnPages(config.baseUrl) });
    const { caps, streams, clock } = deps;
    this.connections = new Connections({ caps: caps.plain, clock, refusals: metrics, streams, trustProxy: config.TRUST_PROXY });
    this.#pipeline = new Pipeline({
      ...deps,
      admission: this.#admission,
      bodies: this.bodies,
      answers: this.answers,
      connections: this.connections,
    });
    this.relayed = deps.peers === undefined ? undefined : this.#relayedSockets(deps.peers);
    const door = { admission: this.#admission, readiness: this.readiness, connections: this.connections, relayed: this.relayed };
    this.sockets = new SocketDoor({ ...deps, ...door });
    this.#contentMeter = metrics.requests('content');
    this.#unroutedMeter = metrics.requests('unrouted');
    this.#forwardedMeter = metrics.requests('forwarded');
    this.#forwarder = deps.peers === undefined || this.relayed === undefined ? undefined : new Forwarder(deps.peers, this.relayed);
    this.#logsEach = deps.log.isLevelEnabled('debug');
    metrics.watchRuntime(() => deps.runtime.stats());
    metrics.watch('easel_requests_open', 'Requests taken and not yet answered.', () => this.#open);
    metrics.watch('easel_connections_open', 'Connections other than WebSockets and streams.', () => this.connections.count);
    metrics.watch('easel_answers_waiting', 'Answers that their readers have not taken whole.', () => this.answers.count);
    metrics.watch('easel_answer_bytes_in_flight', 'Bytes charged for answers in flight.', () => this.answers.bytes);
    metrics.watch('easel_body_bytes_in_flight', 'Bytes of request bodies in memory.', () => this.bodies.bytesInFlight);
  }

  /** `upgrade`: defined for a request with a WebSocket key to a path of a WebSocket endpoint. */
  take(response: HttpResponse, request: HttpRequest, upgrade?: UpgradeOffer): void {
    const { clock, config } = this.#deps;
    this.#open += 1;
    if (this.#taken === 0) setImmediate(() => this.#newTurn());
    this.#taken += 1;
    const startedMs = clock.monotonicMs();
    loopTurns.serves(startedMs, this.#waitingAnswers() > 1);
    const taken = { nowMs: clock.nowMs(), startedMs, trustProxy: config.TRUST_PROXY, upgrade, answers: this.answers };
    this.#begin(new Exchange(response, request, taken));
  }

  /** Takes a call that another node has forwarded. False where the stream is one for WebSockets instead. */
  takeCarried(stream: PeerStream, payload: Buffer): boolean {
    const { head } = decodeHead<RequestHead | LaneHead>(payload);
    if ('lane' in head) return false;
    this.takeCarriedCall(carriedResponse(stream, head, contentLengthOf(head)), carriedRequest(head));
    return true;
  }

  /** `upgrade`: defined where it asks for a WebSocket. */
  takeCarriedCall(response: HttpResponse, request: HttpRequest, upgrade?: UpgradeOffer): void {
    const { clock } = this.#deps;
    this.#open += 1;
    const startedMs = clock.monotonicMs();
    loopTurns.serves(startedMs, this.#waitingAnswers() > 1);
    // The node that took it has decided the address.
    const taken = { nowMs: clock.nowMs(), startedMs, trustProxy: false, upgrade, answers: this.answers, isCarried: true };
    this.#begin(new Exchange(response, request, taken));
  }

  #begin(exchange: Exchange): void {
    const progress: Progress = {
      meter: this.#unroutedMeter,
      operation: undefined,
      allow: undefined,
      closeAfter: this.#taken > TAKEN_PER_TURN_MAX,
    };
    try {
      const answer = later(exchange, this.#dispatch(exchange, progress));
      if (answer instanceof Promise) {
        exchange.detach();
        const pending = this.#pending.enter(exchange, (failure) => {
          if (pending.answered()) this.#fail(exchange, progress, failure);
        });
        const fail = (error: unknown) => {
          if (pending.answered()) this.#fail(exchange, progress, error);
        };
        const finish = (known: Answer) => {
          if (pending.answered()) this.#finish(exchange, progress, known);
          else abandon(known);
        };
        answer.then((known) => {
          const prepared = prepare(exchange, known);
          if (prepared === undefined) finish(known);
          else prepared.then(() => finish(known), fail);
        }, fail);
      } else {
        this.#finish(exchange, progress, answer);
      }
    } catch (error) {
      if (exchange.headers.malformed !== undefined) this.#failLater(exchange, progress, error);
      else this.#fail(exchange, progress, error);
    }
  }

  /** Requests that are not answered yet. Streams that never end wait for nothing. */
  #waitingAnswers(): number {
    return this.#open - this.#endless.size;
  }

  #newTurn(): void {
    this.#taken = 0;
  }

  /** Called again and again while a dependency is down: answers the calls that wait. */
  dependencyDown(name: DependencyName): void {
    this.#pending.strike(dependencyFailure(name, this.#deps.dependencies.health(name)));
  }

  /** Ends streamed answers that never end by themselves. */
  stopStreams(): void {
    for (const exchange of [...this.#endless]) exchange.stopStream();
  }

  /** Resolves when every request taken has been answered. */
  idle(): Promise<void> {
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #relayedSockets(peers: Peers): RelayedSockets {
    const relayed = new RelayedSockets({
      open: (address, head) => peers.open(address, head),
      sit: (holders) => this.sockets.sit(holders),
      leave: (holders) => this.sockets.leave(holders),
      upgraded: () => this.connections.upgraded(),
      isDraining: () => this.readiness.state === 'draining',
      refusals: this.#deps.metrics,
    });
    this.#deps.metrics.watch('easel_sockets_relayed', 'WebSockets of this node whose artifacts other nodes own.', () => relayed.count);
    return relayed;
  }

  /** A batch sends its requests through the same router and pipeline that serve the batch. */
  #batchHandlers() {
    const { runtime, atomic, metrics, log } = this.#deps;
    return batchHandlers({
      runtime,
      atomic,
      find: (method, path) => this.#router.find(method, path),
      within: (request, routed) => this.#pipeline.within(request, routed),
      report: (err, fields) => {
        metrics.unexpected();
        log.error({ err, ...fields }, 'A bug made a request of a batch fail');
      },
    });
  }

  #dispatch(exchange: Exchange, progress: Progress): Answer | Promise<Answer> {
    const { headers } = exchange;
    if (headers.malformed !== undefined) {
      progress.closeAfter = true;
      throw refusalOf(headers.malformed);
    }
    if (this.#deps.node !== undefined) requireTouch(this.#deps.node, exchange.method);
    const host = this.#hosts.classify(headers.host);
    if (host.kind === 'invalid') throw refusalOf('host');
    const here = () => this.#here(exchange, progress, host);
    const artifactId = this.#forwarder === undefined ? undefined : actorOf(this.#router, exchange);
    if (this.#forwarder === undefined || artifactId === undefined) return here();
    if (exchange.isCarried) return this.#forwarder.arrived(artifactId, here);
    const forwarded = this.#forwarder.elsewhere(exchange, artifactId, here);
    if (forwarded === undefined) return here();
    progress.meter = this.#forwardedMeter;
    return forwarded;
  }

  #here(exchange: Exchange, progress: Progress, host: Exclude<HostKind, { readonly kind: 'invalid' }>): Answer | Promise<Answer> {
    exchange.isForApi = host.kind === 'api';
    if (host.kind === 'api') return exchange.path.startsWith(DATA_PREFIX) ? this.#data(exchange, progress) : this.#api(exchange, progress);
    progress.meter = this.#contentMeter;
    const artifactId = artifactIdOf(exchange.path);
    if (artifactId === undefined) return this.#content(exchange, host.slug);
    // On its own origin a page reaches only its own artifact's data.
    const answer = chain<ArtifactHead | null, Answer>(this.#deps.heads.get(artifactId), (head) => {
      if (head?.slug === host.slug) return this.#ownPage(exchange, progress, head);
      // Answered like a page's own data that the caller may not see, so that the two cannot be told apart.
      exchange.isForeign = true;
      exchange.corsLines = corsLines(this.#hosts, exchange.headers.get('origin'), null);
      return this.#api(exchange, progress);
    });
    return this.#receiving(exchange, answer);
  }

  /** A request to the API's host. The CORS lines come first, because failures carry them too. */
  #data(exchange: Exchange, progress: Progress): Answer | Promise<Answer> {
    const decided = this.#decideCors(exchange);
    if (decided === undefined) return this.#api(exchange, progress);
    return this.#receiving(
      exchange,
      decided.then(() => this.#api(exchange, progress)),
    );
  }

  #decideCors(exchange: Exchange): Promise<void> | undefined {
    const origin = exchange.headers.get('origin');
    exchange.corsLines = corsLines(this.#hosts, origin, null);
    const id = origin !== '' && this.#hosts.slugOfOrigin(origin) !== undefined ? artifactIdOf(exchange.path) : undefined;
    if (id === undefined) return undefined;
    const decide = (head: ArtifactHead | null) => {
      exchange.corsLines = corsLines(this.#hosts, origin, head);
    };
    const head = this.#deps.heads.get(id);
    if (head instanceof Promise) return head.then(decide);
    decide(head);
    return undefined;
  }

  /** Called in the turn that took the request, because uWebSockets discards bytes that nobody receives. */
  #receiving(exchange: Exchange, answer: Answer | Promise<Answer>): Answer | Promise<Answer> {
    if (answer instanceof Promise) {
      const found = this.#router.find(exchange.method, exchange.path);
      if (found.kind === 'routed') this.#pipeline.beginBody(exchange, found.operation);
    }
    return answer;
  }

  #content(exchange: Exchange, slug: string): Answer | Promise<Answer> {
    exchange.artifact = slug;
    return contentAnswer(this.#deps.content, this.bodies, exchange, slug);
  }

  #ownPage(exchange: Exchange, progress: Progress, head: ArtifactHead): Answer | Promise<Answer> {
    const { headers, method } = exchange;
    exchange.corsLines = corsLines(this.#hosts, headers.get('origin'), head);
    return chain(this.#admission.pageCaller(headers, head, headers.authorization, mayChange(method)), (caller) => {
      exchange.pageCaller = caller;
      return this.#api(exchange, progress);
    });
  }

  #api(exchange: Exchange, progress: Progress): Answer | Promise<Answer> {
    const { method, path } = exchange;
    const found = this.#router.find(method, path);
    switch (found.kind) {
      case 'unknown':
        throw new Failure('NOT_FOUND');
      case 'wrong_method':
        if (exchange.corsLines !== '' && isPreflight(exchange)) return PREFLIGHT_ANSWER;
        progress.allow = found.allow;
        throw new Failure('METHOD_NOT_ALLOWED');
      case 'routed':
        progress.operation = found.operation;
        progress.meter = found.operation.meter;
        if (exchange.isUpgrade && this.sockets.speaks(found.operation.id)) return this.sockets.enter(exchange, found);
        return this.#pipeline.run(exchange, found);
      default:
        return found satisfies never;
    }
  }

  /**
   * The parser goes on with the bytes that follow in the same packet, and they must never be taken for a request. While an answer is
   * outstanding the parser closes the connection when it finds one, so the answer waits for a turn of the event loop.
   */
  #failLater(exchange: Exchange, progress: Progress, error: unknown): void {
    exchange.detach();
    const isData = exchange.path.startsWith(DATA_PREFIX) && this.#hosts.classify(exchange.headers.host).kind === 'api';
    const decided = isData ? this.#decideCors(exchange) : undefined;
    const fail = () => this.#fail(exchange, progress, error);
    setImmediate(() => (decided === undefined ? fail() : void decided.then(fail, fail)));
  }

  /** What the caller is told. A bug is reported. */
  #failureOf(exchange: Exchange, progress: Progress, error: unknown): Failure {
    if (error instanceof Failure) return error;
    if (error instanceof ReplayedFailure) {
      exchange.replayed = true;
      return error.failure;
    }
    const { operation } = progress;
    if (operation !== undefined && isRead(operation) && isLateStatement(error)) {
      const { requestId, path } = exchange;
      this.#deps.log.warn({ requestId, path, operation: operation.id }, 'the database took too long for a read');
      return lateReadFailure();
    }
    const away = unavailableDependency(error);
    if (away !== undefined) return dependencyFailure(away, this.#deps.dependencies.health(away));
    if (!(error instanceof ClientGone)) this.#report(exchange, progress, error);
    return new Failure('INTERNAL_ERROR');
  }

  #fail(exchange: Exchange, progress: Progress, error: unknown): void {
    // A caller without access any more must not go on sending the rest of the body.
    if (error === exchange.refusal && exchange.headers.contentLength > 0) progress.closeAfter = true;
    const failure = this.#failureOf(exchange, progress, error);
    const { requestId, path, headers, isForApi } = exchange;
    const body = progress.operation?.endpoint.body;
    const extras: FailureExtras = {
      ...(progress.allow !== undefined && { allow: progress.allow }),
      ...(failure.code === 'UNSUPPORTED_MEDIA_TYPE' && body !== undefined && { types: typesOf(body) ?? [] }),
    };
    const answer = failureAnswer(
      failure,
      { requestId, path, accept: headers.get('accept'), isForApi, baseUrl: this.#deps.config.baseUrl },
      extras,
    );
    // A body that is announced too long is not awaited: its sender can be told before it is sent.
    const isExpected = headers.contentLength > 0 && headers.contentLength <= (body?.bytesMax ?? 0);
    const ends = progress.closeAfter || exchange.aborted || !isExpected || this.readiness.state === 'draining';
    const passed = ends ? undefined : this.bodies.passOver(exchange);
    const finish = (isTooFast: boolean) => {
      progress.closeAfter ||= isTooFast;
      this.#finish(exchange, progress, answer);
    };
    if (passed === undefined) finish(false);
    else void passed.then(finish);
  }

  #report(exchange: Exchange, progress: Progress, error: unknown): void {
    this.#deps.metrics.unexpected();
    const { requestId, method, path } = exchange;
    this.#deps.log.error({ err: error, requestId, method, path, operation: progress.operation?.id }, 'A bug made a request fail');
  }

  #finish(exchange: Exchange, progress: Progress, made: Answer): void {
    const answer = withRoom(this.answers, exchange, progress.operation, made);
    // A large answer that is closed after would be copied whole.
    const closesIdle = exchange.waiting === undefined && !answer.stream?.endless && this.connections.closesIdle(exchange);
    const closeAfter = progress.closeAfter || answer.closes === true || closesIdle || this.readiness.state === 'draining';
    // Only the status is kept until the reader has taken the answer, not its text.
    const { status } = answer;
    let isOver = false;
    const sent = (error?: unknown) => {
      isOver = true;
      if (error !== undefined && !(error instanceof Failure)) this.#report(exchange, progress, error);
      this.#sent(exchange, progress, status);
    };
    if (answer.stream?.endless) this.#endless.add(exchange);
    try {
      exchange.send(answer, closeAfter, sent);
    } catch (error) {
      // uWebSockets ends the process when a handler returns without an answer.
      this.#report(exchange, progress, error);
      exchange.drop();
      sent();
    }
    if (isOver) return;
    // An endless stream is watched by whoever made it. Everything else ends with its access, also while its answer is being sent.
    if (answer.stream?.endless) this.#pending.leave(exchange);
    else if (exchange.pending === undefined) this.#pending.enter(exchange, () => undefined).answered();
  }

  #sent(exchange: Exchange, progress: Progress, status: number): void {
    const durationMs = this.#deps.clock.monotonicMs() - exchange.startedMs;
    progress.meter.record(status, durationMs);
    if (exchange.headers.contentLength > 0) this.bodies.release(exchange);
    this.#pending.leave(exchange);
    if (this.#logsEach) {
      const { requestId, method, path, aborted } = exchange;
      this.#deps.log.debug({ requestId, method, path, operation: progress.operation?.id, status, durationMs, aborted }, 'request');
    }
    exchange.waiting?.over();
    this.#endless.delete(exchange);
    this.#open -= 1;
    if (this.#open > 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}

function contentLengthOf({ headers }: RequestHead): number {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === 'content-length') return Number(headers[at + 1]);
  return 0;
}

function requireTouch(node: NodeGate, method: string): void {
  node.awake();
  if (READING.has(method) || node.mayWrite()) return;
  throw new Failure('UNAVAILABLE', { message: 'This node has lost touch with the others.', retryAfterS: 1 });
}

/** The answer itself, or a promise of it where its body has to be prepared. */
function later(exchange: Exchange, answer: Answer | Promise<Answer>): Answer | Promise<Answer> {
  return answer instanceof Promise || answer.stream?.prepare === undefined || exchange.method === 'HEAD' ? answer : Promise.resolve(answer);
}

function prepare({ method }: Exchange, { stream }: Answer): Promise<void> | undefined {
  return method === 'HEAD' ? undefined : stream?.prepare?.();
}

/** An answer that comes after the call was answered otherwise. */
function abandon({ upgrade, stream }: Answer): void {
  upgrade?.abandoned();
  stream?.abandon?.();
}
