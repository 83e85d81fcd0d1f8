/** The endpoints of `/v1/me/tokens`. */
import { Failure } from '../../protocol/errors.ts';
import type { TokenId, UserId } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Handlers } from '../edge/call.ts';
import type { Queries, ServiceDeps } from './deps.ts';
import { cutPage, decodeCursor, type PageKey } from './paging.ts';
import { requireUser } from './principals.ts';
import { insertToken, type TokenService } from './tokens.ts';

interface TokenRow {
  readonly id: TokenId;
  readonly name: string | null;
  readonly created_at_ms: number;
  readonly last_used_at_ms: number | null;
  readonly expires_at_ms: number | null;
}

export function tokenHandlers(
  deps: Pick<ServiceDeps, 'sql' | 'clock'> & { readonly tokens: TokenService },
): Handlers<'tokens.list' | 'tokens.create' | 'tokens.revoke'> {
  const { sql, clock, tokens } = deps;
  return {
    'tokens.list': async ({ principal, query }) => {
      const userId = requireUser(principal);
      const after = decodeCursor(query.cursor);
      await tokens.flush();
      const rows = await listTokens(sql, userId, after, query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countTokens(sql, userId) } : {};
      const current = principal.kind === 'user' ? principal.tokenId : null;
      return { reply: 'ok', body: { tokens: items.map((row) => present(row, current)), ...page, ...total } };
    },
    'tokens.create': async ({ principal, body }) => {
      const userId = requireUser(principal);
      const nowMs = clock.nowMs();
      const expiresAtMs = body.expires_at === undefined ? null : Date.parse(body.expires_at);
      if (expiresAtMs !== null && expiresAtMs <= nowMs) {
        throw new Failure('INVALID_REQUEST', { param: 'expires_at', message: 'expires_at: must be in the future.' });
      }
      const made = await sql.begin(async (tx) => {
        await lockAccount(tx, userId);
        if ((await countUsableTokens(tx, userId, nowMs)) >= LIMITS.tokensPerUserMax) {
          throw new Failure('INVALID_REQUEST', {
            message: `An account may have ${LIMITS.tokensPerUserMax} tokens.`,
            hint: 'Revoke one that you do not use any more.',
          });
        }
        return insertToken(tx, { userId, name: body.name ?? null, expiresAtMs, nowMs });
      });
      return { reply: 'created', body: { ok: true, id: made.id, token: made.token, shown_once: true } };
    },
    'tokens.revoke': async ({ principal, params }) => {
      await tokens.revoke(requireUser(principal), params.id);
      return { reply: 'ok', body: { success: true } };
    },
  };
}

function present(row: TokenRow, current: TokenId | null) {
  return {
    id: row.id,
    name: row.name,
    created_at: row.created_at_ms,
    last_used_at: row.last_used_at_ms,
    expires_at: row.expires_at_ms === null ? null : new Date(row.expires_at_ms).toISOString(),
    current: row.id === current,
  };
}

function listTokens(sql: Queries, userId: UserId, after: PageKey, rowsMax: number) {
  return sql<TokenRow[]>`
    select id, name, created_at_ms, last_used_at_ms, expires_at_ms from access_token
    where user_id = ${userId} and revoked_at_ms is null
      and (created_at_ms < ${after.number} or (created_at_ms = ${after.number} and id > ${after.id}))
    order by created_at_ms desc, id limit ${rowsMax}`;
}

async function countTokens(sql: Queries, userId: UserId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from access_token where user_id = ${userId} and revoked_at_ms is null`;
  return row?.total ?? 0;
}

async function countUsableTokens(sql: Queries, userId: UserId, nowMs: number): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from access_token
    where user_id = ${userId} and revoked_at_ms is null and (expires_at_ms is null or expires_at_ms > ${nowMs})`;
  return row?.total ?? 0;
}

/** Makes callers of one account wait for each other, so that the count they read stays true. */
async function lockAccount(tx: Queries, userId: UserId): Promise<void> {
  await tx`select 1 from account where id = ${userId} for update`;
}
