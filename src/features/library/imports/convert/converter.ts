/** Converts documents and workbooks, one at a time in a process, each in a thread of its own that can be killed. */
import { join } from 'node:path';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { runInThread, type ThreadEnd } from '../../../../platform/one-shot-thread.ts';
import type { ConvertBounds, Converted, ConvertTask } from './messages.ts';

const REFUSALS: Readonly<Record<ThreadEnd, string>> = {
  'too slow': 'The conversion takes too long.',
  'too large': 'The conversion needs too much memory.',
  failed: 'The file cannot be converted.',
};

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
    const turn = this.#last.then(() => this.#run(task, signal));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  #run(data: ConvertTask, signal: AbortSignal): Promise<Converted> {
    const task = { name: 'convert', file: this.#workerFile, data, heapMb: LIMITS.importConvertHeapMb, ms: LIMITS.importConvertMs, signal };
    return runInThread<Converted>(task, (end) => ({ kind: 'refused', message: REFUSALS[end] }));
  }
}
