/** The door to the thread for whole documents. It runs while there is work and a little longer. */
import { Worker } from 'node:worker_threads';
import type { RootKinds, View } from '../../actors/document-view.ts';
import type { Clock, Timer } from '../../actors/ports.ts';
import { Failure } from '../../protocol/errors.ts';

export type DocumentJob =
  | { readonly kind: 'merge'; readonly snapshot: Uint8Array | null; readonly updates: Uint8Array }
  | { readonly kind: 'restore'; readonly current: Uint8Array; readonly target: Uint8Array }
  | { readonly kind: 'view'; readonly snapshot: Uint8Array | null; readonly updates: Uint8Array; readonly view: View };

export interface DocumentTask {
  readonly id: number;
  readonly job: DocumentJob;
}

export interface JobValue {
  /** An update, or of a view UTF-8. */
  readonly bytes: Uint8Array;
  /** Of a view. */
  readonly types?: RootKinds;
}

export type JobResult = { readonly id: number } & ({ readonly value: JobValue } | { readonly error: Error });

interface Waiting {
  readonly deadline: Timer;
  resolve(value: JobValue): void;
  reject(error: Error): void;
}

const IDLE_MS = 30_000;
// The largest document takes seconds. One that takes longer would keep all others waiting.
const JOB_DEADLINE_MS = 60_000;
const JOBS_MAX = 100;
// Of a document of the largest size, and of a copy of it.
const HEAP_MB_MAX = 2048;

export class DocumentThread {
  readonly #workerFile: string;
  readonly #clock: Clock;
  #worker: Worker | undefined;
  #idle: Timer | undefined;
  #jobs = 0;
  readonly #waiting = new Map<number, Waiting>();

  /** `workerFile` is the bundled `document-worker`. */
  constructor(workerFile: string, clock: Clock) {
    this.#workerFile = workerFile;
    this.#clock = clock;
  }

  /** One update that holds a snapshot and what came after it; `updates` one after the other, each with its length before it. */
  async merge(snapshot: Uint8Array | null, updates: Uint8Array): Promise<Uint8Array> {
    return (await this.#run({ kind: 'merge', snapshot: snapshot && owned(snapshot), updates: owned(updates) })).bytes;
  }

  /** The update that brings a document in the state `current` back to what it showed in its earlier state `target`. */
  async restoring(current: Uint8Array, target: Uint8Array): Promise<Uint8Array> {
    return (await this.#run({ kind: 'restore', current: owned(current), target: owned(target) })).bytes;
  }

  /** What the document that `merge` would make shows. Rejects with RangeError where its types are nested too deep. */
  async view(
    snapshot: Uint8Array | null,
    updates: Uint8Array,
    view: View,
  ): Promise<{ readonly types: RootKinds; readonly bytes: Uint8Array }> {
    const { bytes, types } = await this.#run({ kind: 'view', snapshot: snapshot && owned(snapshot), updates: owned(updates), view });
    return { bytes, types: types ?? {} };
  }

  async close(): Promise<void> {
    this.#idle?.cancel();
    this.#fail(new Error('the thread for documents was stopped'));
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  /** Rejects with UNAVAILABLE where too many wait, with what went wrong otherwise. */
  #run(job: DocumentJob): Promise<JobValue> {
    if (this.#waiting.size >= JOBS_MAX) {
      return Promise.reject(new Failure('UNAVAILABLE', { message: 'Too many documents are being worked on.', retryAfterS: 1 }));
    }
    this.#idle?.cancel();
    const worker = this.#worker ?? this.#start();
    this.#jobs += 1;
    const id = this.#jobs;
    return new Promise((resolve, reject) => {
      const deadline = this.#clock.after(JOB_DEADLINE_MS, () => this.#giveUp(worker, new Error('a document took too long')));
      this.#waiting.set(id, { deadline, resolve, reject });
      worker.postMessage({ id, job } satisfies DocumentTask, buffersOf(job));
    });
  }

  #start(): Worker {
    const worker = new Worker(this.#workerFile, {
      name: 'documents',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    // Whoever waits for a document keeps the process alive by himself.
    worker.unref();
    worker.on('message', (result: JobResult) => this.#settle(result));
    worker.on('error', (error) => this.#giveUp(worker, error));
    worker.on('exit', (code) => this.#giveUp(worker, new Error(`the thread for documents ended with code ${code}`)));
    this.#worker = worker;
    return worker;
  }

  #settle(result: JobResult): void {
    const waiting = this.#waiting.get(result.id);
    if (waiting === undefined) return;
    this.#waiting.delete(result.id);
    waiting.deadline.cancel();
    if ('value' in result) waiting.resolve(result.value);
    else waiting.reject(result.error);
    if (this.#waiting.size === 0) this.#idle = this.#clock.after(IDLE_MS, () => void this.close());
  }

  /** This thread answers nothing more; the next job starts another. */
  #giveUp(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
    this.#fail(error);
  }

  #fail(error: Error): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { deadline, reject } of waiting) {
      deadline.cancel();
      reject(error);
    }
  }
}

/** A copy that can be handed over: what comes from the database shares its memory with other rows. */
function owned(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

function buffersOf(job: DocumentJob): ArrayBuffer[] {
  const parts = job.kind === 'restore' ? [job.current, job.target] : [job.snapshot, job.updates];
  return parts.flatMap((part) => (part === null ? [] : [part.buffer as ArrayBuffer]));
}
