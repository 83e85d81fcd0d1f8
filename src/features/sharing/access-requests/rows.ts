/** The SQL of `access_request`. */
import { type AccessRequestId, type ArtifactId, newId, type UserId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Statement } from '../../../storage/sql.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../../people/accounts/rules.ts';

export type RequestStatus = 'pending' | 'approved' | 'denied' | 'ended';

export interface RequestRow {
  readonly id: AccessRequestId;
  readonly artifact_id: ArtifactId;
  readonly artifact_name: string;
  readonly artifact_slug: string;
  readonly requester_id: UserId;
  readonly requester_email: string | null;
  readonly requester_name: string | null;
  readonly asked_slug: string | null;
  readonly message: string | null;
  readonly status: RequestStatus;
  readonly created_at_ms: number;
  readonly decided_at_ms: number | null;
}

/** Request `q` for artifact `r` by account `a`. */
function columns(sql: Queries): Statement {
  return sql`
    q.id, q.artifact_id, r.name as artifact_name, r.slug as artifact_slug, q.requester_id, coalesce(a.email, (
      select p.email from account p where p.person_id = a.person_id and p.email is not null order by p.created_at_ms, p.id limit 1
    )) as requester_email,
    coalesce(nullif(a.name, ''), a.username) as requester_name, q.asked_slug, q.message, q.status, q.created_at_ms, q.decided_at_ms`;
}

function joined(sql: Queries): Statement {
  return sql`from access_request q join artifact r on r.id = q.artifact_id join account a on a.id = q.requester_id`;
}

/** Makes requests of one person for one artifact wait for each other until the transaction ends. */
export async function lockAsking(tx: Queries, personAndArtifact: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`access request ${personAndArtifact}`}, 0))`;
}

/** The request of a person that waits; null where there is none. */
export async function findPending(sql: Queries, id: ArtifactId, accounts: Accounts): Promise<AccessRequestId | null> {
  const [row] = await sql<{ id: AccessRequestId }[]>`
    select id from access_request
    where artifact_id = ${id} and requester_id = any(${accounts as UserId[]}) and status = 'pending' limit 1`;
  return row?.id ?? null;
}

export interface NewRequest {
  readonly artifactId: ArtifactId;
  readonly requesterId: UserId;
  readonly askedSlug: string | null;
  readonly message: string | null;
  readonly nowMs: number;
}

export async function insertRequest(tx: Queries, spec: NewRequest): Promise<AccessRequestId> {
  const id = newId('accessRequest');
  await tx`
    insert into access_request (id, artifact_id, requester_id, asked_slug, message, status, created_at_ms)
    values (${id}, ${spec.artifactId}, ${spec.requesterId}, ${spec.askedSlug}, ${spec.message}, 'pending', ${spec.nowMs})`;
  return id;
}

/** Also one whose artifact is in the trash. */
export async function readRequest(sql: Queries, id: AccessRequestId): Promise<RequestRow | null> {
  const [row] = await sql<RequestRow[]>`select ${columns(sql)} ${joined(sql)} where q.id = ${id}`;
  return row ?? null;
}

/** False where it has been decided already. */
export async function writeDecision(
  tx: Queries,
  id: AccessRequestId,
  { status, by, nowMs }: { readonly status: 'approved' | 'denied'; readonly by: UserId; readonly nowMs: number },
): Promise<boolean> {
  const decided = await tx`
    update access_request set status = ${status}, decided_at_ms = ${nowMs}, decided_by = ${by} where id = ${id} and status = 'pending'`;
  return decided.count > 0;
}

/** Access was given in another way. */
export async function endRequests(tx: Queries, id: ArtifactId, accounts: Accounts, nowMs: number): Promise<void> {
  await tx`
    update access_request set status = 'ended', decided_at_ms = ${nowMs}
    where artifact_id = ${id} and requester_id = any(${accounts as UserId[]}) and status = 'pending'`;
}

/** Whose decision a request waits for. */
export interface Decider {
  readonly accounts: Accounts;
  /** Workspaces that the caller runs: they own what nobody else does. */
  readonly runs: readonly WorkspaceId[];
}

/** Of a live artifact that not everybody sees anyway. */
function waitsFor(sql: Queries, { accounts, runs }: Decider): Statement {
  return sql`
    q.status = 'pending' and r.deleted_at_ms is null and r.visibility <> 'public'
    and (r.owner_id = any(${accounts as UserId[]}) or (r.owner_id is null and r.workspace_id = any(${[...runs]})))`;
}

/** Newest first. */
export function listIncoming(sql: Queries, decider: Decider, after: PageKey, rowsMax: number): Promise<RequestRow[]> {
  return sql<RequestRow[]>`
    select ${columns(sql)} ${joined(sql)}
    where ${waitsFor(sql, decider)} and (q.created_at_ms < ${after.number} or (q.created_at_ms = ${after.number} and q.id > ${after.id}))
    order by q.created_at_ms desc, q.id limit ${rowsMax}`;
}

export async function countIncoming(sql: Queries, decider: Decider): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total ${joined(sql)} where ${waitsFor(sql, decider)}`;
  return row?.total ?? 0;
}

/** Newest first. */
export function listOutgoing(sql: Queries, accounts: Accounts, after: PageKey, rowsMax: number): Promise<RequestRow[]> {
  return sql<RequestRow[]>`
    select ${columns(sql)} ${joined(sql)}
    where q.requester_id = any(${accounts as UserId[]})
      and (q.created_at_ms < ${after.number} or (q.created_at_ms = ${after.number} and q.id > ${after.id}))
    order by q.created_at_ms desc, q.id limit ${rowsMax}`;
}

export async function countOutgoing(sql: Queries, accounts: Accounts): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from access_request where requester_id = any(${accounts as UserId[]})`;
  return row?.total ?? 0;
}

/** Those that wait, in the order of their ids. */
export function listPendingAfter(
  sql: Queries,
  after: AccessRequestId,
  rowsMax: number,
): Promise<Pick<RequestRow, 'id' | 'artifact_id' | 'requester_id'>[]> {
  return sql<Pick<RequestRow, 'id' | 'artifact_id' | 'requester_id'>[]>`
    select id, artifact_id, requester_id from access_request where status = 'pending' and id > ${after} order by id limit ${rowsMax}`;
}

/** Answers how many it has removed, decided or not. */
export async function deleteOldRequests(sql: Queries, createdBeforeMs: number): Promise<number> {
  return (await sql`delete from access_request where created_at_ms <= ${createdBeforeMs}`).count;
}

export interface Addressee {
  readonly email: string;
  /** As the account's metadata has it. */
  readonly locale: unknown;
}

/** Proved addresses of who owns an artifact: of its owner, else of the owners and admins of its workspace, one for each person. */
export function readOwners(
  sql: Queries,
  { owner_id, workspace_id }: { readonly owner_id: UserId | null; readonly workspace_id: WorkspaceId | null },
  rowsMax: number,
): Promise<Addressee[]> {
  const isOwner =
    owner_id === null
      ? sql`a.person_id in (
          select b.person_id from workspace_member m join account b on b.id = m.user_id
          where m.workspace_id = ${workspace_id} and m.role in ('owner', 'admin'))`
      : sql`a.person_id = (select o.person_id from account o where o.id = ${owner_id})`;
  return sql<Addressee[]>`
    select email, locale from (
      select distinct on (a.person_id) a.email, a.metadata -> 'locale' as locale, a.created_at_ms, a.id
      from account a where ${isOwner} and a.email is not null
      order by a.person_id, a.id <> ${owner_id ?? ''}, a.created_at_ms, a.id
    ) one order by created_at_ms, id limit ${rowsMax}`;
}

/** A proved address of a person, and the language that it asks for; null for who has none. */
export async function readAddressee(sql: Queries, userId: UserId): Promise<Addressee | null> {
  const [row] = await readOwners(sql, { owner_id: userId, workspace_id: null }, 1);
  return row ?? null;
}
