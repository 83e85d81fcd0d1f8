/** One thread for scripts, from the side of the service. It is killed where a script does not end in time. */
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../../../../actors/runtime/ports.ts';
import { type FromThread, type ScriptEnd, type ScriptError, type ScriptTask, type ToThread, timedOut } from './thread-messages.ts';

/** Of the thread's own JavaScript: texts on their way in and out. The memory of the script is not in it. */
const HEAP_MB_MAX = 192;
const STACK_MB = 4;
/** The thread ends a script at its deadline by itself, unless the script is inside of something that QuickJS cannot interrupt. */
const GRACE_MS = 500;
const START_MS_MAX = 20_000;

export interface ThreadFiles {
  readonly workerFile: string;
  readonly preludeFile: string;
}

export interface ThreadEnd {
  readonly end: ScriptEnd;
  /** Whether the thread can run another script. */
  readonly isUsable: boolean;
}

export type OnCall = (of: 'data' | 'fetch', head: string, body: string) => Promise<string>;

interface Running {
  readonly onCall: OnCall;
  readonly resolve: (end: ThreadEnd) => void;
}

const LOST: ScriptError = { code: 'SCRIPT_ERROR', message: 'The sandbox of the script ended unexpectedly. Nothing else is affected.' };

export class ScriptThread {
  readonly #worker: Worker;
  readonly #clock: Clock;
  #running: Running | undefined;
  #isDead = false;
  /** Called once, with whether it can take scripts. */
  #onStart: ((isReady: boolean) => void) | undefined;
  /** The error that it ended with. */
  #cause: unknown;
  runs = 0;

  private constructor(worker: Worker, clock: Clock) {
    this.#worker = worker;
    this.#clock = clock;
  }

  /** Rejects where the thread cannot be started. */
  static async start({ workerFile, preludeFile }: ThreadFiles, clock: Clock): Promise<ScriptThread> {
    const worker = new Worker(workerFile, {
      name: 'scripts',
      execArgv: [],
      // Neither settings nor secrets of the service are in the thread.
      env: {},
      workerData: { preludeFile },
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX, stackSizeMb: STACK_MB },
    });
    // Callers that wait for a script keep the process alive, not the thread.
    worker.unref();
    const thread = new ScriptThread(worker, clock);
    let timer: Timer | undefined;
    thread.#listen();
    const isReady = await new Promise<boolean>((resolve) => {
      thread.#onStart = resolve;
      timer = clock.after(START_MS_MAX, () => resolve(false));
    });
    timer?.cancel();
    if (isReady) return thread;
    thread.kill(LOST);
    throw new Error('the thread for scripts did not start', { cause: thread.#cause });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Runs one script. Never rejects. `signal` kills the thread. */
  async run(task: ScriptTask, onCall: OnCall, signal: AbortSignal | undefined): Promise<ThreadEnd> {
    this.runs += 1;
    const deadline = this.#clock.after(task.wallMsMax + GRACE_MS, () => this.kill(timedOut(task.wallMsMax)));
    const cancel = () => this.kill({ code: 'SCRIPT_CANCELED', message: 'The run was canceled.' });
    signal?.addEventListener('abort', cancel, { once: true });
    this.#worker.ref();
    try {
      return await new Promise<ThreadEnd>((resolve) => {
        this.#running = { onCall, resolve };
        this.#post({ kind: 'run', task });
        if (signal?.aborted) cancel();
      });
    } finally {
      deadline.cancel();
      signal?.removeEventListener('abort', cancel);
      this.#worker.unref();
    }
  }

  /** Ends the thread at once, whatever it does. */
  kill(error: ScriptError): void {
    if (this.#isDead) return;
    this.#isDead = true;
    void this.#worker.terminate();
    this.#onStart?.(false);
    this.#settle({ end: { error }, isUsable: false });
  }

  #listen(): void {
    this.#worker.on('message', (message: FromThread) => this.#hear(message));
    // Where the memory of the thread itself runs out, it ends with this code.
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      this.#cause = error;
      this.kill(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? { code: 'SCRIPT_MEMORY', message: 'The script needed too much memory.' } : LOST,
      );
    });
    this.#worker.on('exit', () => this.kill(LOST));
  }

  #hear(message: FromThread): void {
    if (message.kind === 'ready') this.#onStart?.(true);
    const running = this.#running;
    if (running === undefined) return;
    switch (message.kind) {
      case 'call':
        void running.onCall(message.of, message.head, message.body).then((text) => {
          // The script may be over, and the thread may have the next one, which has calls with the same numbers.
          if (this.#running === running) this.#post({ kind: 'answer', call: message.call, text });
        });
        return;
      case 'done':
        this.#settle({ end: message.end, isUsable: true });
        return;
      case 'ready':
        return;
      default:
        message satisfies never;
    }
  }

  #settle(end: ThreadEnd): void {
    const running = this.#running;
    this.#running = undefined;
    running?.resolve(end);
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message);
  }
}
