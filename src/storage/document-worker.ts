/** The thread for whole documents: merging or undoing one takes longer than a turn may. */
import { parentPort } from 'node:worker_threads';
import { mergeState, restoringUpdate } from './document-merge.ts';
import type { DocumentJob, DocumentTask, JobResult } from './document-thread.ts';

parentPort?.on('message', ({ id, job }: DocumentTask) => {
  const result = run(id, job);
  parentPort?.postMessage(result, 'state' in result ? [result.state.buffer as ArrayBuffer] : []);
});

function run(id: number, job: DocumentJob): JobResult {
  try {
    return { id, state: wholeBuffer(perform(job)) };
  } catch (error) {
    return { id, error: error instanceof Error ? error : new Error(String(error)) };
  }
}

function perform(job: DocumentJob): Uint8Array {
  switch (job.kind) {
    case 'merge':
      return mergeState(job.snapshot, job.updates);
    case 'restore':
      return restoringUpdate(job.current, job.target);
    default:
      return job satisfies never;
  }
}

/** Alone in its buffer, so that it can be handed over. */
function wholeBuffer(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}
