/** Searches take turns: each takes a connection of the database, which everybody else needs too, for longer than other calls. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { ShareQueue } from '../../../platform/share-queue.ts';
import type { Queries } from '../../deps.ts';

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

export interface Searched {
  readonly sql: Queries;
  /** It runs one statement at a time, and others wait for each. */
  readonly isEmbedded: boolean;
}

/**
 * What one search asks for at once, on two connections: so many a search may take. On the embedded database one after the other. All have ended when
 * this settles, also where one of them fails: then the search gives its place to the next one.
 */
export async function together<One, Other>(
  { isEmbedded }: Pick<Searched, 'isEmbedded'>,
  [one, other]: readonly [() => Promise<One>, () => Promise<Other>],
): Promise<[One, Other]> {
  if (isEmbedded) return [await one(), await other()];
  const [first, second] = await Promise.allSettled([one(), other()]);
  if (first.status === 'rejected') throw first.reason;
  if (second.status === 'rejected') throw second.reason;
  return [first.value, second.value];
}
