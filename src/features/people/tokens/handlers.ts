/** The endpoints of `/v1/me/tokens`. */
import type { TokenId } from '../../../../protocol/core/ids.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../accounts/rules.ts';
import { lockPerson } from '../persons/rows.ts';
import { countTokens, countUsableTokens, insertToken, listTokens, type TokenRow } from './rows.ts';
import { boundedBy, expiryOf, makerOf, requireRoomForToken } from './rules.ts';
import { newToken } from './secret.ts';
import type { TokenService } from './tokens.ts';

export function tokenHandlers(
  deps: Pick<ServiceDeps, 'sql' | 'clock'> & { readonly tokens: TokenService },
): Handlers<'tokens.list' | 'tokens.create' | 'tokens.revoke'> {
  const { sql, clock, tokens } = deps;
  return {
    'tokens.list': async ({ principal, query }) => {
      const after = decodeCursor(query.cursor);
      const accounts = accountsOf(principal);
      await tokens.flush();
      const rows = await listTokens(sql, accounts, after, query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countTokens(sql, accounts) } : {};
      const current = principal.kind === 'user' ? principal.tokenId : null;
      return { reply: 'ok', body: { tokens: items.map((row) => present(row, current)), ...page, ...total } };
    },
    'tokens.create': async ({ principal, user, body }) => {
      const nowMs = clock.nowMs();
      const expiresAtMs = boundedBy(makerOf(principal), expiryOf(body.expires_at, nowMs));
      const { id, token, sha256 } = newToken('personal');
      await sql.begin(async (tx) => {
        await lockPerson(tx, user);
        requireRoomForToken(await countUsableTokens(tx, accountsOf(principal), nowMs));
        await insertToken(tx, { id, userId: user, name: body.name ?? null, sha256, expiresAtMs, nowMs });
      });
      return {
        reply: 'created',
        body: { ok: true, id, token, shown_once: true, expires_at: expiresAtMs === null ? null : dateTime(expiresAtMs) },
      };
    },
    'tokens.revoke': async ({ principal, params }) => {
      await tokens.revoke(accountsOf(principal), params.id);
      return { reply: 'ok', body: { success: true } };
    },
  };
}

function present(row: TokenRow, current: TokenId | null) {
  return {
    id: row.id,
    user_id: row.user_id,
    name: row.name,
    created_at: dateTime(row.created_at_ms),
    last_used_at: row.last_used_at_ms === null ? null : dateTime(row.last_used_at_ms),
    expires_at: row.expires_at_ms === null ? null : dateTime(row.expires_at_ms),
    current: row.id === current,
  };
}
