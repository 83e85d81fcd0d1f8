/** Adds or invites the administrators of a workspace, each in a transaction of its own. */
import type { z } from 'zod';
import type { WorkspaceRole } from '../../../../protocol/core/endpoint.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { ProvisionRequest, provisionedAdmin } from '../../../../protocol/workspaces/provisioning.ts';
import type { MailSender } from '../../../mail/sender.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { findByProvedEmail, readLinked } from '../../people/persons/rows.ts';
import { mayBeInvited } from '../access-policy/rules.ts';
import { audit } from '../audit/audit.ts';
import type { Invitations } from '../invites/invitations.ts';
import { countOpen, findOpen } from '../invites/rows.ts';
import { requireRoomForInvites } from '../invites/rules.ts';
import { join } from '../members/joining.ts';
import { readRole } from '../members/rows.ts';
import { lockWorkspace, type WorkspaceRow } from '../workspaces/rows.ts';
import { hasOwner, lastInviteMail } from './rows.ts';
import type { Provisioner, StepResult } from './steps.ts';

export type AdminReport = z.input<typeof provisionedAdmin>;

export interface AdminDeps extends Pick<ServiceDeps, 'sql' | 'bus' | 'log' | 'config'> {
  readonly invitations: Invitations;
  readonly mail: Pick<MailSender, 'wake' | 'idle'>;
}

/** How long the answer waits for the mail server; what has not gone out by then is reported with its link. */
const MAIL_WAIT_MS = 10_000;

interface Settled extends Omit<AdminReport, 'email_sent' | 'invite_url'> {
  /** Of an invitation that this run has sent. */
  readonly code?: string;
  /** Whose caches have to hear of it. */
  readonly people?: readonly UserId[];
}

export async function settleAdmins(deps: AdminDeps, by: Provisioner, id: WorkspaceId, body: ProvisionRequest): Promise<AdminReport[]> {
  const first = body.owner_email ?? body.admins[0];
  const owner = (await hasOwner(deps.sql, id, by.nowMs)) ? undefined : first;
  const emails = [...new Set(owner === undefined ? body.admins : [owner, ...body.admins])];
  const settled: Settled[] = [];
  for (const email of emails) settled.push(await settle(deps, by, id, email, email === owner ? 'owner' : 'admin', body.resend_invites));
  const people = settled.flatMap((each) => each.people ?? []);
  if (people.length > 0) deps.bus.tell({ kind: 'person.changed', userIds: people });
  if (settled.some(({ code }) => code !== undefined)) await sent(deps.mail);
  return Promise.all(settled.map((each) => reported(deps, each)));
}

async function settle(
  deps: AdminDeps,
  by: Provisioner,
  id: WorkspaceId,
  email: string,
  role: WorkspaceRole,
  resend: boolean,
): Promise<Settled> {
  try {
    return await deps.sql.begin(async (tx) => {
      const workspace = await lockWorkspace(tx, id);
      const account = await findByProvedEmail(tx, email);
      return account === null
        ? invited(tx, deps, by, workspace, { email, role, resend })
        : added(tx, by, workspace, account, { email, role });
    });
  } catch (error) {
    if (error instanceof Failure) return { email, role, status: 'failed', error: error.message };
    deps.log.error({ err: error, requestId: by.requestId }, 'an administrator of a provisioned workspace could not be invited');
    return { email, role, status: 'failed', error: 'Something failed on our side.' };
  }
}

interface Wanted {
  readonly email: string;
  readonly role: WorkspaceRole;
}

async function added(tx: Queries, by: Provisioner, workspace: WorkspaceRow, userId: UserId, { email, role }: Wanted): Promise<Settled> {
  const present = await readRole(tx, workspace.id, await readLinked(tx, [userId]));
  // A role that the workspace has changed since stays.
  if (present !== null) return { email, role: present, status: 'active' };
  if (!mayBeInvited(workspace, email)) throw new Failure('ADDRESS_NOT_ALLOWED');
  const people = await join(tx, { workspaceId: workspace.id, userId, role, addedBy: by.user, nowMs: by.nowMs });
  const target = { type: 'user', id: userId, name: email };
  await audit(tx, by, { workspaceId: workspace.id, action: 'member.add', target, detail: { role } });
  return { email, role, status: 'added', people };
}

async function invited(
  tx: Queries,
  { invitations }: AdminDeps,
  by: Provisioner,
  workspace: WorkspaceRow,
  { email, role, resend }: Wanted & { readonly resend: boolean },
): Promise<Settled> {
  const open = await findOpen(tx, workspace.id, email);
  const isLive = open !== null && open.expires_at_ms > by.nowMs;
  if (isLive && !resend) return { email, role: open.role, status: 'already_invited' };
  if (isLive) return { email, role: open.role, status: 'invited', code: (await invitations.renewIn(tx, by, workspace, open)).code };
  requireRoomForInvites(await countOpen(tx, workspace.id, by.nowMs), 1);
  const outcome = await invitations.inviteIn(tx, by, workspace, { email, role });
  if (outcome.status === 'invited') return { email, role, status: 'invited', code: outcome.code };
  throw new Failure('ADDRESS_NOT_ALLOWED');
}

/** Until the sender is done, or has had its time. */
async function sent(mail: AdminDeps['mail']): Promise<void> {
  mail.wake();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, MAIL_WAIT_MS);
  });
  await Promise.race([mail.idle(), late]);
  clearTimeout(timer);
}

async function reported({ sql, config, invitations }: AdminDeps, { code, people: _told, ...each }: Settled): Promise<AdminReport> {
  if (each.status !== 'invited' && each.status !== 'already_invited') return { ...each, email_sent: false };
  // Without a mail server mail is only written into a folder, which is not where the invited person looks.
  const isSent = config.SMTP_URL !== undefined && (await lastInviteMail(sql, each.email))?.isSent === true;
  if (isSent) return { ...each, email_sent: true };
  return { ...each, email_sent: false, ...(code !== undefined && { invite_url: invitations.urlOf(code) }) };
}

export function adminsResult(admins: readonly AdminReport[]): StepResult {
  const failed = admins.filter(({ status }) => status === 'failed');
  const isNew = admins.some(({ status }) => status === 'invited' || status === 'added');
  const detail = { admins: admins.map(({ email, role, status, email_sent }) => ({ email, role, status, email_sent })) };
  if (failed.length === 0) return { status: isNew ? 'created' : 'unchanged', detail };
  const error = failed.map(({ email, error: why }) => `${email}: ${why}`).join(' ');
  return { status: 'failed', detail, error, next_step: 'Correct what is named and run the same request again.' };
}
