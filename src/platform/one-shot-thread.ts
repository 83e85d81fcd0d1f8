/** A thread that does one task on what strangers have sent, with little memory and little time, and can be killed at any point of it. */
import { Worker } from 'node:worker_threads';
import { systemClock } from './clock.ts';

const STACK_MB = 4;

export interface ThreadTask {
  /** For the thread's name. */
  readonly name: string;
  readonly file: string;
  readonly data: unknown;
  readonly heapMb: number;
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** Why a thread has answered nothing. */
export type ThreadEnd = 'too slow' | 'too large' | 'failed';

/** Resolves with the first message of the thread, or with what `refused` makes of its end. Rejects with the reason of the signal. */
export function runInThread<T>({ name, file, data, heapMb, ms, signal }: ThreadTask, refused: (end: ThreadEnd) => T): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const worker = new Worker(file, {
      name,
      execArgv: [],
      // Neither settings nor secrets of the service are in the thread.
      env: {},
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, stackSizeMb: STACK_MB },
    });
    const end = (settle: () => void) => {
      deadline.cancel();
      signal.removeEventListener('abort', cancel);
      void worker.terminate();
      settle();
    };
    const cancel = () => end(() => reject(signal.reason));
    const refuse = (why: ThreadEnd) => end(() => resolve(refused(why)));
    // The thread works in real time.
    const deadline = systemClock.after(ms, () => refuse('too slow'));
    signal.addEventListener('abort', cancel, { once: true });
    worker.once('message', (answer: T) => end(() => resolve(answer)));
    worker.once('error', (error: NodeJS.ErrnoException) => refuse(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'too large' : 'failed'));
    worker.once('exit', () => refuse('failed'));
  });
}
