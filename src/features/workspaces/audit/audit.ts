/** Writes the record of what was done in a workspace, in the transaction that does it. Entries are never changed. */
import type { JSONValue } from 'postgres';
import type { Principal, UserPrincipal } from '../../../../actors/access/access.ts';
import { newId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import { eventOfAction, noteForWebhooks } from '../../automation/webhooks/outbox.ts';
import type { Queries } from '../../deps.ts';

/** The call that does it. */
export interface AuditedCall {
  readonly principal: Principal;
  readonly address: string;
  readonly requestId: string;
  readonly nowMs: number;
}

/** Also what is done in somebody's name, such as by a job of theirs. */
type AuditedBy = Omit<AuditedCall, 'principal'> & { readonly principal: Principal | Pick<UserPrincipal, 'kind' | 'userId'> };

export interface AuditEntry {
  /** Null for what concerns the installation. */
  readonly workspaceId: WorkspaceId | null;
  /** `<resource>.<verb>` */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string | null; readonly name: string | null };
  /** What was changed to what. Never a secret, a password or a credential. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

export async function audit(tx: Queries, by: AuditedBy, entry: AuditEntry): Promise<void> {
  const { workspaceId, action, target, detail = {} } = entry;
  const { kind, id, name } = actorOf(by.principal);
  // The name is kept as it was: the account may be renamed or gone when the entry is read.
  const shown =
    kind === 'user' ? tx`(select coalesce(nullif(a.name, ''), a.username, a.email) from account a where a.id = ${id})` : tx`${name}::text`;
  await tx`
    insert into audit_entry (
      id, workspace_id, at_ms, actor_kind, actor_id, actor_name, action, target_type, target_id, target_name, detail, address, request_id)
    values (
      ${newId('audit')}, ${workspaceId}, ${by.nowMs}, ${kind}, ${id}, ${shown}, ${action}, ${target.type},
      ${target.id}, ${target.name}, ${tx.json(detail as JSONValue)}, ${by.address},
      ${by.requestId})`;
  const event = workspaceId === null ? undefined : eventOfAction(action, detail);
  if (workspaceId === null || event === undefined) return;
  await noteForWebhooks(tx, { workspaceId, event, atMs: by.nowMs, data: { action, actor: { kind, id }, target, detail } });
}

interface Actor {
  readonly kind: 'user' | 'agent';
  readonly id: string;
  /** Null where the account has it. */
  readonly name: string | null;
}

function actorOf(principal: AuditedBy['principal']): Actor {
  switch (principal.kind) {
    case 'user':
      return { kind: 'user', id: principal.userId, name: null };
    case 'agent':
      return { kind: 'agent', id: principal.principalId, name: principal.name };
    case 'guest':
    case 'anonymous':
      throw new Error('what is audited needs an account or an agent');
    default:
      return principal satisfies never;
  }
}
