/** Converts documents and workbooks, one at a time in a process, each in a thread of its own that can be killed. */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { systemClock } from '../../../../platform/clock.ts';
import type { ConvertBounds, Converted, ConvertTask } from './messages.ts';

const STACK_MB = 4;

const BOUNDS: ConvertBounds = {
  unpackedBytesMax: LIMITS.importUnpackedBytesMax,
  cellsMax: LIMITS.importCellsMax,
  sheetsMax: LIMITS.importSheetsMax,
  htmlBytesMax: LIMITS.importHtmlBytesMax,
  rowsBytesMax: LIMITS.importRowsBytesMax,
};

export class Converter {
  readonly #workerFile: string;
  readonly #bounds: ConvertBounds;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ builtDir }: { readonly builtDir: string }, bounds = BOUNDS) {
    this.#bounds = bounds;
    this.#workerFile = join(builtDir, 'convert-worker.js');
  }

  /** Never rejects but for `signal`. */
  convert(kind: ConvertTask['kind'], bytes: Uint8Array, signal: AbortSignal): Promise<Converted> {
    const task: ConvertTask = { kind, bytes, ...this.#bounds };
    const turn = this.#last.then(() => {
      signal.throwIfAborted();
      return this.#run(task, signal);
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  #run(task: ConvertTask, signal: AbortSignal): Promise<Converted> {
    return new Promise((resolve, reject) => {
      const worker = new Worker(this.#workerFile, {
        name: 'convert',
        execArgv: [],
        // Neither settings nor secrets of the service are in the thread.
        env: {},
        workerData: task,
        resourceLimits: { maxOldGenerationSizeMb: LIMITS.importConvertHeapMb, stackSizeMb: STACK_MB },
      });
      const end = (settle: () => void) => {
        deadline.cancel();
        signal.removeEventListener('abort', cancel);
        void worker.terminate();
        settle();
      };
      const refuse = (message: string) => end(() => resolve({ kind: 'refused', message }));
      const cancel = () => end(() => reject(signal.reason));
      // The thread works in real time.
      const deadline = systemClock.after(LIMITS.importConvertMs, () => refuse('The conversion takes too long.'));
      signal.addEventListener('abort', cancel, { once: true });
      worker.once('message', (converted: Converted) => end(() => resolve(converted)));
      worker.once('error', (error: NodeJS.ErrnoException) =>
        refuse(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'The conversion needs too much memory.' : 'The file cannot be converted.'),
      );
      worker.once('exit', () => refuse('The file cannot be converted.'));
    });
  }
}
