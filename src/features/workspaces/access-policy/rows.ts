/** The SQL of the access policy in `workspace`. */
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { WorkspaceRow } from '../workspaces/rows.ts';

export type Policy = Pick<WorkspaceRow, 'allowed_domains' | 'allowed_emails' | 'auto_join'>;

export async function writePolicy(tx: Queries, id: WorkspaceId, policy: Policy, atMs: number): Promise<void> {
  await tx`
    update workspace set allowed_domains = ${policy.allowed_domains as string[]}, allowed_emails = ${policy.allowed_emails as string[]},
      auto_join = ${policy.auto_join}, updated_at_ms = ${atMs}
    where id = ${id}`;
}
