/** The SQL of `service_principal` and `agent_token`. How a token is read when it is used is in features/people/tokens. */
import type { Scope } from '../../../../protocol/core/endpoint.ts';
import type { AgentId, TokenId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

export interface NewAgentToken {
  readonly id: TokenId;
  readonly agentId: AgentId;
  readonly workspaceId: WorkspaceId;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly sha256: Buffer;
  readonly createdBy: UserId;
  /** Unix ms; null never expires. */
  readonly expiresAtMs: number | null;
  readonly nowMs: number;
}

/** Makes the agent with its token. */
export async function insertAgentToken(tx: Queries, spec: NewAgentToken): Promise<void> {
  await tx`
    insert into service_principal (id, workspace_id, name, created_at_ms)
    values (${spec.agentId}, ${spec.workspaceId}, ${spec.name}, ${spec.nowMs})`;
  await tx`
    insert into agent_token (id, principal_id, scopes, token_sha256, created_by, created_at_ms, expires_at_ms)
    values (${spec.id}, ${spec.agentId}, ${[...spec.scopes]}, ${spec.sha256}, ${spec.createdBy}, ${spec.nowMs}, ${spec.expiresAtMs})`;
}

export interface AgentTokenRow {
  readonly id: TokenId;
  readonly agent_id: AgentId;
  readonly name: string;
  readonly scopes: Scope[];
  readonly created_at_ms: number;
  readonly created_by: UserId | null;
  readonly creator_name: string | null;
  readonly last_used_at_ms: number | null;
  readonly expires_at_ms: number | null;
}

function tokensOf(sql: Queries, workspaceId: WorkspaceId) {
  return sql`
    from agent_token t join service_principal p on p.id = t.principal_id left join account a on a.id = t.created_by
    where p.workspace_id = ${workspaceId} and t.revoked_at_ms is null`;
}

function columns(sql: Queries) {
  return sql`
    t.id, t.principal_id as agent_id, p.name, t.scopes, t.created_at_ms, t.created_by,
    coalesce(nullif(a.name, ''), a.username, a.email) as creator_name, t.last_used_at_ms, t.expires_at_ms`;
}

/** Newest first, expired ones included. */
export function listAgentTokens(sql: Queries, workspaceId: WorkspaceId, after: PageKey, rowsMax: number) {
  return sql<AgentTokenRow[]>`
    select ${columns(sql)} ${tokensOf(sql, workspaceId)}
      and (t.created_at_ms < ${after.number} or (t.created_at_ms = ${after.number} and t.id > ${after.id}))
    order by t.created_at_ms desc, t.id limit ${rowsMax}`;
}

export async function readAgentTokenRow(sql: Queries, workspaceId: WorkspaceId, id: TokenId): Promise<AgentTokenRow | null> {
  const [row] = await sql<AgentTokenRow[]>`select ${columns(sql)} ${tokensOf(sql, workspaceId)} and t.id = ${id}`;
  return row ?? null;
}

export async function countAgentTokens(sql: Queries, workspaceId: WorkspaceId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total ${tokensOf(sql, workspaceId)}`;
  return row?.total ?? 0;
}

export async function countUsableAgentTokens(sql: Queries, workspaceId: WorkspaceId, nowMs: number): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total ${tokensOf(sql, workspaceId)} and (t.expires_at_ms is null or t.expires_at_ms > ${nowMs})`;
  return row?.total ?? 0;
}

/** Makes those who add tokens to a workspace wait for each other until the transaction ends. */
export async function lockAgents(tx: Queries, workspaceId: WorkspaceId): Promise<void> {
  await tx`select 1 from workspace where id = ${workspaceId} for update`;
}

/** Answers the digest, null where the workspace has no such token or it is revoked already. */
export async function revokeAgentToken(tx: Queries, workspaceId: WorkspaceId, id: TokenId, nowMs: number): Promise<Buffer | null> {
  const [row] = await tx<{ token_sha256: Buffer }[]>`
    update agent_token t set revoked_at_ms = ${nowMs} from service_principal p
    where t.id = ${id} and p.id = t.principal_id and p.workspace_id = ${workspaceId} and t.revoked_at_ms is null
    returning t.token_sha256`;
  return row?.token_sha256 ?? null;
}
