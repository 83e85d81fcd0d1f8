/** Generator `generate-editing`, a separate process: writers type at a constant rate, and readers count updates. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import * as Y from 'yjs';
import { Latencies } from '../load/latency.ts';
import { cpuUs } from '../servers/processes.ts';
import { Client, type Place } from './client.ts';

export interface Editing {
  /** One document each, with a writer and readers that are connected before the first edit. */
  readonly places: readonly Place[];
  readonly readersEach: number;
  /** Edits/s of each writer. */
  readonly editsPerS: number;
  readonly warmUpS: number;
  readonly durationS: number;
  /** If set, each writer stops after this many edits, independent of the time. */
  readonly editsMax?: number;
  /** The process whose CPU time is measured. */
  readonly serverPid: number;
}

export interface Edited {
  /** Within the measured time. */
  readonly edits: number;
  readonly deliveries: number;
  readonly elapsedS: number;
  /** Edits that a reader did not receive. */
  readonly undelivered: number;
  readonly serverCpuUs: number;
  /** Share of its core that this generator used, 0–1. */
  readonly generatorShare: number;
  readonly delivery: { readonly p50Ms: number; readonly p99Ms: number };
  /** Time from the edit to the acknowledgement that it is stored; null if the server sends none. */
  readonly saved: { readonly p50Ms: number; readonly p99Ms: number } | null;
}

const JOINS_AT_ONCE = 50;
const SETTLE_DEADLINE_MS = 10_000;

class Counts {
  readonly delivery = new Latencies();
  readonly saved = new Latencies();
  deliveries = 0;
  isMeasuring = false;
}

class EditGroup {
  readonly #doc = new Y.Doc({ gc: false });
  readonly #text = this.#doc.getText('text');
  readonly #counts: Counts;
  readonly #sentMs: number[] = [];
  readonly #received: number[] = [];
  #saved = 0;
  writer: Client | undefined;
  readers: Client[] = [];

  constructor(counts: Counts) {
    this.#counts = counts;
    this.#doc.on('update', (update: Uint8Array) => {
      this.#sentMs.push(performance.now());
      this.writer?.send(update);
    });
  }

  async join(place: Place, readers: number): Promise<void> {
    const { client } = await Client.join(place);
    this.writer = client;
    // y-websocket acknowledges an edit by an echo, Hocuspocus by a message.
    if (place.dialect === 'y-websocket') client.onUpdate = () => this.#isSaved();
    else client.onSaved = () => this.#isSaved();
    for (let joined = 0; joined < readers; joined += JOINS_AT_ONCE) {
      const some = Math.min(JOINS_AT_ONCE, readers - joined);
      const clients = await Promise.all(Array.from({ length: some }, () => Client.join(place)));
      for (const { client: reader } of clients) {
        const index = this.readers.push(reader) - 1;
        this.#received.push(0);
        reader.onUpdate = () => this.#receive(index);
      }
    }
  }

  type(): void {
    this.#text.insert(this.#text.length, 'x');
  }

  get edits(): number {
    return this.#sentMs.length;
  }

  get undelivered(): number {
    return this.#received.reduce((sum, received) => sum + this.edits - received, 0);
  }

  close(): void {
    this.writer?.close();
    for (const reader of this.readers) reader.close();
  }

  /** Frames arrive in order and each document has one writer, so the n-th frame received is the n-th sent. */
  #receive(reader: number): void {
    const number = this.#received[reader] ?? 0;
    this.#received[reader] = number + 1;
    if (!this.#counts.isMeasuring) return;
    this.#counts.deliveries += 1;
    this.#counts.delivery.add(performance.now() - (this.#sentMs[number] ?? 0));
  }

  #isSaved(): void {
    const number = this.#saved++;
    if (this.#counts.isMeasuring && number < this.#sentMs.length) this.#counts.saved.add(performance.now() - (this.#sentMs[number] ?? 0));
  }
}

export async function generateEditing(file: string): Promise<void> {
  console.log(JSON.stringify(await edit(JSON.parse(readFileSync(file, 'utf8')) as Editing)));
  process.exit(0);
}

async function edit(editing: Editing): Promise<Edited> {
  const counts = new Counts();
  const groups: EditGroup[] = [];
  for (let first = 0; first < editing.places.length; first += JOINS_AT_ONCE) {
    const some = editing.places.slice(first, first + JOINS_AT_ONCE).map(async (place) => {
      const group = new EditGroup(counts);
      groups.push(group);
      await group.join(place, editing.readersEach);
    });
    await Promise.all(some);
  }
  await typeFor(groups, editing.editsPerS, editing.warmUpS);
  const editsBefore = sum(groups);
  const cpuBefore = await cpuUs(editing.serverPid);
  const ownBefore = process.cpuUsage();
  const beganMs = performance.now();
  counts.isMeasuring = true;
  await typeFor(groups, editing.editsPerS, editing.durationS, editing.editsMax);
  const edits = sum(groups) - editsBefore;
  await untilDelivered(groups);
  counts.isMeasuring = false;
  const elapsedMs = performance.now() - beganMs;
  const own = process.cpuUsage(ownBefore);
  const serverCpuUs = (await cpuUs(editing.serverPid)) - cpuBefore;
  const closed = groups.flatMap(({ writer, readers }) => [writer, ...readers]).find((client) => client?.closedBy !== undefined);
  if (closed !== undefined) throw new Error(`A connection was ${closed.closedBy} during the measurement: the run is void.`);
  const undelivered = groups.reduce((total, group) => total + group.undelivered, 0);
  for (const group of groups) group.close();
  return {
    edits,
    deliveries: counts.deliveries,
    elapsedS: elapsedMs / 1000,
    undelivered,
    serverCpuUs,
    generatorShare: (own.user + own.system) / (elapsedMs * 1000),
    delivery: percentiles(counts.delivery),
    saved: counts.saved.count > 0 ? percentiles(counts.saved) : null,
  };
}

/** Each document has its own phase, so that edits do not come in bursts; late edits are sent at once. With `editsMax` the time does not matter. */
async function typeFor(groups: readonly EditGroup[], editsPerS: number, seconds: number, editsMax?: number): Promise<void> {
  const beganMs = performance.now();
  const gapMs = 1000 / editsPerS;
  const typed = groups.map(() => 0);
  for (;;) {
    const nowMs = performance.now() - beganMs;
    if (editsMax === undefined ? nowMs >= seconds * 1000 : typed.every((edits) => edits >= editsMax)) return;
    for (const [index, group] of groups.entries()) {
      const due = Math.min(editsMax ?? Number.POSITIVE_INFINITY, Math.floor((nowMs - (index / groups.length) * gapMs) / gapMs) + 1);
      for (; (typed[index] ?? 0) < due; typed[index] = (typed[index] ?? 0) + 1) group.type();
    }
    await pause(1);
  }
}

async function untilDelivered(groups: readonly EditGroup[]): Promise<void> {
  const deadline = performance.now() + SETTLE_DEADLINE_MS;
  while (groups.some((group) => group.undelivered > 0) && performance.now() < deadline) await pause(5);
}

function sum(groups: readonly EditGroup[]): number {
  return groups.reduce((total, group) => total + group.edits, 0);
}

function percentiles(latencies: Latencies): { p50Ms: number; p99Ms: number } {
  return { p50Ms: latencies.percentileMs(0.5), p99Ms: latencies.percentileMs(0.99) };
}
