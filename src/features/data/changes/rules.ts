/** Pure decisions about following changes: where a caller continues, which format it gets, and when it must read everything again. */
import type { Role } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';

/** Whether the role sees changes of keys that begin with `_`. */
export function seesReserved(role: Role): boolean {
  return role === 'owner' || role === 'editor';
}

export function wantsPage(accept: string): boolean {
  return accept.includes('application/json') && !accept.includes('text/event-stream');
}

/**
 * The last change that the caller has seen; undefined if it gives none. `Last-Event-ID` wins, because a browser that reconnects sends it
 * with the URL of its first request. Throws INVALID_REQUEST.
 */
export function lastSeenSeq(lastEventId: string | undefined, since: number | undefined): number | undefined {
  if (lastEventId === undefined) return since;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new Failure('INVALID_REQUEST', { message: 'Last-Event-ID: must be the id of an event.', param: 'Last-Event-ID' });
}

export interface KnownSeqs {
  /** The last committed change of the artifact. */
  readonly headSeq: number;
  /** Tombstones up to here may have been deleted. */
  readonly trimmedSeq: number;
}

/** True if deletions since then are no longer known, or if the caller claims a change that does not exist. */
export function mustReset(sinceSeq: number, { headSeq, trimmedSeq }: KnownSeqs): boolean {
  return sinceSeq > headSeq || (sinceSeq > 0 && sinceSeq < trimmedSeq);
}
