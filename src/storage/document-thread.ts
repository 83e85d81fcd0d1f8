/**
 * Runs jobs in the thread for whole documents, one after the other and the artifacts in turn, so that one with many or slow documents delays
 * another by one job. The thread stops after being idle for a while.
 */
import { Worker } from 'node:worker_threads';
import type { RootKinds, View } from '../../actors/documents/document-view.ts';
import type { Clock, Timer } from '../../actors/runtime/ports.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { Lanes } from '../platform/lanes.ts';
import { joined } from './slices.ts';

export type DocumentJob =
  | { readonly kind: 'merge'; readonly snapshot: Uint8Array | null; readonly updates: Uint8Array }
  | { readonly kind: 'restore'; readonly current: Uint8Array; readonly target: Uint8Array }
  | { readonly kind: 'view'; readonly snapshot: Uint8Array | null; readonly updates: Uint8Array; readonly view: View };

export interface DocumentTask {
  readonly id: number;
  readonly job: DocumentJob;
}

export interface JobValue {
  /** An update, or the UTF-8 text of a view. */
  readonly bytes: Uint8Array;
  /** Only set for a view. */
  readonly types?: RootKinds;
}

export type JobResult = { readonly id: number } & ({ readonly value: JobValue } | { readonly error: Error });

interface Waiting {
  readonly job: DocumentJob;
  resolve(value: JobValue): void;
  reject(error: Error): void;
}

const IDLE_MS = 30_000;
// The largest document takes seconds. One that takes longer would keep all others waiting.
const JOB_DEADLINE_MS = 60_000;
const JOBS_MAX = 100;
/** Of one artifact. */
const ARTIFACT_JOBS_MAX = 20;
/** The lane of jobs that belong to no artifact yet. */
const NO_ARTIFACT = '';
// Enough for a document of the maximum size and a copy of it.
const HEAP_MB_MAX = 2048;

export class DocumentThread {
  readonly #workerFile: string;
  readonly #clock: Clock;
  #worker: Worker | undefined;
  #idle: Timer | undefined;
  #jobs = 0;
  readonly #waiting = new Lanes<Waiting>();
  #running: { readonly id: number; readonly waiting: Waiting; readonly deadline: Timer } | undefined;

  /** `workerFile` is the bundled `document-worker`. */
  constructor(workerFile: string, clock: Clock) {
    this.#workerFile = workerFile;
    this.#clock = clock;
  }

  /** One update that holds a snapshot and what came after it; `updates` one after the other, each with its length before it. */
  async merge(snapshot: Uint8Array | null, updates: Uint8Array, artifactId = NO_ARTIFACT): Promise<Uint8Array> {
    const job = { kind: 'merge', snapshot: snapshot && (await owned(snapshot)), updates: await owned(updates) } as const;
    return (await this.#run(job, artifactId)).bytes;
  }

  /** The update that brings a document in the state `current` back to what it showed in its earlier state `target`. */
  async restoring(current: Uint8Array, target: Uint8Array, artifactId = NO_ARTIFACT): Promise<Uint8Array> {
    const job = { kind: 'restore', current: await owned(current), target: await owned(target) } as const;
    return (await this.#run(job, artifactId)).bytes;
  }

  /** What the document that `merge` would make shows. Rejects with RangeError where its types are nested too deep. */
  async view(
    snapshot: Uint8Array | null,
    updates: Uint8Array,
    view: View,
    artifactId = NO_ARTIFACT,
  ): Promise<{ readonly types: RootKinds; readonly bytes: Uint8Array }> {
    const job = { kind: 'view', snapshot: snapshot && (await owned(snapshot)), updates: await owned(updates), view } as const;
    const { bytes, types } = await this.#run(job, artifactId);
    return { bytes, types: types ?? {} };
  }

  async close(): Promise<void> {
    this.#idle?.cancel();
    this.#idle = undefined;
    const error = new Error('the thread for documents was stopped');
    this.#failRunning(error);
    for (let waiting = this.#waiting.take(); waiting !== undefined; waiting = this.#waiting.take()) waiting.reject(error);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  /** Rejects with UNAVAILABLE if too many jobs wait, or with the error of the job. */
  #run(job: DocumentJob, artifactId: string): Promise<JobValue> {
    if (this.#waiting.size >= JOBS_MAX || this.#waiting.sizeOf(artifactId) >= ARTIFACT_JOBS_MAX) {
      return Promise.reject(new Failure('UNAVAILABLE', { message: 'Too many documents are being worked on.', retryAfterS: 1 }));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push(artifactId, { job, resolve, reject });
      this.#next();
    });
  }

  /** Hands the next job to the thread, unless it has one. */
  #next(): void {
    if (this.#running !== undefined) return;
    const waiting = this.#waiting.take();
    if (waiting === undefined) {
      this.#idle ??= this.#clock.after(IDLE_MS, () => void this.close());
      return;
    }
    this.#idle?.cancel();
    this.#idle = undefined;
    const worker = this.#worker ?? this.#start();
    this.#jobs += 1;
    const id = this.#jobs;
    const deadline = this.#clock.after(JOB_DEADLINE_MS, () => this.#giveUp(worker, new Error('a document took too long')));
    this.#running = { id, waiting, deadline };
    worker.postMessage({ id, job: waiting.job } satisfies DocumentTask, buffersOf(waiting.job));
  }

  #start(): Worker {
    const worker = new Worker(this.#workerFile, {
      name: 'documents',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    // The thread must not keep the process alive; callers that wait for a document do that.
    worker.unref();
    worker.on('message', (result: JobResult) => this.#settle(result));
    worker.on('error', (error) => this.#giveUp(worker, error));
    worker.on('exit', (code) => this.#giveUp(worker, new Error(`the thread for documents ended with code ${code}`)));
    this.#worker = worker;
    return worker;
  }

  #settle(result: JobResult): void {
    const running = this.#running;
    if (running === undefined || running.id !== result.id) return;
    this.#running = undefined;
    running.deadline.cancel();
    if ('value' in result) running.waiting.resolve(result.value);
    else running.waiting.reject(result.error);
    this.#next();
  }

  /** Abandons this thread with its job; the next job starts a new one. */
  #giveUp(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
    this.#failRunning(error);
    this.#next();
  }

  #failRunning(error: Error): void {
    const running = this.#running;
    this.#running = undefined;
    running?.deadline.cancel();
    running?.waiting.reject(error);
  }
}

/** A copy that can be handed over: what comes from the database shares its memory with other rows. */
function owned(bytes: Uint8Array): Promise<Uint8Array> {
  return joined([bytes]);
}

function buffersOf(job: DocumentJob): ArrayBuffer[] {
  const parts = job.kind === 'restore' ? [job.current, job.target] : [job.snapshot, job.updates];
  return parts.flatMap((part) => (part === null ? [] : [part.buffer as ArrayBuffer]));
}
