/** Who may see and change what a workspace pays: its owners and admins, and members whom an owner has made billing managers. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';
import { readPayer } from './rows.ts';

/** Throws WORKSPACE_NOT_FOUND for strangers, as if there were none, and BILLING_ROLE_REQUIRED. */
export async function requirePayer(sql: Queries, workspaceId: WorkspaceId, accounts: Accounts): Promise<void> {
  const payer = await readPayer(sql, workspaceId, accounts);
  if (payer === null) throw new Failure('WORKSPACE_NOT_FOUND');
  if (payer.role === 'member' && !payer.is_manager) throw new Failure('BILLING_ROLE_REQUIRED');
}
