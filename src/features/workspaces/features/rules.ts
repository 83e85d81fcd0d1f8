/** What a workspace may use. The one place that decides it: from its plan, and from flags that speak for or against. */
import { FEATURES, type Feature } from '../../../../protocol/workspaces/features.ts';
import type { WorkspaceRow } from '../workspaces/rows.ts';

type Planned = Pick<WorkspaceRow, 'plan_tier' | 'plan_status' | 'flags'>;

const FREE: readonly Feature[] = ['collab.guest_comments', 'knowledge', 'agents'];
const PRO: readonly Feature[] = [...FREE, 'catalog', 'file_imports', 'custom_branding'];
const BY_TIER: Readonly<Record<WorkspaceRow['plan_tier'], readonly Feature[]>> = { free: FREE, pro: PRO, team: FEATURES };

/** Plans that are paid for, or about to be. Others come to the free one. */
const RUNNING: ReadonlySet<WorkspaceRow['plan_status']> = new Set(['trialing', 'active', 'past_due']);

export function isEnabled(workspace: Planned, feature: Feature): boolean {
  return featureOf(workspace, feature).enabled;
}

export function featuresOf(workspace: Planned) {
  return Object.fromEntries(FEATURES.map((feature) => [feature, featureOf(workspace, feature)])) as Record<
    Feature,
    ReturnType<typeof featureOf>
  >;
}

function featureOf({ plan_tier, plan_status, flags }: Planned, feature: Feature) {
  const flag = flags[feature];
  if (flag !== undefined) return { enabled: flag.enabled, source: flag.source };
  const tier = RUNNING.has(plan_status) ? plan_tier : 'free';
  return { enabled: BY_TIER[tier].includes(feature), source: 'plan' as const };
}
