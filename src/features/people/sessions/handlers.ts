/** The endpoints of `/v1/auth/sessions`. */
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../accounts/rules.ts';
import type { TokenService } from '../tokens/tokens.ts';
import { countSessions, listSessions } from './rows.ts';
import type { SessionService } from './sessions.ts';

type SessionIds = 'sessions.list' | 'sessions.revoke' | 'sessions.revokeOthers';

export function sessionHandlers(
  deps: Pick<ServiceDeps, 'sql' | 'clock'> & { readonly sessions: SessionService; readonly tokens: Pick<TokenService, 'flush'> },
): Handlers<SessionIds> {
  const { sql, clock, sessions, tokens } = deps;
  return {
    'sessions.list': async ({ principal, query }) => {
      const accounts = accountsOf(principal);
      const nowMs = clock.nowMs();
      const idleMs = LIMITS.sessionIdleMs;
      await tokens.flush();
      const rows = await listSessions(sql, accounts, nowMs, idleMs, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countSessions(sql, accounts, nowMs, idleMs) } : {};
      const current = credentialOf(principal);
      const present = items.map(({ id, device, address, created_at_ms, last_used_at_ms }) => ({
        ...{ id, device, address, current: id === current },
        ...{ created_at: dateTime(created_at_ms), last_used_at: dateTime(last_used_at_ms) },
      }));
      return { reply: 'ok', body: { sessions: present, ...page, ...total } };
    },
    'sessions.revoke': async ({ principal, params }) => {
      if (!(await sessions.revoke(accountsOf(principal), params.id))) throw new Failure('SESSION_NOT_FOUND');
      return { reply: 'ok', body: { success: true } };
    },
    'sessions.revokeOthers': async ({ principal }) => {
      await sessions.revokeAll(accountsOf(principal), credentialOf(principal));
      return { reply: 'ok', body: { success: true } };
    },
  };
}

function credentialOf(principal: Principal): string | null {
  return principal.kind === 'anonymous' ? null : principal.tokenId;
}
