/** The endpoints of `/v1/workspaces/{workspaceId}/agent-tokens`. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { ServiceDeps } from '../../deps.ts';
import { credentialName } from '../../people/tokens/kinds.ts';
import { expiryOf } from '../../people/tokens/rules.ts';
import { newToken } from '../../people/tokens/secret.ts';
import type { TokenService } from '../../people/tokens/tokens.ts';
import { audit } from '../audit/audit.ts';
import {
  type AgentTokenRow,
  countAgentTokens,
  countUsableAgentTokens,
  insertAgentToken,
  listAgentTokens,
  lockAgents,
  readAgentTokenRow,
  revokeAgentToken,
} from './rows.ts';
import { requireRoomForAgentToken } from './rules.ts';

export type AgentTokenDeps = Pick<ServiceDeps, 'sql' | 'clock' | 'bus'> & { readonly tokens: Pick<TokenService, 'flush'> };

export function agentTokenHandlers(deps: AgentTokenDeps): Handlers<'agentTokens.list' | 'agentTokens.create' | 'agentTokens.revoke'> {
  const { sql, clock, bus, tokens } = deps;
  return {
    'agentTokens.list': async ({ workspace, query }) => {
      const after = decodeCursor(query.cursor);
      await tokens.flush();
      const rows = await listAgentTokens(sql, workspace.id, after, query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countAgentTokens(sql, workspace.id) } : {};
      return { reply: 'ok', body: { agent_tokens: items.map(present), ...page, ...total } };
    },
    'agentTokens.create': async (call) => {
      const { workspace, user, body } = call;
      const nowMs = clock.nowMs();
      const expiresAtMs = expiryOf(body.expires_at, nowMs);
      const { id, token, sha256 } = newToken('agent');
      const agentId = newId('agent');
      const { name, scopes } = body;
      const row = await sql.begin(async (tx) => {
        await lockAgents(tx, workspace.id);
        if (call.refusal !== undefined) throw call.refusal;
        requireRoomForAgentToken(await countUsableAgentTokens(tx, workspace.id, nowMs));
        await insertAgentToken(tx, { id, agentId, workspaceId: workspace.id, name, scopes, sha256, createdBy: user, expiresAtMs, nowMs });
        const detail = { token_id: id, scopes, expires_at: expiresAtMs === null ? null : dateTime(expiresAtMs) };
        await audit(tx, call, {
          workspaceId: workspace.id,
          action: 'agent_token.create',
          target: { type: 'agent', id: agentId, name },
          detail,
        });
        return readAgentTokenRow(tx, workspace.id, id);
      });
      if (row === null) throw new Error('a token that was just made is not there');
      return { reply: 'created', body: { ...present(row), token, shown_once: true } };
    },
    'agentTokens.revoke': async (call) => {
      const { workspace, params } = call;
      const sha256 = await sql.begin(async (tx) => {
        const before = await readAgentTokenRow(tx, workspace.id, params.tokenId);
        const digest = before === null ? null : await revokeAgentToken(tx, workspace.id, params.tokenId, clock.nowMs());
        if (before === null || digest === null) {
          throw new Failure('TOKEN_NOT_FOUND', {
            message: 'The workspace has no such token.',
            hint: 'GET /v1/workspaces/{workspaceId}/agent-tokens lists its tokens.',
          });
        }
        if (call.refusal !== undefined) throw call.refusal;
        await audit(tx, call, {
          workspaceId: workspace.id,
          action: 'agent_token.revoke',
          target: { type: 'agent', id: before.agent_id, name: before.name },
          detail: { token_id: before.id },
        });
        return digest;
      });
      bus.tell({ kind: 'token.revoked', tokenId: params.tokenId, credential: credentialName('agent', sha256) });
      return { reply: 'ok', body: { success: true } };
    },
  };
}

function present(row: AgentTokenRow) {
  return {
    id: row.id,
    agent_id: row.agent_id,
    name: row.name,
    scopes: row.scopes,
    created_at: dateTime(row.created_at_ms),
    created_by: row.created_by === null ? null : { id: row.created_by, name: row.creator_name },
    last_used_at: row.last_used_at_ms === null ? null : dateTime(row.last_used_at_ms),
    expires_at: row.expires_at_ms === null ? null : dateTime(row.expires_at_ms),
  };
}
