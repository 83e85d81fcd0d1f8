/** Sessions of browsers as credentials: how the service of tokens reads them. */
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { SESSION_SECRET } from '../../../edge/session-cookies.ts';
import { standingOf } from '../persons/rows.ts';
import type { CredentialKind } from '../tokens/kinds.ts';
import { readSession, writeSessionUses } from './rows.ts';

export const SESSION: CredentialKind = {
  name: 'session',
  form: SESSION_SECRET,
  read: async (sql, sha256) => {
    const row = await readSession(sql, sha256);
    if (row === null) return null;
    const { id, account_id: userId, ends_at_ms: expiresAtMs } = row;
    return {
      principal: { kind: 'user', userId, tokenId: id, tokenKind: 'session', ...standingOf(row), expiresAtMs },
      expiresAtMs,
      idleMs: LIMITS.sessionIdleMs,
      revoked: row.revoked_at_ms !== null,
      suspended: row.is_suspended,
      lastUsedAtMs: row.last_used_at_ms,
    };
  },
  writeUses: writeSessionUses,
};
