/** Searches take turns: each takes a connection of the database, which everybody else needs too, for longer than other calls. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { ShareQueue } from '../../../platform/share-queue.ts';

/** Of one node. No artifact has a share, because a search is in all of them. */
export function searchQueue(): ShareQueue {
  return new ShareQueue({
    running: {
      total: LIMITS.searchesMax,
      network: LIMITS.networkSearchesMax,
      caller: LIMITS.callerSearchesMax,
      artifact: LIMITS.searchesMax,
    },
    waiting: {
      total: LIMITS.searchesWaitingMax,
      network: LIMITS.networkSearchesWaitingMax,
      caller: LIMITS.callerSearchesWaitingMax,
      artifact: LIMITS.searchesWaitingMax,
    },
    full: (exhausted) => {
      const whose = exhausted === 'caller' ? 'of this caller ' : exhausted === 'network' ? 'of this network ' : '';
      return new Failure('UNAVAILABLE', { message: `Too many searches ${whose}are waiting.`, retryAfterS: 1 });
    },
  });
}
