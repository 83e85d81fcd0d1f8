/** Commits a change only against the state that was simulated. */
import type { Conditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { PlannedChange } from '../../../../protocol/sharing/explain.ts';
import { lockRow, readHead } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import { holdFolders } from '../../workspaces/folders/rows.ts';
import { holdWorkspace } from './rows.ts';
import { isRevision, readWorld } from './world.ts';

/**
 * Where If-Match is the revision of a simulation, compares it with what the same change would be simulated from now, and answers the conditions
 * without it. Everything that decides stays as it is until the transaction ends. Call it first, because of the order of locks: folders, workspace,
 * artifact. `plan`: null where the request makes no change that can be simulated. Throws VERSION_CONFLICT, and what `readWorld` throws.
 */
export async function checkSimulated(
  tx: Queries,
  conditions: Conditions,
  id: ArtifactId,
  plan: PlannedChange | null,
  nowMs: number,
): Promise<Conditions> {
  const { ifMatch } = conditions;
  if (ifMatch === undefined || !isRevision(ifMatch)) return conditions;
  if (plan === null) {
    throw new Failure('VERSION_CONFLICT', { message: 'Another change was simulated.', hint: 'Simulate the change that you want to make.' });
  }
  const head = await readHead(tx, id);
  if (head === null) throw new Failure('ARTIFACT_NOT_FOUND');
  if (head.workspaceId !== null) {
    await holdFolders(tx, { workspaceId: head.workspaceId, ownerId: null });
    await holdWorkspace(tx, head.workspaceId);
  }
  await lockRow(tx, id);
  const { revision } = await readWorld(tx, id, plan, nowMs);
  if (revision !== ifMatch) {
    throw new Failure('VERSION_CONFLICT', {
      message: 'Something that decides about access has changed since the simulation, or another change was simulated.',
      hint: 'Simulate the change again.',
      etag: revision,
    });
  }
  return { ...conditions, ifMatch: undefined };
}

/** For calls that take no other condition. Throws INVALID_REQUEST. */
export function requireNoOther({ ifMatch }: Conditions): void {
  if (ifMatch === undefined) return;
  throw new Failure('INVALID_REQUEST', { param: 'If-Match', message: 'If-Match must be the revision of a simulation of this change.' });
}
