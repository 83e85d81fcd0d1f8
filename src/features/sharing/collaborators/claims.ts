/** What waits for an address becomes its account's in the transaction in which the account proves it; an address that is not proved gets nothing. */
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Queries } from '../../deps.ts';
import { readLinked } from '../../people/persons/rows.ts';
import { endRequests } from '../access-requests/rows.ts';
import { insertCollaborator, readCollaborator, takePending, writeRole } from './rows.ts';
import { isRaised } from './rules.ts';

/** An artifact of which somebody has become a collaborator. */
export interface Claimed {
  readonly artifactId: ArtifactId;
  readonly slug: string;
}

/** `email` in lowercase. Call it with the lock of the address (`lockName`), and tell what it answers after the commit. */
export async function claimCollaborations(tx: Queries, userId: UserId, email: string, nowMs: number): Promise<readonly Claimed[]> {
  const waiting = await takePending(tx, email);
  if (waiting.length === 0) return [];
  const accounts = await readLinked(tx, [userId]);
  for (const { artifact_id: artifactId, role, added_at_ms } of waiting) {
    const before = await readCollaborator(tx, artifactId, accounts);
    if (before === null) await insertCollaborator(tx, userId, { artifactId, role, nowMs: added_at_ms });
    else if (isRaised(before.role, role)) await writeRole(tx, artifactId, accounts, role);
    await endRequests(tx, artifactId, accounts, nowMs);
  }
  return waiting.map(({ artifact_id, slug }) => ({ artifactId: artifact_id, slug }));
}

export function tellClaimed(bus: Bus, claimed: readonly Claimed[]): void {
  for (const { artifactId, slug } of claimed) bus.tell({ kind: 'artifact.changed', artifactId, slugs: [slug] });
}
