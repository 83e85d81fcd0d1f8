/** Workspaces and agents, as they are stored. Make them before the first call by anybody in them: what somebody belongs to is cached. */
import { createHash, randomBytes } from 'node:crypto';
import type { Scope, WorkspaceRole } from '../../protocol/core/endpoint.ts';
import { type AgentId, newId, type UserId, type WorkspaceId } from '../../protocol/core/ids.ts';
import type { Tier } from '../../protocol/people/accounts.ts';
import type { TestEasel, TestUser } from './easel.ts';

export async function newWorkspace(
  easel: Pick<TestEasel, 'sql' | 'clock'>,
  members: Readonly<Record<UserId, WorkspaceRole>>,
  { slug, tier = 'free' }: { readonly slug?: string; readonly tier?: Tier } = {},
): Promise<WorkspaceId> {
  const id = newId('workspace');
  const nowMs = easel.clock.nowMs();
  await easel.sql`
    insert into workspace (id, slug, name, plan_tier, created_at_ms, updated_at_ms)
    values (${id}, ${slug ?? id.replace('_', '-')}, 'Ours', ${tier}, ${nowMs}, ${nowMs})`;
  for (const [userId, role] of Object.entries(members)) {
    await easel.sql`
      insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${id}, ${userId}, ${role}, ${nowMs})`;
  }
  return id;
}

export interface TestAgent {
  readonly token: string;
  readonly agentId: AgentId;
}

export async function newAgent(
  easel: Pick<TestEasel, 'sql' | 'clock'>,
  workspaceId: WorkspaceId,
  scopes: readonly Scope[],
): Promise<TestAgent> {
  const agentId = newId('agent');
  const token = `sot_${randomBytes(32).toString('hex')}`;
  const nowMs = easel.clock.nowMs();
  await easel.sql`insert into service_principal (id, workspace_id, name, created_at_ms) values (${agentId}, ${workspaceId}, 'Builder', ${nowMs})`;
  await easel.sql`
    insert into agent_token (id, principal_id, scopes, token_sha256, created_at_ms)
    values (${newId('token')}, ${agentId}, ${[...scopes]}, ${createHash('sha256').update(token).digest()}, ${nowMs})`;
  return { token, agentId };
}

/** On the plan `team`. */
export function workspaceOf(easel: TestEasel, members: readonly (readonly [TestUser, WorkspaceRole])[]): Promise<WorkspaceId> {
  return newWorkspace(easel, Object.fromEntries(members.map(([{ userId }, role]) => [userId, role])), { tier: 'team' });
}

/** The token of a new agent, with any scopes, none included. */
export async function agentOf(easel: TestEasel, workspaceId: string, scopes: readonly Scope[]): Promise<string> {
  return (await newAgent(easel, workspaceId as WorkspaceId, scopes)).token;
}

/** Puts an artifact into a workspace; the workspace owns it where `isOwned`. A change over HTTP drops what caches hold of it. */
export async function moveInto(
  easel: TestEasel,
  owner: TestUser,
  artifactId: string,
  workspaceId: string,
  { visibility = 'workspace', isOwned = false }: { visibility?: string; isOwned?: boolean } = {},
): Promise<void> {
  await easel.sql`
    update artifact set workspace_id = ${workspaceId}, visibility = ${visibility}, owner_id = ${isOwned ? null : owner.userId}
    where id = ${artifactId}`;
  const reply = await easel.fetch(`/v1/data/${artifactId}/comments/_config`, {
    method: 'PUT',
    token: owner.token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ enabled: true }),
  });
  if (reply.status !== 200) throw new Error(`${reply.status}: ${await reply.text()}`);
}
