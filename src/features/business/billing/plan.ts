/** The plan of a workspace follows what it has at the payment provider. */
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { Fact } from '../../../platform/bus.ts';
import type { Queries } from '../../deps.ts';
import { readFormer } from './former-rows.ts';
import { type PaidWorkspace, readSubscription, writeWorkspacePlan } from './rows.ts';
import { isRunning, workspacePlan } from './rules.ts';

/** Writes the plan of a workspace that is locked. Answers what to tell the bus after the commit. */
export async function followPlan(
  tx: Queries,
  { provider, workspace, baseTier, nowMs }: { provider: string; workspace: PaidWorkspace; baseTier: Tier; nowMs: number },
): Promise<readonly Fact[]> {
  const own = await readSubscription(tx, workspace.id, provider);
  // What a provider of before was paid for counts until it ends.
  const counting = own !== null && isRunning(own.status) ? own : ((await readFormer(tx, workspace.id, provider)) ?? own);
  const plan = workspacePlan(counting, baseTier, nowMs);
  if (workspace.is_deleted || (plan.tier === workspace.plan_tier && plan.status === workspace.plan_status)) return [];
  await writeWorkspacePlan(tx, workspace.id, plan, nowMs);
  return [{ kind: 'workspace.changed', workspaceId: workspace.id }];
}
