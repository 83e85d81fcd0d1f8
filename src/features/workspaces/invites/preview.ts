/** What the page of an invitation shows before it is accepted. */
import type { WorkspaceRole } from '../../../../protocol/core/endpoint.ts';
import type { Queries } from '../../deps.ts';
import type { WorkspaceDirectory } from '../workspaces/directory.ts';
import { findInvite } from './rows.ts';
import { codeSha256, statusOf } from './rules.ts';

/** Null for whoever has not proved the invited address: a forwarded mail tells nothing. */
export async function previewInvite(
  { sql, workspaces }: { readonly sql: Queries; readonly workspaces: Pick<WorkspaceDirectory, 'get'> },
  code: string,
  emails: readonly string[],
  nowMs: number,
): Promise<{ readonly workspace: string; readonly role: WorkspaceRole } | null> {
  const invite = await findInvite(sql, codeSha256(code));
  if (invite === null || !emails.includes(invite.email) || statusOf(invite, nowMs) !== 'pending') return null;
  const workspace = await workspaces.get(invite.workspace_id);
  return workspace && { workspace: workspace.name, role: invite.role };
}
