/** The SQL of `import_source` and `import_connection`. */
import type { JSONValue } from 'postgres';
import type { FolderId, ImportSourceId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { ImportProvider } from '../../../../protocol/library/file-imports.ts';
import type { Queries } from '../../deps.ts';
import { isPersonSuspended } from '../../people/persons/rows.ts';
import type { RemotePlace } from './providers/provider.ts';

/** Who asks: what they may see is decided in the query. */
export interface Asking {
  readonly workspaceId: WorkspaceId;
  readonly accounts: readonly UserId[];
  readonly isAdmin: boolean;
}

export interface SourceRow {
  readonly id: ImportSourceId;
  readonly workspace_id: WorkspaceId;
  readonly user_id: UserId;
  readonly provider: ImportProvider;
  readonly remote: RemotePlace;
  readonly remote_name: string;
  readonly target_folder_id: FolderId | null;
  readonly target_folder_name: string | null;
  readonly convert: boolean;
  readonly daily_sync: boolean;
  readonly next_sync_at_ms: number | null;
  readonly cursor: string | null;
  readonly connected: boolean;
  readonly updated_at_ms: number;
  readonly created_at_ms: number;
}

/** The columns of a `SourceRow`, from source `s`. */
function sourceColumns(sql: Queries) {
  return sql`
    s.id, s.workspace_id, s.user_id, s.provider, s.remote, s.remote_name, s.target_folder_id,
    (select f.name from folder f where f.id = s.target_folder_id) as target_folder_name,
    s.convert, s.daily_sync, s.next_sync_at_ms, s.cursor, s.created_at_ms, s.updated_at_ms,
    exists (
      select from import_connection c
      where c.workspace_id = s.workspace_id and c.user_id = s.user_id and c.provider = s.provider and c.tokens is not null
    ) as connected`;
}

/** Whether somebody sees source `s`: their own, and those whose files go where they may look; admins see all. */
export function isSourceSeen(sql: Queries, { workspaceId, accounts, isAdmin }: Asking) {
  return sql`
    s.workspace_id = ${workspaceId} and (
      ${isAdmin} or s.user_id = any(${accounts as UserId[]}) or exists (
        select from folder f
        where f.id = s.target_folder_id and (f.created_by = any(${accounts as UserId[]}) or folder_visibility(f.id) <> 'private')
      )
    )`;
}

/** Their number is bounded. */
export function listSources(sql: Queries, asking: Asking) {
  return sql<SourceRow[]>`
    select ${sourceColumns(sql)} from import_source s where ${isSourceSeen(sql, asking)} order by s.created_at_ms desc, s.id desc`;
}

export async function readSource(sql: Queries, id: ImportSourceId, asking: Asking): Promise<SourceRow | null> {
  const [row] = await sql<
    SourceRow[]
  >`select ${sourceColumns(sql)} from import_source s where s.id = ${id} and ${isSourceSeen(sql, asking)}`;
  return row ?? null;
}

/** For a run, whose maker's access is asked anew. */
export async function readSourceOfRun(sql: Queries, id: ImportSourceId): Promise<SourceRow | null> {
  const [row] = await sql<SourceRow[]>`select ${sourceColumns(sql)} from import_source s where s.id = ${id}`;
  return row ?? null;
}

/** What the files of a source are stored by, as it is now. */
export interface SourceStanding {
  readonly isUnchanged: boolean;
  readonly isConnected: boolean;
  /** One of the accounts of its maker is a member. */
  readonly isMember: boolean;
  /** Its maker, by one of their accounts. */
  readonly isSuspended: boolean;
}

/** `source`: as its run has read it. Null where it is gone. */
export async function readSourceStanding(sql: Queries, { id, updated_at_ms }: SourceRow): Promise<SourceStanding | null> {
  const [row] = await sql<SourceStanding[]>`
    select s.updated_at_ms = ${updated_at_ms} as "isUnchanged",
      exists (
        select from import_connection c
        where c.workspace_id = s.workspace_id and c.user_id = s.user_id and c.provider = s.provider and c.tokens is not null
      ) as "isConnected",
      exists (
        select from account a join account p on p.person_id = a.person_id join workspace_member m on m.user_id = p.id
        where a.id = s.user_id and m.workspace_id = s.workspace_id
      ) as "isMember",
      exists (select from account a where a.id = s.user_id and ${isPersonSuspended(sql)}) as "isSuspended"
    from import_source s where s.id = ${id}`;
  return row ?? null;
}

/** Changes of one source wait for each other until the transaction ends. */
export async function lockSource(tx: Queries, id: ImportSourceId): Promise<void> {
  await tx`select 1 from import_source where id = ${id} for update`;
}

export async function countSources(sql: Queries, workspaceId: WorkspaceId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from import_source where workspace_id = ${workspaceId}`;
  return row?.total ?? 0;
}

export interface NewSource {
  readonly id: ImportSourceId;
  readonly workspaceId: WorkspaceId;
  readonly userId: UserId;
  readonly provider: ImportProvider;
  readonly remote: RemotePlace;
  readonly remoteName: string;
  readonly targetFolderId: FolderId;
  readonly convert: boolean;
  readonly dailySync: boolean;
  readonly nextSyncAtMs: number | null;
  readonly nowMs: number;
}

export async function insertSource(tx: Queries, row: NewSource): Promise<void> {
  await tx`
    insert into import_source (
      id, workspace_id, user_id, provider, remote, remote_name, target_folder_id, convert, daily_sync, next_sync_at_ms, created_at_ms,
      updated_at_ms)
    values (
      ${row.id}, ${row.workspaceId}, ${row.userId}, ${row.provider}, ${tx.json(row.remote as unknown as JSONValue)}, ${row.remoteName},
      ${row.targetFolderId}, ${row.convert}, ${row.dailySync}, ${row.nextSyncAtMs}, ${row.nowMs}, ${row.nowMs})`;
}

export interface ChangedSource {
  readonly targetFolderId: FolderId | null;
  readonly convert: boolean;
  readonly dailySync: boolean;
  readonly nextSyncAtMs: number | null;
  readonly nowMs: number;
}

/** The next run looks at everything: how files are taken may have changed. */
export async function updateSource(tx: Queries, id: ImportSourceId, to: ChangedSource): Promise<void> {
  await tx`
    update import_source set
      target_folder_id = ${to.targetFolderId}, convert = ${to.convert}, daily_sync = ${to.dailySync}, next_sync_at_ms = ${to.nextSyncAtMs},
      cursor = null, updated_at_ms = greatest(${to.nowMs}, updated_at_ms + 1)
    where id = ${id}`;
}

export async function deleteSource(tx: Queries, id: ImportSourceId): Promise<void> {
  await tx`delete from import_source where id = ${id}`;
}

/** Whose access to which drive, in which workspace. */
export interface ConnectionKey {
  readonly workspaceId: WorkspaceId;
  readonly userId: UserId;
  readonly provider: ImportProvider;
}

export interface DriveConnectionRow {
  readonly user_id: UserId;
  readonly provider: ImportProvider;
  readonly account_email: string | null;
  /** Null once the access was withdrawn. */
  readonly tokens: Buffer | null;
}

/** Those of one person in a workspace. */
export function listConnectionsOf(sql: Queries, workspaceId: WorkspaceId, accounts: readonly UserId[]) {
  return sql<DriveConnectionRow[]>`
    select user_id, provider, account_email, tokens from import_connection
    where workspace_id = ${workspaceId} and user_id = any(${accounts as UserId[]}) order by tokens is null, user_id`;
}

export async function readTokens(sql: Queries, { workspaceId, userId, provider }: ConnectionKey): Promise<Buffer | null> {
  const [row] = await sql<{ tokens: Buffer | null }[]>`
    select tokens from import_connection where workspace_id = ${workspaceId} and user_id = ${userId} and provider = ${provider}`;
  return row?.tokens ?? null;
}

export async function putConnection(
  tx: Queries,
  { workspaceId, userId, provider }: ConnectionKey,
  { email, tokens, nowMs }: { readonly email: string | null; readonly tokens: Buffer; readonly nowMs: number },
): Promise<void> {
  await tx`
    insert into import_connection (workspace_id, user_id, provider, account_email, tokens, connected_at_ms)
    values (${workspaceId}, ${userId}, ${provider}, ${email}, ${tokens}, ${nowMs})
    on conflict (workspace_id, user_id, provider) do update set
      account_email = excluded.account_email, tokens = excluded.tokens, connected_at_ms = excluded.connected_at_ms`;
}

/** `tokens` null: the access was withdrawn. Changes nothing where others were stored meanwhile; whether it did. */
export async function replaceTokens(
  sql: Queries,
  { workspaceId, userId, provider }: ConnectionKey,
  before: Buffer,
  tokens: Buffer | null,
): Promise<boolean> {
  const rows = await sql`
    update import_connection set tokens = ${tokens}
    where workspace_id = ${workspaceId} and user_id = ${userId} and provider = ${provider} and tokens = ${before} returning 1`;
  return rows.length > 0;
}

export async function deleteConnectionsOf(
  tx: Queries,
  workspaceId: WorkspaceId,
  accounts: readonly UserId[],
  provider: ImportProvider,
): Promise<boolean> {
  const rows = await tx`
    delete from import_connection
    where workspace_id = ${workspaceId} and user_id = any(${accounts as UserId[]}) and provider = ${provider} returning 1`;
  return rows.length > 0;
}

export interface AttemptRow {
  readonly workspace_id: WorkspaceId;
  readonly user_id: UserId;
  readonly code_verifier: string;
}

export async function insertAttempt(
  sql: Queries,
  { workspaceId, userId, provider }: ConnectionKey,
  attempt: { readonly stateSha256: Buffer; readonly codeVerifier: string; readonly expiresAtMs: number },
): Promise<void> {
  await sql`
    insert into import_attempt (state_sha256, workspace_id, user_id, provider, code_verifier, expires_at_ms)
    values (${attempt.stateSha256}, ${workspaceId}, ${userId}, ${provider}, ${attempt.codeVerifier}, ${attempt.expiresAtMs})`;
}

/** Takes the attempt that a person began; it counts once. */
export async function takeAttempt(
  sql: Queries,
  stateSha256: Buffer,
  { provider, accounts, nowMs }: { readonly provider: ImportProvider; readonly accounts: readonly UserId[]; readonly nowMs: number },
): Promise<AttemptRow | null> {
  const [row] = await sql<AttemptRow[]>`
    delete from import_attempt
    where state_sha256 = ${stateSha256} and provider = ${provider} and user_id = any(${accounts as UserId[]}) and expires_at_ms > ${nowMs}
    returning workspace_id, user_id, code_verifier`;
  return row ?? null;
}

export async function deleteExpiredAttempts(sql: Queries, nowMs: number): Promise<number> {
  return (await sql`delete from import_attempt where expires_at_ms <= ${nowMs}`).count;
}

/** Nobody reaches them any more, and a secret is not kept for longer than it is of use. Of those who are members no longer too. */
export async function deleteUseless(sql: Queries): Promise<number> {
  const sources = await sql`
    delete from import_source s using workspace w where w.id = s.workspace_id and w.deleted_at_ms is not null`;
  const connections = await sql`
    delete from import_connection c
    where not exists (
      select from workspace_member m join workspace w on w.id = m.workspace_id
      where m.workspace_id = c.workspace_id and m.user_id = c.user_id and w.deleted_at_ms is null
    )`;
  return sources.count + connections.count;
}

export interface SealedTokens extends ConnectionKey {
  readonly tokens: Buffer;
}

/** Those that another key than the current one has sealed; `head` is how the current ones begin. */
export function listSealedBefore(
  sql: Queries,
  head: Buffer,
  after: Pick<ConnectionKey, 'workspaceId' | 'userId' | 'provider'>,
  rowsMax: number,
) {
  return sql<SealedTokens[]>`
    select workspace_id as "workspaceId", user_id as "userId", provider, tokens from import_connection
    where tokens is not null and substring(tokens from 1 for ${head.length}::int) <> ${head}
      and (workspace_id, user_id, provider) > (${after.workspaceId}, ${after.userId}, ${after.provider})
    order by workspace_id, user_id, provider limit ${rowsMax}`;
}
