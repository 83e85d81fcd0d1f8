/** What becomes of a visibility that was asked for, beside the change itself. */
import type { Principal } from '../../../../actors/access/access.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import { dropHeld, holdVisibility } from './held-rows.ts';

/** `held`: it waits for a plan. `chosen`: any other choice takes the place of one that waits. Call it with the artifact locked. */
export async function settleWish(
  tx: Queries,
  id: ArtifactId,
  { held, chosen }: { readonly held: boolean; readonly chosen: boolean },
  principal: Principal,
  nowMs: number,
): Promise<void> {
  if (!chosen) return;
  if (!held) return dropHeld(tx, [id]);
  const userId = principal.kind === 'user' ? principal.userId : null;
  const agentId = principal.kind === 'agent' ? principal.principalId : null;
  await holdVisibility(tx, id, { userId, agentId }, nowMs);
}
