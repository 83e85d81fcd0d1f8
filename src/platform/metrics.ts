/** The metrics at /metrics. The hot path increments plain numbers, and prom-client reads them at each scrape. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import type { RuntimeMeter, SlowTurn } from '../../actors/runtime/ports.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import type { Exhausted, Refusals } from './shares.ts';

/** Upper bounds of the buckets, in seconds. */
const REQUEST_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const COMMIT_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const TURN_BUCKETS_MS = [0.1, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 1000];
const BATCH_BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 5000];

/** Counters of the requests of one operation. */
export class RequestMeter {
  readonly byStatus = new Map<number, number>();
  readonly buckets = new Float64Array(REQUEST_BUCKETS_S.length + 1);
  totalS = 0;

  record(status: number, durationMs: number): void {
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    const durationS = durationMs / 1000;
    this.totalS += durationS;
    let bucket = 0;
    while (bucket < REQUEST_BUCKETS_S.length && durationS > (REQUEST_BUCKETS_S[bucket] ?? 0)) bucket += 1;
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
  }
}

/** The figures of the actor runtime. */
export interface RuntimeStats {
  readonly actors: number;
  readonly residentBytes: number;
  readonly mailboxDepth: number;
  readonly pendingChanges: number;
}

interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/** How often the delay of the event loop is measured, which the delay includes. The default of 10 ms is half of what an idle service costs. */
const LOOP_SAMPLE_MS = 50;

let processRegistry: Registry | undefined;

/**
 * Event-loop lag, memory, CPU and garbage collection. They are of the process, whatever services it holds, and prom-client's observers of them can
 * not be ended: with one for each service, those of closed ones would be called at every garbage collection, and keep all that they count.
 */
function ofProcess(): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS });
  }
  return processRegistry;
}

export class Metrics implements RuntimeMeter, Refusals {
  readonly #registry = new Registry();
  readonly #requests = new Map<string, RequestMeter>();
  readonly #commitSeconds: Histogram<'outcome'>;
  readonly #commitChanges: Histogram;
  readonly #commitArtifacts: Histogram;
  readonly #loadSeconds: Histogram;
  readonly #unexpected: Counter;
  readonly #refusedWrites: Counter<'by'>;
  readonly #turns = new Float64Array(TURN_BUCKETS_MS.length + 1);
  #turnsMs = 0;
  readonly #slowTurns: SlowTurn[] = [];
  readonly #slowTurnsMax = LIMITS.slowTurnsKept;
  readonly #refusals: Counter<'resource' | 'share'>;

  constructor() {
    ofProcess();
    const registers = [this.#registry];
    this.#commitSeconds = new Histogram({
      name: 'easel_commit_seconds',
      help: 'Time of one group commit of the journal.',
      labelNames: ['outcome'],
      buckets: COMMIT_BUCKETS_S,
      registers,
    });
    this.#commitChanges = new Histogram({
      name: 'easel_commit_changes',
      help: 'Changes in one group commit.',
      buckets: BATCH_BUCKETS,
      registers,
    });
    this.#commitArtifacts = new Histogram({
      name: 'easel_commit_artifacts',
      help: 'Artifacts in one group commit.',
      buckets: BATCH_BUCKETS,
      registers,
    });
    this.#loadSeconds = new Histogram({
      name: 'easel_actor_load_seconds',
      help: 'Time to load one actor.',
      buckets: COMMIT_BUCKETS_S,
      registers,
    });
    this.#refusedWrites = new Counter({
      name: 'easel_refused_writes_total',
      help: 'Writes refused because too many changes wait for a commit: of their artifact, or of all.',
      labelNames: ['by'],
      registers,
    });
    this.#unexpected = new Counter({ name: 'easel_unexpected_errors_total', help: 'Requests that failed because of a bug.', registers });
    this.#register('easel_turn_seconds', 'Time of one turn of an actor, which holds the event loop.', 'histogram', () => this.#turnTimes());
    this.#refusals = new Counter({
      name: 'easel_share_refusals_total',
      help: 'Refusals because a shared resource, or the share of a network, caller or artifact in it, was used up.',
      labelNames: ['resource', 'share'],
      registers,
    });
    this.#register('easel_requests_total', 'Requests by operation and status.', 'counter', () => this.#requestCounts());
    this.#register('easel_request_seconds', 'Time from the head of a request to its answer.', 'histogram', () => this.#requestTimes());
  }

  turn(durationMs: number): void {
    this.#turnsMs += durationMs;
    let bucket = 0;
    while (bucket < TURN_BUCKETS_MS.length && durationMs > (TURN_BUCKETS_MS[bucket] ?? 0)) bucket += 1;
    this.#turns[bucket] = (this.#turns[bucket] ?? 0) + 1;
  }

  /** The last of them, the newest last. */
  get slowTurns(): readonly SlowTurn[] {
    return this.#slowTurns;
  }

  slowTurn(turn: SlowTurn): void {
    this.#slowTurns.push(turn);
    if (this.#slowTurns.length > this.#slowTurnsMax) this.#slowTurns.shift();
  }

  /** The meter of one operation of the endpoint table, of `content` or of `unrouted`. */
  requests(operation: string): RequestMeter {
    const known = this.#requests.get(operation);
    if (known !== undefined) return known;
    const meter = new RequestMeter();
    this.#requests.set(operation, meter);
    return meter;
  }

  unexpected(): void {
    this.#unexpected.inc();
  }

  refused(resource: string, share: Exhausted): void {
    this.#refusals.inc({ resource, share });
  }

  commit(changes: number, artifacts: number, durationMs: number, outcome: 'ok' | 'failed'): void {
    this.#commitSeconds.observe({ outcome }, durationMs / 1000);
    this.#commitChanges.observe(changes);
    this.#commitArtifacts.observe(artifacts);
  }

  loaded(durationMs: number): void {
    this.#loadSeconds.observe(durationMs / 1000);
  }

  writeRefused(by: 'artifact' | 'total'): void {
    this.#refusedWrites.inc({ by });
  }

  /** Registers the gauges of the runtime. Call it once. */
  watchRuntime(stats: () => RuntimeStats): void {
    this.watch('easel_actors_resident', 'Actors in memory.', () => stats().actors);
    this.watch('easel_actors_resident_bytes', 'Estimated bytes of actor state in memory.', () => stats().residentBytes);
    this.watch('easel_mailbox_depth', 'Calls that wait for an actor.', () => stats().mailboxDepth);
    this.watch('easel_pending_changes', 'Changes that wait for a commit.', () => stats().pendingChanges);
  }

  /** Registers a gauge that is read at each scrape. */
  watch(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** Registers a counter that is read at each scrape. */
  count(name: string, help: string, read: () => number): void {
    this.#register(name, help, 'counter', () => [{ labels: {}, value: read() }]);
  }

  /** Registers a histogram. `bucketsS`: upper bounds in seconds. Answers what takes a duration in ms. */
  histogram(name: string, help: string, bucketsS: readonly number[]): (durationMs: number) => void {
    const histogram = new Histogram({ name, help, buckets: [...bucketsS], registers: [this.#registry] });
    return (durationMs) => histogram.observe(durationMs / 1000);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    return `${await ofProcess().metrics()}\n${await this.#registry.metrics()}`;
  }

  #turnTimes(): Sample[] {
    const name = 'easel_turn_seconds';
    let cumulative = 0;
    const buckets = [...TURN_BUCKETS_MS.map((ms) => ms / 1000), '+Inf'].map((le, index) => {
      cumulative += this.#turns[index] ?? 0;
      return { labels: { le }, value: cumulative, metricName: `${name}_bucket` };
    });
    const sum = { labels: {}, value: this.#turnsMs / 1000, metricName: `${name}_sum` };
    return [...buckets, sum, { labels: {}, value: cumulative, metricName: `${name}_count` }];
  }

  #requestCounts(): Sample[] {
    return [...this.#requests].flatMap(([operation, meter]) =>
      [...meter.byStatus].map(([status, value]) => ({ labels: { operation, status }, value })),
    );
  }

  #requestTimes(): Sample[] {
    const name = 'easel_request_seconds';
    return [...this.#requests].flatMap(([operation, meter]) => {
      let cumulative = 0;
      const buckets = [...REQUEST_BUCKETS_S, '+Inf'].map((le, index) => {
        cumulative += meter.buckets[index] ?? 0;
        return { labels: { operation, le }, value: cumulative, metricName: `${name}_bucket` };
      });
      return [
        ...buckets,
        { labels: { operation }, value: meter.totalS, metricName: `${name}_sum` },
        { labels: { operation }, value: cumulative, metricName: `${name}_count` },
      ];
    });
  }

  /** A prom-client metric that only reads our plain numbers instead of keeping its own. */
  #register(name: string, help: string, type: 'counter' | 'histogram', read: () => Sample[]): void {
    const metric = { name, help, get: async () => ({ name, help, type, aggregator: 'sum', values: read() }) };
    this.#registry.registerMetric(metric as unknown as Metric);
  }
}
