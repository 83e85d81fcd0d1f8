/** The endpoints of collaborators and of sharing by mail. */
import { roleOf } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { queueMail } from '../../../mail/outbox.ts';
import { composeMail } from '../../../mail/templates/compose.ts';
import { localeOf } from '../../../mail/templates/message.ts';
import { pageUrl } from '../../../platform/config.ts';
import { auditArtifact } from '../../artifacts/artifacts/audit.ts';
import { type ArtifactRow, lockArtifact, readHead } from '../../artifacts/artifacts/rows.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { type Accounts, accountsOf } from '../../people/accounts/rules.ts';
import { findByProvedEmail, readLinked, readLocale, readStandings } from '../../people/persons/rows.ts';
import { lockName } from '../../people/sign-in/rows.ts';
import { readWorkspaceByRef } from '../../workspaces/workspaces/rows.ts';
import { give, lockAsOwner, type Outcome, requireSimulated, type SharingCall } from './giving.ts';
import {
  accountExists,
  type CollaboratorRow,
  countCollaborators,
  deleteCollaborator,
  deletePending,
  listCollaborators,
  readCollaborator,
  readPending,
  readProved,
  readShown,
  writePendingRole,
  writeRole,
} from './rows.ts';
import { isUserId, presentCollaborator, remainingRole, requireMayRemove } from './rules.ts';
import { transfer } from './transfer.ts';

type Ids = Extract<keyof Endpoints, `collaborators.${string}`>;

export interface CollaboratorDeps extends Pick<ServiceDeps, 'sql' | 'clock' | 'config' | 'bus'> {
  /** Woken after mail is queued. */
  readonly mail: { wake(): void };
}

export function collaboratorHandlers(deps: CollaboratorDeps): Handlers<Ids> {
  const { sql, bus, mail } = deps;
  const told = (artifactId: ArtifactId, { slug }: { readonly slug: string }) =>
    bus.tell({ kind: 'artifact.changed', artifactId, slugs: [slug] });
  return {
    'collaborators.list': async ({ params: { id }, head, query }) => {
      const rows = await listCollaborators(sql, id, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, ({ added_at_ms, place }) => ({ number: added_at_ms, id: place }));
      const total = query.count ? { total: await countCollaborators(sql, id) } : {};
      const owner = head.ownerId === null ? null : await readShown(sql, head.ownerId);
      return { reply: 'ok', body: { owner, collaborators: items.map(presentCollaborator), ...page, ...total } };
    },
    'collaborators.add': async (call) => {
      const { id } = call.params;
      const { row, outcomes } = await sql.begin((tx) => give(tx, call, id, call.body));
      told(id, row);
      return { reply: 'ok', body: { results: [...outcomes] } };
    },
    'collaborators.update': async (call) => {
      const { id } = call.params;
      const { row, changed } = await sql.begin((tx) => changeRole(tx, call));
      told(id, row);
      return { reply: 'ok', body: presentCollaborator(changed) };
    },
    'collaborators.remove': async (call) => {
      const { id } = call.params;
      const { row, remaining } = await sql.begin((tx) => remove(tx, call));
      told(id, row);
      return { reply: 'ok', body: { success: true, remaining_role: remaining } };
    },
    'collaborators.share': async (call) => {
      const { id } = call.params;
      const { recipients: emails, role, message } = call.body;
      const { row, outcomes, sent } = await sql.begin(async (tx) => {
        const given = await give(tx, call, id, { emails, role });
        return { ...given, sent: await mailShared(deps, tx, call, given.row, given.outcomes, message || null) };
      });
      told(id, row);
      mail.wake();
      return { reply: 'ok', body: { results: [...outcomes], sent } };
    },
    'collaborators.transfer': async (call) => {
      const { id } = call.params;
      const { row, newOwner } = await sql.begin((tx) => transfer(deps, tx, call));
      told(id, row);
      mail.wake();
      return { reply: 'ok', body: { success: true, new_owner: newOwner } };
    },
  };
}

/** Whom a path names. */
interface Named {
  /** Accounts of the person who has proved the address; none where nobody has. */
  readonly accounts: Accounts;
  /** The address, and every proved address of that person. */
  readonly emails: readonly string[];
}

async function namedBy(tx: Queries, who: string): Promise<Named> {
  const userId = isUserId(who) ? ((await accountExists(tx, who)) ? who : null) : await findByProvedEmail(tx, who);
  const accounts = userId === null ? [] : await readLinked(tx, [userId]);
  const proved = await readProved(tx, accounts);
  return { accounts, emails: [...new Set(isUserId(who) ? proved : [who, ...proved])] };
}

/** An address may be proved while its collaborator is changed: then both would miss each other. */
async function lockNamed(tx: Queries, who: string): Promise<void> {
  if (!isUserId(who)) await lockName(tx, who);
}

/** Throws CANNOT_REMOVE_OWNER. */
function refuseOwner({ owner_id }: ArtifactRow, { accounts }: Named): void {
  if (owner_id !== null && accounts.includes(owner_id)) throw new Failure('CANNOT_REMOVE_OWNER', { param: 'email' });
}

async function changeRole(tx: Queries, call: Call<Endpoints['collaborators.update']>) {
  const { id, email: who } = call.params;
  const { role } = call.body;
  const { row } = await lockAsOwner(tx, call, id, isUserId(who) ? [] : [who], role);
  const named = await namedBy(tx, who);
  refuseOwner(row, named);
  const before = await found(tx, id, named);
  await writeRole(tx, id, named.accounts, role);
  await writePendingRole(tx, id, named.emails, role);
  const changed = { ...before, role };
  if (before.role !== role) {
    await auditArtifact(tx, call, row, 'collaborator.update', { ...identity(before), from: before.role, to: role });
  }
  return { row, changed };
}

async function remove(tx: Queries, call: Call<Endpoints['collaborators.remove']>) {
  const { id, email: who } = call.params;
  const { principal } = call;
  await lockNamed(tx, who);
  const own = accountsOf(principal);
  const early = await readHead(tx, id);
  // Nobody else may simulate.
  if (early !== null && roleOf(early, principal) === 'owner') await requireSimulated(tx, call, id, isUserId(who) ? [] : [who], null);
  const row = await lockArtifact(tx, id, own);
  const head = await readHead(tx, id);
  if (head === null) throw new Failure('ARTIFACT_NOT_FOUND');
  const named = await namedBy(tx, who);
  const isSelf = named.accounts.some((account) => own.includes(account));
  requireMayRemove(roleOf(head, principal), isSelf);
  if (call.refusal !== undefined) throw call.refusal;
  refuseOwner(row, named);
  const before = await found(tx, id, named);
  await deleteCollaborator(tx, id, named.accounts);
  await deletePending(tx, id, named.emails);
  await auditArtifact(tx, call, row, isSelf ? 'collaborator.leave' : 'collaborator.remove', { ...identity(before), role: before.role });
  return { row, remaining: await remainingFor(tx, id, named, call.nowMs) };
}

async function remainingFor(tx: Queries, id: ArtifactId, { accounts: [first] }: Named, nowMs: number) {
  const head = await readHead(tx, id);
  if (head === null) return null;
  return remainingRole(head, first === undefined ? undefined : (await readStandings(tx, [first], nowMs)).get(first));
}

/** Throws USER_NOT_FOUND. */
async function found(tx: Queries, id: ArtifactId, { accounts, emails }: Named): Promise<CollaboratorRow> {
  const there = accounts.length === 0 ? null : await readCollaborator(tx, id, accounts);
  if (there !== null) return there;
  for (const email of emails) {
    const pending = await readPending(tx, id, email);
    if (pending !== null) return pending;
  }
  throw new Failure('USER_NOT_FOUND', {
    param: 'email',
    message: 'They are no collaborator of this artifact.',
    hint: 'GET …/collaborators lists them.',
  });
}

function identity({ user_id, email }: CollaboratorRow) {
  return { ...(user_id !== null && { user_id }), ...(email !== null && { email }) };
}

/** Answers how many mails it has queued. The owner gets none. */
async function mailShared(
  { config }: CollaboratorDeps,
  tx: Queries,
  call: SharingCall,
  row: ArtifactRow,
  outcomes: readonly Outcome[],
  message: string | null,
): Promise<number> {
  const sender = await readShown(tx, call.user);
  const by = sender?.name ?? sender?.email ?? 'Somebody';
  const workspace = row.workspace_id === null ? null : await readWorkspaceByRef(tx, row.workspace_id);
  const mails = [];
  for (const { email, role } of outcomes) {
    if (role === 'owner') continue;
    const locale = localeOf(await readLocale(tx, email), workspace?.locale);
    const facts = { by, artifact: row.name, role, message, url: `${pageUrl(config, row.slug)}/` };
    mails.push(composeMail('share', facts, { recipient: email, locale, artifactId: row.id }));
  }
  await queueMail(tx, mails, call.nowMs);
  return mails.length;
}
