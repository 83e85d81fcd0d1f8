/**
 * The open-loop generator: many artifacts, each called at a constant rate that does not depend on the server. A call's latency is measured from
 * its scheduled time, so that a stall of the server counts for all calls that wait (no coordinated omission).
 */
import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { artifactId, KEYS_EACH } from '../servers/fixture.ts';
import { cpuUsOfAll, machineCpuUs } from '../servers/processes.ts';
import { Latencies } from './latency.ts';
import { PacedConnection } from './paced-connection.ts';

export interface PacedCall {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Path below `/v1/data/{id}`; `#` is replaced with the number of one of the artifact's keys. */
  readonly path: string;
  /** JSON. */
  readonly body?: string;
}

export interface PacedLoad {
  readonly origin: string;
  readonly token: string;
  /** Artifacts `firstArtifact … firstArtifact + artifacts - 1`, unless `artifactIds` names them. */
  readonly firstArtifact: number;
  readonly artifactIds?: readonly string[];
  readonly artifacts: number;
  readonly callsPerMinuteEach: number;
  readonly read: PacedCall;
  readonly write: PacedCall;
  /** One of this many calls of an artifact is the write; 0: no writes. */
  readonly writeEvery: number;
  readonly connections: number;
  readonly warmUpS: number;
  readonly measuredS: number;
  /** Seed of the artifacts' phases, so that a step can be repeated. */
  readonly seed: number;
  readonly serverPid: number;
  /** Further nodes, whose CPU time counts as the server's. */
  readonly otherServerPids?: readonly number[];
  readonly databasePids: readonly number[];
  /** Where permitted, the generator comes before whatever shares its core, which would otherwise be measured as latency. */
  readonly isFirst?: boolean;
}

export interface Percentiles {
  readonly calls: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Latencies of the calls scheduled within the measured time. */
export interface Paced {
  readonly intendedPerS: number;
  readonly answeredPerS: number;
  readonly all: Percentiles & { readonly p999Ms: number };
  readonly reads: Percentiles;
  readonly writes: Percentiles;
  /** Answers with 429, warm-up included; none is expected at this rate. */
  readonly refused: number;
  /** Other answers that are not 2xx, broken connections, and calls without an answer at the end. */
  readonly failures: number;
  /** Delay caused by the generator: a call was due and a connection free. */
  readonly generatorLagP99Ms: number;
  /** Shares of one core, 0–1. */
  readonly serverShare: number;
  readonly databaseShare: number;
  readonly generatorShare: number;
  /** All other processes of this machine, including the database's writers and the hypervisor. */
  readonly othersShare: number;
  readonly serverCpuUsEach: number;
  /** The backlog of due calls was so long that the step was stopped. */
  readonly gaveUp: boolean;
}

const TICK_MS = 1;
/** Backlog beyond which a server cannot catch up within a step. */
const HOPELESS_MS = 3000;
const PATIENCE_MS = 2000;

export async function generatePaced(file: string): Promise<void> {
  const load = JSON.parse(readFileSync(file, 'utf8')) as PacedLoad;
  if (load.isFirst) comeFirst();
  const run = new PacedRun(load);
  await run.connect();
  console.log(JSON.stringify(await run.measure()));
  run.close();
}

function comeFirst(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGH);
  } catch {
    // Only an administrator may.
  }
}

class PacedRun {
  readonly #load: PacedLoad;
  readonly #artifacts: readonly { readonly phaseMs: number; readonly read: Buffer; readonly write: Buffer }[];
  readonly #intervalMs: number;
  readonly #callsTotal: number;
  readonly #warmUpMs: number;
  readonly #reads = new Latencies();
  readonly #writes = new Latencies();
  readonly #lags = new Latencies();
  #connections: PacedConnection[] = [];
  /** Idle connections, longest idle first, so that all are used. */
  #idle: PacedConnection[] = [];
  #beganMs = 0;
  /** Calls 0 … #due - 1 are due; calls 0 … #sent - 1 of them are sent. Artifacts follow each other in the order of their phases. */
  #due = 0;
  #sent = 0;
  #answered = 0;
  #refused = 0;
  #failures = 0;

  constructor(load: PacedLoad) {
    this.#load = load;
    this.#intervalMs = 60_000 / load.callsPerMinuteEach;
    this.#warmUpMs = load.warmUpS * 1000;
    this.#callsTotal = Math.floor(((load.warmUpS + load.measuredS) * 1000 * load.artifacts) / this.#intervalMs);
    const random = mulberry32(load.seed);
    this.#artifacts = Array.from({ length: load.artifacts }, (_, number) => ({
      phaseMs: random() * this.#intervalMs,
      read: requestOf(load, number, load.read),
      write: requestOf(load, number, load.write),
    })).toSorted((a, b) => a.phaseMs - b.phaseMs);
  }

  async connect(): Promise<void> {
    const port = Number(new URL(this.#load.origin).port);
    const answered = (connection: PacedConnection, status: number) => this.#onAnswer(connection, status);
    for (let opened = 0; opened < this.#load.connections; opened++) this.#connections.push(await PacedConnection.open(port, answered));
    this.#idle = [...this.#connections];
  }

  async measure(): Promise<Paced> {
    this.#beganMs = performance.now();
    await this.#paceUntil(this.#warmUpMs);
    const before = await this.#cpu();
    await this.#paceUntil(Number.POSITIVE_INFINITY);
    const after = await this.#cpu();
    const gaveUp = this.#due < this.#callsTotal;
    const deadlineMs = performance.now() + (gaveUp ? 0 : PATIENCE_MS);
    while (this.#answered < this.#callsTotal && performance.now() < deadlineMs) await pause(TICK_MS);
    const elapsedUs = (after.atMs - before.atMs) * 1000;
    const answeredMeanwhile = after.answered - before.answered;
    const all = new Latencies();
    all.addAll(this.#reads);
    all.addAll(this.#writes);
    return {
      intendedPerS: (this.#load.artifacts * 1000) / this.#intervalMs,
      answeredPerS: (answeredMeanwhile / elapsedUs) * 1e6,
      all: { ...percentiles(all), p999Ms: all.percentileMs(0.999) },
      reads: percentiles(this.#reads),
      writes: percentiles(this.#writes),
      refused: this.#refused,
      failures: this.#failures + (this.#due - this.#answered),
      generatorLagP99Ms: this.#lags.percentileMs(0.99),
      serverShare: (after.serverUs - before.serverUs) / elapsedUs,
      databaseShare: (after.databaseUs - before.databaseUs) / elapsedUs,
      generatorShare: (after.ownUs - before.ownUs) / elapsedUs,
      othersShare: Math.max(0, after.othersUs - before.othersUs) / elapsedUs,
      serverCpuUsEach: (after.serverUs - before.serverUs) / Math.max(1, answeredMeanwhile),
      gaveUp,
    };
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  /** Sends due calls until `untilMs` after the start, or until no call is left. */
  async #paceUntil(untilMs: number): Promise<void> {
    while (this.#due < this.#callsTotal && this.#intendedMs(this.#due) < untilMs) {
      const nowMs = performance.now() - this.#beganMs;
      this.#sendDue(nowMs);
      if (this.#sent < this.#due && nowMs - this.#intendedMs(this.#sent) > HOPELESS_MS) return;
      await pause(TICK_MS);
    }
  }

  #sendDue(nowMs: number): void {
    while (this.#due < this.#callsTotal && this.#intendedMs(this.#due) <= nowMs) {
      if (this.#idle.length > 0) this.#lags.add(nowMs - this.#intendedMs(this.#due));
      this.#due += 1;
    }
    let taken = 0;
    while (this.#sent < this.#due && taken < this.#idle.length) {
      const connection = this.#idle[taken++];
      if (connection?.isOpen) this.#send(connection);
    }
    if (taken > 0) this.#idle = this.#idle.slice(taken);
  }

  #send(connection: PacedConnection): void {
    const call = this.#sent++;
    const artifact = this.#artifacts[call % this.#artifacts.length];
    if (artifact !== undefined) connection.send(call, this.#isWrite(call) ? artifact.write : artifact.read);
  }

  #onAnswer(connection: PacedConnection, status: number): void {
    const nowMs = performance.now() - this.#beganMs;
    const { call } = connection;
    connection.call = -1;
    this.#answered += 1;
    const intendedMs = this.#intendedMs(call);
    if (status === 429) this.#refused += 1;
    else if (status < 200 || status > 299) this.#failures += 1;
    if (intendedMs >= this.#warmUpMs) (this.#isWrite(call) ? this.#writes : this.#reads).add(nowMs - intendedMs);
    if (!connection.isOpen) return;
    if (this.#sent < this.#due) this.#send(connection);
    else this.#idle.push(connection);
  }

  #intendedMs(call: number): number {
    const turn = Math.floor(call / this.#artifacts.length);
    return turn * this.#intervalMs + (this.#artifacts[call % this.#artifacts.length]?.phaseMs ?? 0);
  }

  /** Spreads the writes: each artifact begins at another of its ten calls. */
  #isWrite(call: number): boolean {
    if (this.#load.writeEvery === 0) return false;
    const turn = Math.floor(call / this.#artifacts.length);
    return (turn + (call % this.#artifacts.length)) % this.#load.writeEvery === 0;
  }

  async #cpu() {
    const own = process.cpuUsage();
    const { serverPid, otherServerPids = [], databasePids } = this.#load;
    const [serverUs, databaseUs, machineUs] = await Promise.all([
      cpuUsOfAll([serverPid, ...otherServerPids]),
      cpuUsOfAll(databasePids),
      machineCpuUs(),
    ]);
    const ownUs = own.user + own.system;
    const othersUs = machineUs - serverUs - databaseUs - ownUs;
    return { atMs: performance.now(), answered: this.#answered, ownUs, serverUs, databaseUs, othersUs };
  }
}

function percentiles(latencies: Latencies): Percentiles {
  return { calls: latencies.count, p50Ms: latencies.percentileMs(0.5), p99Ms: latencies.percentileMs(0.99) };
}

function requestOf(load: PacedLoad, index: number, call: PacedCall): Buffer {
  const number = load.firstArtifact + index;
  const id = load.artifactIds?.[index] ?? artifactId(number);
  const path = `/v1/data/${id}${call.path.replace('#', String(number % KEYS_EACH))}`;
  const head = `${call.method} ${path} HTTP/1.1\r\nHost: ${new URL(load.origin).host}\r\nAuthorization: Bearer ${load.token}\r\n`;
  if (call.body === undefined) return Buffer.from(`${head}\r\n`);
  return Buffer.from(`${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(call.body)}\r\n\r\n${call.body}`);
}

/** A small seeded random generator (0 to 1) with the same results on every machine. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
