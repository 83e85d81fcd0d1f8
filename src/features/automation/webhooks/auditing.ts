/** The record of what is done with webhooks, in the workspace that they belong to. */

import { readHead } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import { type AuditedCall, audit } from '../../workspaces/audit/audit.ts';
import type { WebhookRow } from './rows.ts';

/** Of a URL only the host is recorded: the rest may be a secret. Writes nothing for an artifact without a workspace. */
export async function auditWebhook(
  tx: Queries,
  by: AuditedCall,
  { id, url, artifact_id, workspace_id }: Pick<WebhookRow, 'id' | 'url' | 'artifact_id' | 'workspace_id'>,
  action: string,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const workspaceId = artifact_id === null ? workspace_id : ((await readHead(tx, artifact_id))?.workspaceId ?? null);
  if (workspaceId === null) return;
  const target = { type: 'webhook', id, name: new URL(url).host };
  await audit(tx, by, { workspaceId, action, target, detail: { ...detail, ...(artifact_id !== null && { artifact_id }) } });
}
