/** Invites addresses to a workspace: an invitation belongs to its address, and its code is in the mail and nowhere else. */

import type { WorkspaceRole } from '../../../../protocol/core/endpoint.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type UserId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { queueMail } from '../../../mail/outbox.ts';
import { localeOf } from '../../../mail/templates/message.ts';
import { composeFor } from '../../automation/templates/system.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { readShownName } from '../../people/accounts/rows.ts';
import { findByProvedEmail, readLinked, readLocale } from '../../people/persons/rows.ts';
import { mayBeInvited } from '../access-policy/rules.ts';
import { type AuditedCall, audit } from '../audit/audit.ts';
import { readRole, requireActor } from '../members/rows.ts';
import { requireMayAssign } from '../members/rules.ts';
import { lockWorkspace, type WorkspaceRow } from '../workspaces/rows.ts';
import { countOpen, findOpen, type InviteRow, insertInvite, markRevoked, readInvite, renewInvite } from './rows.ts';
import { addressOf, codeSha256, newCode, presentInvite, requireRoomForInvites, requireUnanswered } from './rules.ts';

const DAY_MS = 24 * 3_600_000;

export type Inviter = AuditedCall & { readonly user: UserId };

export interface Invitation {
  readonly email: string;
  readonly role: WorkspaceRole;
}

export type Outcome =
  | { readonly email: string; readonly status: 'invited'; readonly row: InviteRow; readonly code: string }
  | { readonly email: string; readonly status: 'already_invited'; readonly row: InviteRow }
  | { readonly email: string; readonly status: 'already_member' | 'not_allowed' | 'invalid' };

export interface InvitationDeps extends Pick<ServiceDeps, 'sql' | 'config'> {
  /** Woken after mail is queued. */
  readonly mail: { wake(): void };
}

export class Invitations {
  readonly #deps: InvitationDeps;

  constructor(deps: InvitationDeps) {
    this.#deps = deps;
  }

  /** Each address with its outcome; who has an open invitation gets no second mail. Throws FORBIDDEN, WORKSPACE_LIMIT_EXCEEDED. */
  async invite(call: Inviter, workspaceId: WorkspaceId, emails: readonly string[], role: WorkspaceRole): Promise<Outcome[]> {
    const outcomes = await this.#deps.sql.begin(async (tx) => {
      const row = await lockWorkspace(tx, workspaceId);
      requireMayAssign(await requireActor(tx, call, workspaceId, 'admin'), role);
      requireRoomForInvites(await countOpen(tx, workspaceId, call.nowMs), emails.length);
      const all: Outcome[] = [];
      for (const email of emails) all.push(await this.inviteIn(tx, call, row, { email, role }));
      return all;
    });
    this.#deps.mail.wake();
    return outcomes;
  }

  /** One address that belongs to no account. */
  async inviteOne(call: Inviter, workspaceId: WorkspaceId, { email, role }: Invitation) {
    const [outcome] = await this.invite(call, workspaceId, [email], role);
    if (outcome !== undefined && 'row' in outcome) return presentInvite(outcome.row, call.nowMs);
    throw new Failure(outcome?.status === 'already_member' ? 'ALREADY_MEMBER' : 'ADDRESS_NOT_ALLOWED', { param: 'email' });
  }

  /** The same in a transaction that holds the workspace. The caller wakes the sender after the commit. */
  async inviteIn(tx: Queries, call: Inviter, workspace: WorkspaceRow, { email: given, role }: Invitation): Promise<Outcome> {
    const email = addressOf(given);
    if (email === null) return { email: given, status: 'invalid' };
    if (!mayBeInvited(workspace, email)) return { email, status: 'not_allowed' };
    const account = await findByProvedEmail(tx, email);
    if (account !== null && (await readRole(tx, workspace.id, await readLinked(tx, [account]))) !== null) {
      return { email, status: 'already_member' };
    }
    const open = await findOpen(tx, workspace.id, email);
    if (open !== null && open.expires_at_ms > call.nowMs) return { email, status: 'already_invited', row: open };
    if (open !== null) await markRevoked(tx, open.id, call.nowMs);
    const code = newCode();
    const invite = {
      id: newId('invite'),
      workspace_id: workspace.id,
      email,
      role,
      invited_by: call.user,
      sent_at_ms: call.nowMs,
      expires_at_ms: call.nowMs + LIMITS.inviteTtlMs,
    };
    await insertInvite(tx, { ...invite, codeSha256: codeSha256(code) });
    await this.#send(tx, workspace, invite, call.user, code);
    await audit(tx, call, {
      workspaceId: workspace.id,
      action: 'invite.create',
      target: { type: 'invite', id: invite.id, name: email },
      detail: { role },
    });
    const row = { ...invite, created_at_ms: call.nowMs, accepted_at_ms: null, revoked_at_ms: null };
    return { email, status: 'invited', row, code };
  }

  /** A new code and a new mail. Throws INVITE_NOT_FOUND, INVITE_CLOSED, FORBIDDEN. */
  async resend(call: Inviter, workspaceId: WorkspaceId, id: InviteRow['id']): Promise<InviteRow> {
    const row = await this.#deps.sql.begin(async (tx) => {
      const workspace = await lockWorkspace(tx, workspaceId);
      const actor = await requireActor(tx, call, workspaceId, 'admin');
      const invite = requireUnanswered(await readInvite(tx, workspaceId, id));
      requireMayAssign(actor, invite.role);
      return (await this.renewIn(tx, call, workspace, invite)).row;
    });
    this.#deps.mail.wake();
    return row;
  }

  /** A new code and a new mail in a transaction that holds the workspace. The caller wakes the sender after the commit. */
  async renewIn(
    tx: Queries,
    call: Inviter,
    workspace: WorkspaceRow,
    invite: InviteRow,
  ): Promise<{ readonly row: InviteRow; readonly code: string }> {
    const code = newCode();
    const row = { ...invite, sent_at_ms: call.nowMs, expires_at_ms: call.nowMs + LIMITS.inviteTtlMs };
    await renewInvite(tx, row.id, { codeSha256: codeSha256(code), sentAtMs: row.sent_at_ms, expiresAtMs: row.expires_at_ms });
    await this.#send(tx, workspace, row, call.user, code);
    const target = { type: 'invite', id: row.id, name: row.email };
    await audit(tx, call, { workspaceId: workspace.id, action: 'invite.resend', target });
    return { row, code };
  }

  async #send(
    tx: Queries,
    workspace: WorkspaceRow,
    invite: Pick<InviteRow, 'email' | 'role' | 'sent_at_ms'>,
    inviter: UserId,
    code: string,
  ): Promise<void> {
    const by = (await readShownName(tx, inviter))?.name ?? null;
    const facts = {
      by,
      workspace: workspace.name,
      role: invite.role,
      code,
      url: this.urlOf(code),
      days: LIMITS.inviteTtlMs / DAY_MS,
    };
    const locale = localeOf(await readLocale(tx, invite.email), workspace.locale);
    const mail = await composeFor(tx, workspace.id, 'invite', facts, { recipient: invite.email, locale });
    await queueMail(tx, [mail], invite.sent_at_ms);
  }

  /** The page of an invitation. Opening it changes nothing. */
  urlOf(code: string): string {
    return `${this.#deps.config.baseUrl}/invite/${code}`;
  }
}
