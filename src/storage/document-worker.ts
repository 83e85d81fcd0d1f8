/** The thread for whole documents: merging or undoing one takes longer than a turn may. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { viewDocument } from '../../actors/documents/document-view.ts';
import { mergedDocument, mergeState, restoringUpdate } from './document-merge.ts';
import type { DocumentJob, DocumentTask, JobResult, JobValue } from './document-thread.ts';

// On Linux of this thread alone: on a machine with few cores the event loop and the embedded database go first.
if (process.platform === 'linux') setPriority(0, 10);

parentPort?.on('message', ({ id, job }: DocumentTask) => {
  const result = run(id, job);
  parentPort?.postMessage(result, 'value' in result ? [result.value.bytes.buffer as ArrayBuffer] : []);
});

function run(id: number, job: DocumentJob): JobResult {
  try {
    const { bytes, ...more } = perform(job);
    return { id, value: { bytes: wholeBuffer(bytes), ...more } };
  } catch (error) {
    return { id, error: error instanceof Error ? error : new Error(String(error)) };
  }
}

function perform(job: DocumentJob): JobValue {
  switch (job.kind) {
    case 'merge':
      return { bytes: mergeState(job.snapshot, job.updates) };
    case 'restore':
      return { bytes: restoringUpdate(job.current, job.target) };
    case 'view': {
      const { types, text } = viewDocument(mergedDocument(job.snapshot, job.updates), job.view);
      return { types, bytes: new TextEncoder().encode(text) };
    }
    default:
      return job satisfies never;
  }
}

/** Alone in its buffer, so that it can be handed over. */
function wholeBuffer(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}
