/** How many files are parsed and how many pages of rows are looked for at once, so that neither an artifact nor a caller takes all of it. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { ShareQueue } from '../../../platform/share-queue.ts';
import type { Exhausted } from '../../../platform/shares.ts';

export function parsingQueue(): ShareQueue {
  return new ShareQueue({
    running: {
      total: LIMITS.datasetWritesMax,
      network: LIMITS.callerDatasetWritesMax,
      caller: LIMITS.callerDatasetWritesMax,
      artifact: LIMITS.artifactDatasetWritesMax,
    },
    waiting: {
      total: LIMITS.datasetWritesWaitingMax,
      network: LIMITS.callerDatasetWritesWaitingMax,
      caller: LIMITS.callerDatasetWritesWaitingMax,
      artifact: LIMITS.artifactDatasetWritesWaitingMax,
    },
    full: (exhausted) => tooMany('uploads of datasets', exhausted, 5),
  });
}

/** With the bounds of the reads of tables. */
export function readingQueue(): ShareQueue {
  return new ShareQueue({
    running: {
      total: LIMITS.tableReadsMax,
      network: LIMITS.callerReadsMax,
      caller: LIMITS.callerReadsMax,
      artifact: LIMITS.artifactReadsMax,
    },
    waiting: {
      total: LIMITS.tableReadsWaitingMax,
      network: LIMITS.callerReadsWaitingMax,
      caller: LIMITS.callerReadsWaitingMax,
      artifact: LIMITS.artifactReadsWaitingMax,
    },
    full: (exhausted) => tooMany('reads of datasets', exhausted, 1),
  });
}

function tooMany(what: string, exhausted: Exhausted, retryAfterS: number): Failure {
  const whose = exhausted === 'artifact' ? 'of this artifact ' : exhausted === 'total' ? '' : 'of this caller ';
  return new Failure('UNAVAILABLE', { message: `Too many ${what} ${whose}are waiting.`, retryAfterS });
}
