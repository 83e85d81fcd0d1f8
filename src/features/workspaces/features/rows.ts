/** The SQL of `workspace_feature`. */
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Feature } from '../../../../protocol/workspaces/features.ts';
import type { Queries } from '../../deps.ts';
import type { FeatureFlag } from '../workspaces/rows.ts';

export async function putFlag(tx: Queries, id: WorkspaceId, feature: Feature, { enabled, source }: FeatureFlag): Promise<void> {
  await tx`
    insert into workspace_feature (workspace_id, name, enabled, source) values (${id}, ${feature}, ${enabled}, ${source})
    on conflict (workspace_id, name) do update set enabled = excluded.enabled, source = excluded.source`;
}

/** Leaves the feature to the plan. */
export async function deleteFlag(tx: Queries, id: WorkspaceId, feature: Feature): Promise<void> {
  await tx`delete from workspace_feature where workspace_id = ${id} and name = ${feature}`;
}
