/** How a dependency that is down is told to callers. */
import { Failure } from '../../protocol/core/errors.ts';
import { dateTime } from '../platform/date-time.ts';
import type { DependencyName, Health } from '../platform/dependency-watch.ts';

/**
 * Without these nothing can be served for long. Mail waits in its outbox, so the service stays ready without a mail server. Without Redis
 * everything but live data is served, and a cluster in which no node were ready would serve nothing at all.
 */
export const ESSENTIAL: readonly DependencyName[] = ['database', 'objects'];

const WORDS: Readonly<Record<DependencyName, string>> = {
  database: 'The database',
  objects: 'The object store',
  mail: 'The mail server',
  redis: 'Redis',
};
const RETRY_AFTER_S = 5;

/** A read for which the database took too long: a read changes nothing, so that the caller may ask again, for less. */
export function lateReadFailure(): Failure {
  return new Failure('UNAVAILABLE', {
    message: 'The database took too long to answer this.',
    hint: 'Try again, or ask for less: fewer or longer words, a shorter period, one workspace, a smaller limit.',
    retryAfterS: RETRY_AFTER_S,
  });
}

export function dependencyFailure(name: DependencyName, health: Health): Failure {
  const since = health.state === 'down' ? ` since ${dateTime(health.sinceMs)}: ${health.reason}` : '';
  return new Failure('UNAVAILABLE', { message: `${WORDS[name]} does not answer${since}.`, retryAfterS: RETRY_AFTER_S });
}

export function presentHealth(health: Health) {
  if (health.state === 'up') return { state: 'up' } as const;
  return { state: 'down', since: dateTime(health.sinceMs), reason: health.reason } as const;
}
