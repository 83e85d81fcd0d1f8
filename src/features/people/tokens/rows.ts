/** The SQL of `access_token`, and of how `agent_token` and the tokens in `comment_guest` are read. */
import type { Scope } from '../../../../protocol/core/endpoint.ts';
import type { AgentId, ArtifactId, GuestId, JobId, RunId, TokenId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { Accounts } from '../accounts/rules.ts';
import { type StandingRow, standingColumns, standingOf } from '../persons/rows.ts';
import type { KnownToken } from './rules.ts';

export interface NewToken {
  readonly id: TokenId;
  readonly userId: UserId;
  readonly name: string | null;
  readonly sha256: Buffer;
  /** Unix ms; null never expires. */
  readonly expiresAtMs: number | null;
  readonly nowMs: number;
}

export async function insertToken(sql: Queries, spec: NewToken): Promise<void> {
  await sql`
    insert into access_token (id, user_id, name, token_sha256, created_at_ms, expires_at_ms)
    values (${spec.id}, ${spec.userId}, ${spec.name}, ${spec.sha256}, ${spec.nowMs}, ${spec.expiresAtMs})`;
}

/** Revokes a token of one of these accounts. Answers its digest, null where there is no such token or it is revoked already. */
export async function revokeToken(sql: Queries, accounts: Accounts, id: TokenId, nowMs: number): Promise<Buffer | null> {
  const [row] = await sql<{ token_sha256: Buffer }[]>`
    update access_token set revoked_at_ms = ${nowMs}
    where id = ${id} and user_id = any(${accounts}) and revoked_at_ms is null
    returning token_sha256`;
  return row?.token_sha256 ?? null;
}

export interface TokenRow {
  readonly id: TokenId;
  readonly user_id: UserId;
  readonly name: string | null;
  readonly created_at_ms: number;
  readonly last_used_at_ms: number | null;
  readonly expires_at_ms: number | null;
}

/** Newest first. */
export function listTokens(sql: Queries, accounts: Accounts, after: PageKey, rowsMax: number) {
  return sql<TokenRow[]>`
    select id, user_id, name, created_at_ms, last_used_at_ms, expires_at_ms from access_token
    where user_id = any(${accounts}) and revoked_at_ms is null
      and (created_at_ms < ${after.number} or (created_at_ms = ${after.number} and id > ${after.id}))
    order by created_at_ms desc, id limit ${rowsMax}`;
}

export async function countTokens(sql: Queries, accounts: Accounts): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from access_token where user_id = any(${accounts}) and revoked_at_ms is null`;
  return row?.total ?? 0;
}

export async function countUsableTokens(sql: Queries, accounts: Accounts, nowMs: number): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from access_token
    where user_id = any(${accounts}) and revoked_at_ms is null and (expires_at_ms is null or expires_at_ms > ${nowMs})`;
  return row?.total ?? 0;
}

interface UserTokenRow extends StandingRow {
  readonly id: TokenId;
  readonly user_id: UserId;
  readonly expires_at_ms: number | null;
  readonly revoked_at_ms: number | null;
  readonly last_used_at_ms: number | null;
}

export async function readUserToken(sql: Queries, sha256: Buffer): Promise<KnownToken | null> {
  const [row] = await sql<UserTokenRow[]>`
    select t.id, t.user_id, t.expires_at_ms, t.revoked_at_ms, t.last_used_at_ms, ${standingColumns(sql)}
    from access_token t join account a on a.id = t.user_id
    where t.token_sha256 = ${sha256}`;
  if (row === undefined) return null;
  return {
    principal: {
      kind: 'user',
      userId: row.user_id,
      tokenId: row.id,
      tokenKind: 'personal',
      ...standingOf(row),
      expiresAtMs: row.expires_at_ms,
    },
    expiresAtMs: row.expires_at_ms,
    revoked: row.revoked_at_ms !== null,
    suspended: row.is_suspended,
    lastUsedAtMs: row.last_used_at_ms ?? 0,
  };
}

interface AgentTokenRow {
  readonly id: TokenId;
  readonly workspace_id: WorkspaceId;
  readonly principal_id: AgentId;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expires_at_ms: number | null;
  readonly is_revoked: boolean;
  readonly is_suspended: boolean;
  readonly last_used_at_ms: number | null;
}

/** The tokens of a deleted workspace are as good as revoked. */
export async function readAgentToken(sql: Queries, sha256: Buffer): Promise<KnownToken | null> {
  const [row] = await sql<AgentTokenRow[]>`
    select t.id, p.workspace_id, t.principal_id, p.name, t.scopes, t.expires_at_ms, t.last_used_at_ms,
      t.revoked_at_ms is not null or w.deleted_at_ms is not null as is_revoked, w.suspended_at_ms is not null as is_suspended
    from agent_token t join service_principal p on p.id = t.principal_id join workspace w on w.id = p.workspace_id
    where t.token_sha256 = ${sha256}`;
  if (row === undefined) return null;
  return {
    principal: {
      kind: 'agent',
      tokenId: row.id,
      workspaceId: row.workspace_id,
      scopes: row.scopes,
      principalId: row.principal_id,
      name: row.name,
      expiresAtMs: row.expires_at_ms,
    },
    expiresAtMs: row.expires_at_ms,
    revoked: row.is_revoked,
    suspended: row.is_suspended,
    lastUsedAtMs: row.last_used_at_ms ?? 0,
  };
}

interface ExternalTokenRow extends StandingRow {
  readonly id: TokenId;
  readonly workspace_id: WorkspaceId;
  readonly user_id: UserId;
  readonly expires_at_ms: number | null;
  readonly is_revoked: boolean;
  readonly last_used_at_ms: number | null;
}

/** Acts as an account that has nothing but what the workspace shares, whoever has proved the address. Ends with the workspace. */
export async function readExternalToken(sql: Queries, sha256: Buffer): Promise<KnownToken | null> {
  const [row] = await sql<ExternalTokenRow[]>`
    select t.id, a.id as user_id, e.workspace_id, t.expires_at_ms, t.last_used_at_ms, ${standingColumns(sql)},
      t.revoked_at_ms is not null or w.deleted_at_ms is not null as is_revoked
    from external_token t join external_user e on e.id = t.external_id join workspace w on w.id = e.workspace_id
      join account a on a.id = e.account_id
    where t.token_sha256 = ${sha256}`;
  if (row === undefined) return null;
  const { id: tokenId, user_id: userId, expires_at_ms: expiresAtMs } = row;
  const { person, isAdmin } = standingOf(row);
  // The end of the workspace ends the token also where nothing is shared yet.
  const grants = { ...person.grants, sharedBy: new Set([...person.grants.sharedBy, row.workspace_id]) };
  return {
    principal: { kind: 'user', userId, tokenId, tokenKind: 'external', person: { ...person, grants }, isAdmin, expiresAtMs },
    expiresAtMs,
    revoked: row.is_revoked,
    suspended: row.is_suspended,
    lastUsedAtMs: row.last_used_at_ms ?? 0,
  };
}

interface GuestTokenRow {
  readonly id: GuestId;
  readonly artifact_id: ArtifactId;
  readonly email: string;
  readonly name: string;
  readonly token_id: TokenId;
  readonly expires_at_ms: number;
  readonly revoked_at_ms: number | null;
}

export async function readGuestToken(sql: Queries, sha256: Buffer): Promise<KnownToken | null> {
  const [row] = await sql<GuestTokenRow[]>`
    select id, artifact_id, email, name, token_id, expires_at_ms, revoked_at_ms
    from comment_guest where token_sha256 = ${sha256}`;
  if (row === undefined) return null;
  return {
    principal: {
      kind: 'guest',
      guestId: row.id,
      artifactId: row.artifact_id,
      name: row.name,
      email: row.email,
      tokenId: row.token_id,
      expiresAtMs: row.expires_at_ms,
    },
    expiresAtMs: row.expires_at_ms,
    revoked: row.revoked_at_ms !== null,
    lastUsedAtMs: Infinity,
  };
}

interface RunTokenRow extends StandingRow {
  readonly id: RunId;
  readonly job_id: JobId;
  readonly artifact_id: ArtifactId;
  readonly creator_id: UserId;
  readonly chain: readonly JobId[];
}

/** Of the process that has the run now: who has made the job, on its artifact only. Who takes the run over revokes it. */
export async function readRunToken(sql: Queries, sha256: Buffer): Promise<KnownToken | null> {
  const [row] = await sql<RunTokenRow[]>`
    select r.id, r.job_id, r.artifact_id, r.creator_id, r.chain, ${standingColumns(sql)}
    from job_run r join account a on a.id = r.creator_id
    where r.token_sha256 = ${sha256} and r.status = 'running'`;
  if (row === undefined) return null;
  const run = { id: row.id, jobId: row.job_id, artifactId: row.artifact_id, chain: row.chain };
  const standing = { ...standingOf(row), isAdmin: false, isStaff: false };
  return {
    principal: { kind: 'user', userId: row.creator_id, tokenId: row.id, tokenKind: 'personal', ...standing, run },
    expiresAtMs: null,
    revoked: false,
    suspended: row.is_suspended,
    lastUsedAtMs: Infinity,
  };
}

/** Those of these credentials, of any kind, that are revoked or not there. */
export async function readEnded(sql: Queries, ids: readonly TokenId[]): Promise<Set<TokenId>> {
  const rows = await sql<{ id: TokenId }[]>`
    select id from access_token where id = any(${[...ids]}::text[]) and revoked_at_ms is null
    union all
    select t.id from agent_token t join service_principal p on p.id = t.principal_id join workspace w on w.id = p.workspace_id
    where t.id = any(${[...ids]}::text[]) and t.revoked_at_ms is null and w.deleted_at_ms is null
    union all
    select t.id from external_token t join external_user e on e.id = t.external_id join workspace w on w.id = e.workspace_id
    where t.id = any(${[...ids]}::text[]) and t.revoked_at_ms is null and w.deleted_at_ms is null
    union all
    select token_id from comment_guest where token_id = any(${[...ids]}::text[]) and revoked_at_ms is null
    union all
    select id from session where id = any(${[...ids]}::text[]) and revoked_at_ms is null
    union all
    select id from job_run where id = any(${[...ids]}::text[]) and status = 'running'`;
  const usable = new Set(rows.map(({ id }) => id));
  return new Set(ids.filter((id) => !usable.has(id)));
}

/** Each token with the time of its last use in Unix ms. */
export type TokenUses = readonly (readonly [TokenId, number])[];

/** A stored time never goes back. */
export async function writeUserTokenUses(sql: Queries, used: TokenUses): Promise<void> {
  await sql`
    update access_token t set last_used_at_ms = greatest(t.last_used_at_ms, u.used_ms)
    from unnest(${used.map(([id]) => id)}::text[], ${used.map(([, usedMs]) => usedMs)}::bigint[]) as u (id, used_ms)
    where t.id = u.id`;
}

export async function writeAgentTokenUses(sql: Queries, used: TokenUses): Promise<void> {
  await sql`
    update agent_token t set last_used_at_ms = greatest(t.last_used_at_ms, u.used_ms)
    from unnest(${used.map(([id]) => id)}::text[], ${used.map(([, usedMs]) => usedMs)}::bigint[]) as u (id, used_ms)
    where t.id = u.id`;
}

export async function writeExternalTokenUses(sql: Queries, used: TokenUses): Promise<void> {
  await sql`
    update external_token t set last_used_at_ms = greatest(t.last_used_at_ms, u.used_ms)
    from unnest(${used.map(([id]) => id)}::text[], ${used.map(([, usedMs]) => usedMs)}::bigint[]) as u (id, used_ms)
    where t.id = u.id`;
}

/** Dead tokens are kept for a while, so that their holders learn `revoked` or `expired` and not just `invalid`. */
export async function deleteDeadTokens(sql: Queries, deadBeforeMs: number): Promise<number> {
  const personal = await sql`delete from access_token where least(revoked_at_ms, expires_at_ms) <= ${deadBeforeMs}`;
  const agents = await sql`delete from agent_token where least(revoked_at_ms, expires_at_ms) <= ${deadBeforeMs}`;
  const external = await sql`delete from external_token where least(revoked_at_ms, expires_at_ms) <= ${deadBeforeMs}`;
  return personal.count + agents.count + external.count;
}
