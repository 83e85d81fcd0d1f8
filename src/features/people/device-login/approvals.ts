/** What the pages do with a device login: look at it, approve it, deny it. */
import type { UserId } from '../../../../protocol/core/ids.ts';
import type { ServiceDeps } from '../../deps.ts';
import { lockAccount } from '../accounts/rows.ts';
import { readLinked } from '../persons/rows.ts';
import { countUsableTokens, insertToken } from '../tokens/rows.ts';
import { requireRoomForToken } from '../tokens/rules.ts';
import { newToken } from '../tokens/secret.ts';
import { type DeviceLoginRow, lockByDevice, markApproved, markDenied, readPending } from './rows.ts';
import { normalCode, shownCode, warningFor } from './rules.ts';
import { seal } from './sealing.ts';

/** A login that waits, as the person sees it. Names are the program's own words. */
export interface WaitingLogin {
  readonly code: string;
  readonly client: string | null;
  readonly host: string | null;
  readonly address: string;
  readonly expectedEmail: string | null;
}

export interface Approver {
  readonly userId: UserId;
  readonly emails: readonly string[];
}

export interface Approved {
  /** For the person to copy; the program gets the same one. */
  readonly token: string;
  readonly warn: string | null;
}

export class DeviceApprovals {
  readonly #deps: Pick<ServiceDeps, 'sql' | 'clock'>;

  constructor(deps: Pick<ServiceDeps, 'sql' | 'clock'>) {
    this.#deps = deps;
  }

  /** Reads only. Undefined for a code that is wrong, has expired, or was decided. */
  async find(typed: string): Promise<WaitingLogin | undefined> {
    const { sql, clock } = this.#deps;
    const code = normalCode(typed);
    const row = code === undefined ? undefined : await readPending(sql, code, clock.nowMs());
    return row && present(row);
  }

  /**
   * Makes the token and leaves it, sealed, for the program. `emails`: proved addresses of the person. Undefined where the login waits no more.
   * Throws INVALID_REQUEST where the account has as many tokens as it may.
   */
  async approve(typed: string, { userId, emails }: Approver): Promise<Approved | undefined> {
    const { sql, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const code = normalCode(typed);
    if (code === undefined) return undefined;
    return sql.begin(async (tx) => {
      const found = await readPending(tx, code, nowMs);
      const row = found && (await lockByDevice(tx, found.device_sha256));
      // Another approval may have been quicker.
      if (row === undefined || row.status !== 'pending') return undefined;
      await lockAccount(tx, userId);
      requireRoomForToken(await countUsableTokens(tx, await readLinked(tx, [userId]), nowMs));
      const { id, token, sha256 } = newToken('personal');
      await insertToken(tx, { id, userId, name: tokenName(row), sha256, expiresAtMs: null, nowMs });
      const warn = warningFor(row.expected_email, emails);
      await markApproved(tx, row.device_sha256, { userId, tokenId: id, sealedToken: seal(row.public_key, token), warn });
      return { token, warn };
    });
  }

  /** False where the login waits no more. */
  async deny(typed: string): Promise<boolean> {
    const code = normalCode(typed);
    return code !== undefined && (await markDenied(this.#deps.sql, code, this.#deps.clock.nowMs()));
  }
}

function tokenName({ client_name, host_name }: DeviceLoginRow): string {
  return [...`Device login: ${client_name ?? 'a program'}${host_name === null ? '' : ` on ${host_name}`}`].slice(0, 100).join('');
}

function present(row: DeviceLoginRow): WaitingLogin {
  const { user_code, client_name, host_name, address, expected_email } = row;
  return { code: shownCode(user_code), client: client_name, host: host_name, address, expectedEmail: expected_email };
}
