/** Daily work on requests for access: ends those whose person has access by now in another way, and forgets old ones. */
import { RETENTION } from '../../../../protocol/business/retention.ts';
import type { AccessRequestId, ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import { readHead } from '../../artifacts/artifacts/rows.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { readStandings } from '../../people/persons/rows.ts';
import { remainingRole } from '../collaborators/rules.ts';
import { deleteOldRequests, endRequests, listPendingAfter } from './rows.ts';

const ROWS_AT_ONCE = 100;
const KEPT_MS = RETENTION.accessRequests.keptMs;

type Deps = Pick<ServiceDeps, 'sql' | 'clock'>;

/** Answers how many it has ended or removed. */
export async function sweepRequests({ sql, clock }: Deps, signal: AbortSignal): Promise<number> {
  const nowMs = clock.nowMs();
  let done = await deleteOldRequests(sql, nowMs - KEPT_MS);
  let after = '' as AccessRequestId;
  while (!signal.aborted) {
    const waiting = await listPendingAfter(sql, after, ROWS_AT_ONCE);
    for (const { artifact_id, requester_id } of waiting) {
      if (signal.aborted) return done;
      if (await endIfGiven(sql, artifact_id, requester_id, nowMs)) done += 1;
    }
    const last = waiting.at(-1);
    if (last === undefined || waiting.length < ROWS_AT_ONCE) return done;
    after = last.id;
  }
  return done;
}

/** Membership of a workspace, a move or a link may have given it. */
async function endIfGiven(sql: Queries, id: ArtifactId, userId: UserId, nowMs: number): Promise<boolean> {
  const head = await readHead(sql, id);
  const standing = (await readStandings(sql, [userId], nowMs)).get(userId);
  if (head === null || head.deletedAtMs !== null || remainingRole(head, standing) === null) return false;
  await endRequests(sql, id, [userId], nowMs);
  return true;
}
