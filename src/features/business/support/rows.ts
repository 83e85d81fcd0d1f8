/** The SQL of `ticket`. */
import type { TicketChannel, TicketPriority, TicketStatus } from '../../../../protocol/business/support.ts';
import type { ArtifactId, TicketId, TicketMessageId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { TicketPlace, TicketState } from './rules.ts';

export interface TicketRow extends TicketState, TicketPlace {
  readonly id: TicketId;
  readonly subject: string;
  readonly channel: TicketChannel;
  readonly priority: TicketPriority;
  readonly requesterEmail: string | null;
  readonly requesterName: string | null;
  readonly assigneeId: UserId | null;
  readonly assigneeName: string | null;
  readonly followsId: TicketId | null;
  readonly mailToken: string;
  readonly chatThread: string | null;
  readonly requestIds: readonly string[];
  readonly lastNumber: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

function tickets(sql: Queries) {
  return sql`
    select t.id, t.subject, t.status, t.channel, t.priority, coalesce(r.workspace_id, t.workspace_id) as "workspaceId",
      t.artifact_id as "artifactId", r.owner_id as "pageOwnerId", t.requester_id as "requesterId", t.requester_email as "requesterEmail",
      t.requester_name as "requesterName", t.assignee_id as "assigneeId",
      coalesce(nullif(s.name, ''), s.username, s.email) as "assigneeName", t.follows_id as "followsId", t.mail_token as "mailToken",
      t.chat_thread as "chatThread", t.request_ids as "requestIds", t.last_number as "lastNumber", t.closed_at_ms as "closedAtMs",
      t.created_at_ms as "createdAtMs", t.updated_at_ms as "updatedAtMs"
    from ticket t left join artifact r on r.id = t.artifact_id left join account s on s.id = t.assignee_id`;
}

export async function readTicket(sql: Queries, id: TicketId): Promise<TicketRow | null> {
  const [row] = await sql<TicketRow[]>`${tickets(sql)} where t.id = ${id}`;
  return row ?? null;
}

/** Changes of one ticket wait for each other until the transaction ends. */
export async function lockTicket(tx: Queries, id: TicketId): Promise<TicketRow | null> {
  const [row] = await tx<TicketRow[]>`${tickets(tx)} where t.id = ${id} for update of t`;
  return row ?? null;
}

/** That of a token in an address. */
export async function findByToken(sql: Queries, tokens: readonly string[]): Promise<TicketId | null> {
  const [row] = await sql<{ id: TicketId }[]>`select id from ticket where mail_token = any(${tokens as string[]}::text[]) limit 1`;
  return row?.id ?? null;
}

/** That of the latest of these mails, which left or came in. */
export async function findByMails(sql: Queries, mailIds: readonly string[]): Promise<TicketId | null> {
  const [row] = await sql<{ id: TicketId }[]>`
    select ticket_id as id from ticket_message where mail_id = any(${mailIds as string[]}::text[])
    order by created_at_ms desc, id limit 1`;
  return row?.id ?? null;
}

/** The latest ticket of a conversation in another chat. */
export async function findByThread(sql: Queries, thread: string): Promise<TicketId | null> {
  const [row] = await sql<{ id: TicketId }[]>`
    select id from ticket where chat_thread = ${thread} order by created_at_ms desc, id limit 1`;
  return row?.id ?? null;
}

/** First messages of one conversation wait for each other until the transaction ends. */
export async function lockThread(tx: Queries, thread: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`ticket thread ${thread}`}, 0))`;
}

export async function findBySecret(sql: Queries, artifactId: ArtifactId, secretSha256: Uint8Array): Promise<TicketId | null> {
  const [row] = await sql<{ id: TicketId }[]>`
    select id from ticket where chat_secret_sha256 = ${secretSha256} and artifact_id = ${artifactId}`;
  return row?.id ?? null;
}

/** A visitor goes on in the ticket that continues theirs with the same secret. */
export async function moveSecret(tx: Queries, from: TicketId, to: TicketId): Promise<void> {
  const [row] = await tx<{ secret: Buffer | null }[]>`select chat_secret_sha256 as secret from ticket where id = ${from}`;
  if (row === undefined || row.secret === null) return;
  await tx`update ticket set chat_secret_sha256 = null where id = ${from}`;
  await tx`update ticket set chat_secret_sha256 = ${row.secret} where id = ${to}`;
}

export interface NewTicketRow {
  readonly id: TicketId;
  readonly subject: string;
  readonly channel: TicketChannel;
  readonly priority: TicketPriority;
  readonly workspaceId: WorkspaceId | null;
  readonly artifactId: ArtifactId | null;
  readonly requesterId: UserId | null;
  readonly requesterEmail: string | null;
  readonly requesterName: string | null;
  readonly followsId: TicketId | null;
  readonly mailToken: string;
  readonly chatThread: string | null;
  readonly chatSecretSha256: Uint8Array | null;
  readonly nowMs: number;
}

export async function insertTicket(tx: Queries, row: NewTicketRow): Promise<void> {
  await tx`
    insert into ticket (
      id, subject, status, channel, priority, workspace_id, artifact_id, requester_id, requester_email, requester_name, follows_id, mail_token,
      chat_thread, chat_secret_sha256, quiet_since_ms, created_at_ms, updated_at_ms)
    values (
      ${row.id}, ${row.subject}, 'open', ${row.channel}, ${row.priority}, ${row.workspaceId}, ${row.artifactId}, ${row.requesterId},
      ${row.requesterEmail}, ${row.requesterName}, ${row.followsId}, ${row.mailToken}, ${row.chatThread}, ${row.chatSecretSha256},
      ${row.nowMs}, ${row.nowMs}, ${row.nowMs})`;
}

/** `updated_at` rises with each change. */
export async function setStatus(tx: Queries, id: TicketId, status: TicketStatus, nowMs: number): Promise<void> {
  await tx`
    update ticket set status = ${status}, closed_at_ms = ${status === 'closed' ? nowMs : null}, quiet_since_ms = ${nowMs},
      updated_at_ms = greatest(updated_at_ms + 1, ${nowMs})
    where id = ${id}`;
}

export async function setAssignee(tx: Queries, id: TicketId, assigneeId: UserId | null, nowMs: number): Promise<void> {
  await tx`update ticket set assignee_id = ${assigneeId}, updated_at_ms = greatest(updated_at_ms + 1, ${nowMs}) where id = ${id}`;
}

export async function setPriority(tx: Queries, id: TicketId, priority: TicketPriority, nowMs: number): Promise<void> {
  await tx`update ticket set priority = ${priority}, updated_at_ms = greatest(updated_at_ms + 1, ${nowMs}) where id = ${id}`;
}

export async function setRequestIds(tx: Queries, id: TicketId, requestIds: readonly string[]): Promise<void> {
  await tx`update ticket set request_ids = ${requestIds as string[]}::text[] where id = ${id}`;
}

/** The number of the next message of a locked ticket. */
export async function takeNumber(tx: Queries, id: TicketId): Promise<number> {
  const [row] = await tx<{ number: number }[]>`
    update ticket set last_number = last_number + 1 where id = ${id} returning last_number as number`;
  if (row === undefined) throw new Error(`the ticket ${id} is not there, although it is locked`);
  return row.number;
}

/** Closes some that are resolved and quiet; answers how many. */
export async function closeQuiet(sql: Queries, quietSinceMs: number, nowMs: number, rowsMax: number): Promise<number> {
  const closed = await sql`
    update ticket set status = 'closed', closed_at_ms = ${nowMs}, updated_at_ms = greatest(updated_at_ms + 1, ${nowMs})
    where id in (
      select id from ticket where status = 'resolved' and quiet_since_ms <= ${quietSinceMs}
      order by quiet_since_ms limit ${rowsMax} for update skip locked)`;
  return closed.count;
}

export interface TicketFilter {
  /** Undefined where it does not matter. */
  readonly requesters: readonly UserId[] | undefined;
  readonly workspaceId: WorkspaceId | undefined;
  readonly pageOwners: readonly UserId[] | undefined;
  readonly status: TicketStatus | undefined;
  readonly assignees: readonly UserId[] | 'none' | undefined;
  readonly q: string | undefined;
}

function matching(sql: Queries, { requesters, workspaceId, pageOwners, status, assignees, q }: TicketFilter) {
  const pattern = q === undefined ? null : `%${q.replace(/[\\%_]/g, (char) => `\\${char}`)}%`;
  const assigned = assignees === undefined || assignees === 'none' ? null : (assignees as UserId[]);
  return sql`
    (${(requesters as UserId[] | undefined) ?? null}::text[] is null or t.requester_id = any(${(requesters as UserId[] | undefined) ?? null}::text[]))
    and (${workspaceId ?? null}::text is null or coalesce(r.workspace_id, t.workspace_id) = ${workspaceId ?? null}::text)
    and (${(pageOwners as UserId[] | undefined) ?? null}::text[] is null or r.owner_id = any(${(pageOwners as UserId[] | undefined) ?? null}::text[]))
    and (${status ?? null}::text is null or t.status = ${status ?? null}::text)
    and (${assignees === 'none'} = false or t.assignee_id is null)
    and (${assigned}::text[] is null or t.assignee_id = any(${assigned}::text[]))
    and (${pattern}::text is null or t.subject ilike ${pattern}::text or t.requester_name ilike ${pattern}::text
      or t.requester_email ilike ${pattern}::text)`;
}

/** The latest changed first. */
export function listTickets(sql: Queries, filter: TicketFilter, after: PageKey, rowsMax: number): Promise<TicketRow[]> {
  return sql<TicketRow[]>`
    ${tickets(sql)}
    where ${matching(sql, filter)} and (t.updated_at_ms < ${after.number} or (t.updated_at_ms = ${after.number} and t.id > ${after.id}))
    order by t.updated_at_ms desc, t.id limit ${rowsMax}`;
}

export async function countTickets(sql: Queries, filter: TicketFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from ticket t left join artifact r on r.id = t.artifact_id where ${matching(sql, filter)}`;
  return row?.total ?? 0;
}

export interface Requester {
  readonly name: string | null;
  readonly email: string | null;
}

/** How an account is named in its tickets. */
export async function readRequester(sql: Queries, userId: UserId): Promise<Requester> {
  const [row] = await sql<Requester[]>`
    select coalesce(nullif(a.name, ''), a.username) as name, coalesce(a.email, (
      select p.email from account p where p.person_id = a.person_id and p.email is not null order by p.created_at_ms, p.id limit 1
    )) as email
    from account a where a.id = ${userId}`;
  return row ?? { name: null, email: null };
}

/** The proved addresses in lowercase of the person that an account belongs to. */
export async function readAddresses(sql: Queries, userId: UserId): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    select lower(p.email) as email from account a join account p on p.person_id = a.person_id where a.id = ${userId} and p.email is not null`;
  return rows.map(({ email }) => email);
}

/** Who answers tickets for the installation, at most so many, those of the longest standing first. */
export async function listStaff(sql: Queries, rowsMax: number): Promise<UserId[]> {
  const rows = await sql<{ id: UserId }[]>`
    select id from account where is_staff or is_admin order by created_at_ms, id limit ${rowsMax}`;
  return rows.map(({ id }) => id);
}

/** Who answers the chat of a page: its owner, and the owners and admins of its workspace. */
export async function listMakers(sql: Queries, artifactId: ArtifactId, rowsMax: number): Promise<UserId[]> {
  const rows = await sql<{ id: UserId }[]>`
    select r.owner_id as id from artifact r where r.id = ${artifactId} and r.owner_id is not null
    union
    select m.user_id as id from artifact r join workspace w on w.id = r.workspace_id and w.deleted_at_ms is null
      join workspace_member m on m.workspace_id = w.id and m.role in ('owner', 'admin')
    where r.id = ${artifactId} order by id limit ${rowsMax}`;
  return rows.map(({ id }) => id);
}

/** Whether any account of the person of this account answers tickets for the installation. Null where there is no such account. */
export async function readIsStaff(sql: Queries, userId: UserId): Promise<boolean | null> {
  const [row] = await sql<{ isStaff: boolean }[]>`
    select bool_or(p.is_staff or p.is_admin) as "isStaff" from account a join account p on p.person_id = a.person_id
    where a.id = ${userId} group by a.id`;
  return row?.isStaff ?? null;
}

/** The language of an account, as its metadata has it. */
export async function readLanguage(sql: Queries, userId: UserId): Promise<unknown> {
  const [row] = await sql<{ locale: unknown }[]>`select metadata -> 'locale' as locale from account where id = ${userId}`;
  return row?.locale;
}

/** Whether this draft is one of the ticket. */
export async function deleteDraft(tx: Queries, ticketId: TicketId, id: TicketMessageId): Promise<boolean> {
  return (await tx`delete from ticket_message where id = ${id} and ticket_id = ${ticketId} and is_draft`).count > 0;
}
