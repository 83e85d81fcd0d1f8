/** Takes every request: by its host and path to the API's pipeline or to the content server, and sees that it is answered. */
import type { HttpRequest, HttpResponse, us_socket_context_t } from 'uWebSockets.js';
import type { ArtifactHead } from '../../actors/access.ts';
import type { Clock, Log } from '../../actors/ports.ts';
import type { ActorRuntime } from '../../actors/runtime.ts';
import type { batches } from '../../protocol/endpoints/batch.ts';
import type { operations } from '../../protocol/endpoints/operations.ts';
import { Failure } from '../../protocol/errors.ts';
import type { ArtifactId } from '../../protocol/ids.ts';
import type { EndpointId } from '../../protocol/table.ts';
import type { Config, Settings } from '../config.ts';
import type { Metrics, RequestMeter, RuntimeStats } from '../metrics.ts';
import type { Sql } from '../storage/sql.ts';
import { Admission, type Authenticator, type Heads } from './admission.ts';
import type { Answer } from './answer.ts';
import { type AtomicHandlers, batchHandlers } from './batch.ts';
import { BodyIntake } from './body-intake.ts';
import type { Handlers } from './call.ts';
import { chain } from './chain.ts';
import { type ContentDoor, contentAnswer } from './content-door.ts';
import { ANY_ORIGIN_LINES, NO_ORIGIN_LINES, preflightAnswer } from './cors.ts';
import { ClientGone, Exchange } from './exchange.ts';
import { type FailureExtras, failureAnswer } from './failures.ts';
import type { Malformation } from './headers.ts';
import { Hosts } from './hosts.ts';
import { ReplayedFailure } from './idempotency.ts';
import type { DataLimit } from './limits.ts';
import { DATA_PREFIX, type Operation, routeTable } from './operation.ts';
import { operationHandlers } from './operations.ts';
import { Pipeline, typesOf } from './pipeline.ts';
import { Readiness } from './readiness.ts';
import type { Router } from './router.ts';
import { SocketDoor, type Sockets } from './socket-door.ts';

/** pino's logger is one. */
interface EdgeLog extends Log {
  debug(fields: object, message: string): void;
  isLevelEnabled(level: 'debug'): boolean;
}

export type ServiceHandlers = Handlers<Exclude<EndpointId, keyof typeof operations | keyof typeof batches>>;

export interface EdgeDeps {
  readonly settings: Settings;
  /** Called once, with the port that was bound. */
  readonly config: (port: number) => Config;
  readonly handlers: ServiceHandlers;
  /** Those that an atomic batch can hold. */
  readonly atomic: AtomicHandlers;
  readonly tokens: Authenticator;
  readonly heads: Heads;
  readonly runtime: DataLimit & Pick<ActorRuntime, 'ask'> & { stats(): RuntimeStats };
  readonly content: ContentDoor;
  /** What is spoken at the endpoints that are upgraded to WebSockets. */
  readonly sockets: Sockets;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: EdgeLog;
}

/** What is known of a request so far, for its meter, its log line and the headers of its failure. */
interface Progress {
  meter: RequestMeter;
  operation: Operation | undefined;
  allow: string | undefined;
  /** The connection cannot be trusted to be in step any more. */
  closeAfter: boolean;
}

const ARTIFACT_OF_PATH = /^\/v1\/data\/(art_[a-z0-9]{24})(?:\/|$)/;

export class Dispatcher {
  readonly readiness = new Readiness();
  readonly bodies: BodyIntake;
  readonly sockets: SocketDoor;
  readonly #deps: EdgeDeps;
  readonly #hosts: Hosts;
  readonly #router: Router<Operation>;
  readonly #admission: Admission;
  readonly #pipeline: Pipeline;
  readonly #contentMeter: RequestMeter;
  readonly #unroutedMeter: RequestMeter;
  readonly #logsEach: boolean;
  /** Requests whose streamed answer has no end of its own. */
  readonly #endless = new Set<Exchange>();
  #open = 0;
  #idleWaiters: (() => void)[] = [];

  constructor(deps: EdgeDeps, config: Config) {
    const { metrics } = deps;
    this.#deps = deps;
    this.#hosts = new Hosts(config.contentHost);
    this.bodies = new BodyIntake(deps.clock);
    const own = operationHandlers({ baseUrl: config.baseUrl, sql: deps.sql, clock: deps.clock, metrics, readiness: this.readiness });
    this.#router = routeTable({ ...own, ...this.#batchHandlers(), ...deps.handlers }, metrics);
    this.#admission = new Admission({ ...deps, hosts: this.#hosts });
    this.#pipeline = new Pipeline({ ...deps, admission: this.#admission, bodies: this.bodies, hosts: this.#hosts });
    this.sockets = new SocketDoor({ ...deps, admission: this.#admission, readiness: this.readiness });
    this.#contentMeter = metrics.requests('content');
    this.#unroutedMeter = metrics.requests('unrouted');
    this.#logsEach = deps.log.isLevelEnabled('debug');
    metrics.watchRuntime(() => deps.runtime.stats());
    metrics.watch('easel_requests_open', 'Requests taken and not yet answered.', () => this.#open);
    metrics.watch('easel_body_bytes_in_flight', 'Bytes of request bodies in memory.', () => this.bodies.bytesInFlight);
  }

  /** `upgrade`: where it comes with the key of a WebSocket, to a path that speaks over them. */
  take(response: HttpResponse, request: HttpRequest, upgrade?: us_socket_context_t): void {
    const { clock, settings } = this.#deps;
    this.#open += 1;
    const taken = { nowMs: clock.nowMs(), startedMs: clock.monotonicMs(), trustProxy: settings.TRUST_PROXY, upgrade };
    const exchange = new Exchange(response, request, taken);
    const progress: Progress = { meter: this.#unroutedMeter, operation: undefined, allow: undefined, closeAfter: false };
    try {
      const answer = this.#dispatch(exchange, progress);
      if (answer instanceof Promise) {
        exchange.detach();
        answer.then(
          (known) => this.#finish(exchange, progress, known),
          (error) => this.#fail(exchange, progress, error),
        );
      } else {
        this.#finish(exchange, progress, answer);
      }
    } catch (error) {
      if (progress.closeAfter) this.#failLater(exchange, progress, error);
      else this.#fail(exchange, progress, error);
    }
  }

  /** Ends the answers that would never end by themselves. */
  stopStreams(): void {
    for (const exchange of [...this.#endless]) exchange.stopStream();
  }

  /** Resolves when every request taken has been answered. */
  idle(): Promise<void> {
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** A batch goes through the router and the pipeline that it is itself a part of. */
  #batchHandlers() {
    const { runtime, atomic, metrics, log } = this.#deps;
    return batchHandlers({
      runtime,
      atomic,
      find: (method, path) => this.#router.find(method, path),
      within: (request, routed) => this.#pipeline.within(request, routed),
      report: (err, fields) => {
        metrics.unexpected();
        log.error({ err, ...fields }, 'A request of a batch failed for a bug');
      },
    });
  }

  #dispatch(exchange: Exchange, progress: Progress): Answer | Promise<Answer> {
    const { headers } = exchange;
    if (headers.malformed !== undefined) {
      progress.closeAfter = true;
      throw refusalOf(headers.malformed);
    }
    const host = this.#hosts.classify(headers.host);
    if (host.kind === 'invalid') throw refusalOf('host');
    if (host.kind === 'api') return this.#api(exchange, progress);
    progress.meter = this.#contentMeter;
    const artifactId = ARTIFACT_OF_PATH.exec(exchange.path)?.[1];
    if (artifactId === undefined) return this.#content(exchange, host.slug);
    // A page calls its own data on its own origin; another artifact's does not exist there.
    const answer = chain<ArtifactHead | null, Answer>(this.#deps.heads.get(artifactId as ArtifactId), (head) => {
      if (head?.slug !== host.slug) return this.#content(exchange, host.slug);
      return this.#ownPage(exchange, progress, head);
    });
    if (answer instanceof Promise) {
      const found = this.#router.find(exchange.method, exchange.path);
      if (found.kind === 'routed') this.#pipeline.beginBody(exchange, found.operation);
    }
    return answer;
  }

  #content(exchange: Exchange, slug: string): Answer | Promise<Answer> {
    return contentAnswer(this.#deps.content, this.bodies, exchange, slug);
  }

  #ownPage(exchange: Exchange, progress: Progress, head: ArtifactHead): Answer | Promise<Answer> {
    const { headers, method } = exchange;
    exchange.corsLines = corsLinesOf(exchange);
    return chain(this.#admission.pass(headers, head, headers.authorization, mayChange(method)), (pass) => {
      exchange.pass = pass;
      return this.#api(exchange, progress);
    });
  }

  #api(exchange: Exchange, progress: Progress): Answer | Promise<Answer> {
    const { method, path, headers } = exchange;
    const isData = path.startsWith(DATA_PREFIX);
    if (isData) exchange.corsLines = corsLinesOf(exchange);
    const found = this.#router.find(method, path);
    switch (found.kind) {
      case 'unknown':
        throw new Failure('NOT_FOUND');
      case 'wrong_method':
        if (isData && method === 'OPTIONS' && headers.get('access-control-request-method') !== '') return this.#preflight(exchange);
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

  #preflight(exchange: Exchange): Answer | Promise<Answer> {
    exchange.corsLines = '';
    const id = ARTIFACT_OF_PATH.exec(exchange.path)?.[1];
    if (id === undefined || this.#hosts.slugOfOrigin(exchange.headers.get('origin')) === undefined) {
      return preflightAnswer(this.#hosts, exchange, undefined);
    }
    // Which page a private artifact has is not told to whoever asks.
    return chain(this.#deps.heads.get(id as ArtifactId), (head) =>
      preflightAnswer(this.#hosts, exchange, head?.visibility === 'public' ? head.slug : undefined),
    );
  }

  /**
   * The parser goes on with what follows in the same packet, and that is what must never be taken for a request.
   * While an answer is outstanding it closes the connection at the first sign of one; so the answer waits a turn of the event loop.
   */
  #failLater(exchange: Exchange, progress: Progress, error: unknown): void {
    exchange.detach();
    setImmediate(() => this.#fail(exchange, progress, error));
  }

  #fail(exchange: Exchange, progress: Progress, error: unknown): void {
    let failure: Failure;
    if (error instanceof Failure) failure = error;
    else if (error instanceof ReplayedFailure) {
      exchange.replayed = true;
      failure = error.failure;
    } else {
      failure = new Failure('INTERNAL_ERROR');
      if (!(error instanceof ClientGone)) this.#report(exchange, progress, error);
    }
    const { requestId, path, headers } = exchange;
    const body = progress.operation?.endpoint.body;
    const extras: FailureExtras = {
      ...(progress.allow !== undefined && { allow: progress.allow }),
      ...(failure.code === 'UNSUPPORTED_MEDIA_TYPE' && body !== undefined && { types: typesOf(body) ?? [] }),
    };
    this.#finish(exchange, progress, failureAnswer(failure, { requestId, path, accept: headers.get('accept') }, extras));
  }

  #report(exchange: Exchange, progress: Progress, error: unknown): void {
    this.#deps.metrics.unexpected();
    const { requestId, method, path } = exchange;
    this.#deps.log.error({ err: error, requestId, method, path, operation: progress.operation?.id }, 'A request failed for a bug');
  }

  #finish(exchange: Exchange, progress: Progress, answer: Answer): void {
    const closeAfter = progress.closeAfter || this.readiness.state === 'draining';
    const sent = (error?: unknown) => {
      if (error !== undefined && !(error instanceof Failure)) this.#report(exchange, progress, error);
      this.#sent(exchange, progress, answer.status);
    };
    if (answer.stream?.endless) this.#endless.add(exchange);
    try {
      exchange.send(answer, closeAfter, sent);
    } catch (error) {
      // A handler that returns without an answer ends the process: uWebSockets insists on one.
      this.#report(exchange, progress, error);
      exchange.drop();
      sent();
    }
  }

  #sent(exchange: Exchange, progress: Progress, status: number): void {
    const durationMs = this.#deps.clock.monotonicMs() - exchange.startedMs;
    progress.meter.record(status, durationMs);
    if (exchange.headers.contentLength > 0) this.bodies.release(exchange);
    if (this.#logsEach) {
      const { requestId, method, path, aborted } = exchange;
      this.#deps.log.debug({ requestId, method, path, operation: progress.operation?.id, status, durationMs, aborted }, 'request');
    }
    this.#endless.delete(exchange);
    this.#open -= 1;
    if (this.#open > 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}

function corsLinesOf({ headers }: Exchange): string {
  return headers.get('origin') === '' ? NO_ORIGIN_LINES : ANY_ORIGIN_LINES;
}

function mayChange(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

function refusalOf(malformation: Malformation): Failure {
  switch (malformation) {
    case 'host':
      return new Failure('INVALID_REQUEST', { message: 'The request needs exactly one valid Host header.', param: 'Host' });
    case 'length':
      return new Failure('INVALID_REQUEST', { message: 'Content-Length must be one whole number.', param: 'Content-Length' });
    case 'transfer-encoding':
      return new Failure('LENGTH_REQUIRED', { param: 'Transfer-Encoding' });
    default:
      return malformation satisfies never;
  }
}
