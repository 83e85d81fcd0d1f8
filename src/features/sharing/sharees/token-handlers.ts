/** The endpoints of the tokens of people outside. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { expiryOf } from '../../people/tokens/rules.ts';
import { newToken } from '../../people/tokens/secret.ts';
import type { TokenService } from '../../people/tokens/tokens.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { accountForTokens, lockSharing, lockToShare } from './externals.ts';
import type { ShareeDeps } from './handlers.ts';
import { requireShareeMember } from './rows.ts';
import {
  countExternalTokens,
  type ExternalTokenRow,
  insertExternalToken,
  listExternalTokens,
  revokeExternalTokens,
  tellRevoked,
} from './tokens.ts';

export type ExternalTokenDeps = ShareeDeps & { readonly tokens: Pick<TokenService, 'flush'> };
type Ids = 'externalTokens.list' | 'externalTokens.create' | 'externalTokens.revoke';

export function externalTokenHandlers({ sql, bus, clock, tokens }: ExternalTokenDeps): Handlers<Ids> {
  return {
    'externalTokens.list': async ({ workspace, params, query }) => {
      const after = decodeCursor(query.cursor);
      const { id } = await requireShareeMember(sql, workspace.id, params.shareeId, params.memberId);
      await tokens.flush();
      const rows = await listExternalTokens(sql, params.shareeId, id, after, query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countExternalTokens(sql, params.shareeId, id) } : {};
      return { reply: 'ok', body: { tokens: items.map(present), ...page, ...total } };
    },
    'externalTokens.create': async (call) => {
      const { workspace, params, user, body } = call;
      const nowMs = clock.nowMs();
      const { id, token, sha256 } = newToken('external');
      const row = {
        id,
        name: body.name ?? null,
        created_at_ms: nowMs,
        last_used_at_ms: null,
        expires_at_ms: expiryOf(body.expires_at, nowMs),
      };
      await sql.begin(async (tx) => {
        await lockToShare(tx, call, workspace.id);
        if (call.refusal !== undefined) throw call.refusal;
        const member = await requireShareeMember(tx, workspace.id, params.shareeId, params.memberId);
        if ((await countExternalTokens(tx, params.shareeId, member.id)) >= LIMITS.externalTokensMax) {
          throw new Failure('AGENT_TOKEN_LIMIT_EXCEEDED', {
            message: `Somebody outside may have ${LIMITS.externalTokensMax} tokens of a client organisation.`,
          });
        }
        await accountForTokens(tx, member, nowMs);
        await insertExternalToken(tx, { ...row, externalId: member.id, shareeId: params.shareeId, sha256, createdBy: user });
        const target = { type: 'external', id: member.id, name: member.email };
        await audit(tx, call, { workspaceId: workspace.id, action: 'external_token.create', target, detail: { token_id: id } });
      });
      return { reply: 'created', body: { ...present(row), token, shown_once: true } };
    },
    'externalTokens.revoke': async (call) => {
      const { workspace, params, nowMs } = call;
      const ended = await sql.begin(async (tx) => {
        await lockSharing(tx, call, workspace.id);
        const member = await requireShareeMember(tx, workspace.id, params.shareeId, params.memberId);
        const of = { shareeId: params.shareeId, externalId: member.id, id: params.tokenId };
        const revoked = await revokeExternalTokens(tx, of, nowMs);
        if (revoked.length === 0) throw new Failure('TOKEN_NOT_FOUND', { message: 'They have no such token.' });
        const target = { type: 'external', id: member.id, name: member.email };
        await audit(tx, call, { workspaceId: workspace.id, action: 'external_token.revoke', target, detail: { token_id: params.tokenId } });
        return revoked;
      });
      tellRevoked(bus, ended);
      return { reply: 'ok', body: { success: true } };
    },
  };
}

function present(row: ExternalTokenRow) {
  return {
    id: row.id,
    name: row.name,
    created_at: dateTime(row.created_at_ms),
    last_used_at: row.last_used_at_ms === null ? null : dateTime(row.last_used_at_ms),
    expires_at: row.expires_at_ms === null ? null : dateTime(row.expires_at_ms),
  };
}
