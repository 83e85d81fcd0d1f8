/** What happened in a workspace is written down for its webhooks in the transaction that does it: nothing is lost between a commit and its telling. */
import type { JSONValue } from 'postgres';
import type { WebhookEvent } from '../../../../protocol/automation/webhooks.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

/** The event that an action of the audit log is; undefined for an action that is nobody's event. */
export function eventOfAction(action: string, detail: Readonly<Record<string, unknown>>): WebhookEvent | undefined {
  // A draft, or a version that waits for approval, is not published yet.
  if (action === 'artifact.publish') return detail.draft === true || detail.waits === true ? undefined : 'version.published';
  return EVENT_OF[action];
}

const EVENT_OF: Readonly<Record<string, WebhookEvent>> = {
  'artifact.create': 'artifact.created',
  'artifact.update': 'artifact.updated',
  'artifact.move': 'artifact.updated',
  'artifact.transfer': 'artifact.updated',
  'artifact.delete': 'artifact.deleted',
  'artifact.restore': 'artifact.restored',
  'version.pin': 'version.published',
  'version.unpin': 'version.published',
  'version.rollback': 'version.published',
  'version.publish_approved': 'version.published',
  'collaborator.add': 'collaborator.changed',
  'collaborator.update': 'collaborator.changed',
  'collaborator.remove': 'collaborator.changed',
  'collaborator.leave': 'collaborator.changed',
  'invite.create': 'member.invited',
  'invite.claim': 'member.added',
  'member.add': 'member.added',
  'member.join': 'member.added',
  'member.update': 'member.updated',
  'member.remove': 'member.removed',
  'member.leave': 'member.removed',
  'grant.create': 'grant.changed',
  'grant.update': 'grant.changed',
  'grant.delete': 'grant.changed',
  'workspace.update': 'workspace.updated',
  'workspace.transfer': 'workspace.updated',
  'features.update': 'workspace.updated',
  'access_policy.update': 'workspace.updated',
  'publish_policy.update': 'workspace.updated',
};

export interface Happened {
  readonly workspaceId: WorkspaceId;
  readonly event: WebhookEvent;
  readonly atMs: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export async function noteForWebhooks(tx: Queries, { workspaceId, event, atMs, data }: Happened): Promise<void> {
  await tx`
    insert into webhook_event (webhook_id, event, at_ms, data)
    select w.id, ${event}, ${atMs}, ${tx.json(data as JSONValue)} from webhook w
    where w.workspace_id = ${workspaceId} and w.disabled_at_ms is null and ${event} = any(w.events) order by w.id`;
}
