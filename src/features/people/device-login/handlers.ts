/** The endpoints of a program that signs in. Source: spec.md, "Device login"; contract.md §1. */
import { randomBytes } from 'node:crypto';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { networkOf } from '../../../edge/address.ts';
import type { Handlers } from '../../../edge/call.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { countWaiting, deleteLogin, insertLogin, isUsable, lockByDevice, lockStarts, type NewDeviceLogin, notePoll } from './rows.ts';
import { deviceDigest, ownWords, pollOutcome, shownCode, userCodeOf } from './rules.ts';
import { publicKeyOf, unseal } from './sealing.ts';

/** A short code is taken by another login about once in a million starts; so many in a row are a bug. */
const CODES_TRIED_MAX = 10;
const RANDOM_BYTES = 32;

type DeviceIds = 'deviceLogin.start' | 'deviceLogin.token';

type Polled =
  | { readonly kind: 'unknown' | 'expired' | 'denied' }
  | { readonly kind: 'pending' | 'too_soon'; readonly intervalS: number }
  | { readonly kind: 'delivered'; readonly token: string; readonly userId: UserId; readonly warn: string | null };

export function deviceLoginHandlers({ sql, config }: Pick<ServiceDeps, 'sql' | 'config'>): Handlers<DeviceIds> {
  return {
    'deviceLogin.start': async ({ body, address, nowMs }) => {
      const deviceCode = randomBytes(RANDOM_BYTES).toString('base64url');
      const network = networkOf(address);
      const login = {
        device_sha256: deviceDigest(deviceCode),
        public_key: publicKeyOf(deviceCode),
        expected_email: body.expected_email ?? null,
        client_name: ownWords(body.client_name),
        host_name: ownWords(body.host_name),
        address,
        network,
        interval_s: LIMITS.devicePollIntervalS,
        created_at_ms: nowMs,
        expires_at_ms: nowMs + LIMITS.deviceCodeTtlMs,
      };
      const code = shownCode(await sql.begin((tx) => begin(tx, login)));
      const uri = `${config.baseUrl}/device`;
      return {
        reply: 'created',
        body: {
          device_code: deviceCode,
          user_code: code,
          verification_uri: uri,
          verification_uri_complete: `${uri}?user_code=${code}`,
          interval: LIMITS.devicePollIntervalS,
          expires_in: LIMITS.deviceCodeTtlMs / 1000,
        },
      };
    },
    'deviceLogin.token': async ({ body, nowMs }) => {
      const polled = await sql.begin((tx) => poll(tx, body.device_code, nowMs));
      // Thrown after the transaction: a rollback would forget the poll.
      switch (polled.kind) {
        case 'unknown':
          throw new Failure('DEVICE_CODE_UNKNOWN', { param: 'device_code' });
        case 'expired':
          throw new Failure('DEVICE_CODE_EXPIRED', { param: 'device_code' });
        case 'denied':
          throw new Failure('DEVICE_LOGIN_DENIED');
        case 'too_soon':
          throw new Failure('SLOW_DOWN', { hint: `Poll every ${polled.intervalS} seconds from now on.`, retryAfterS: polled.intervalS });
        case 'pending':
          return { reply: 'ok', body: { status: 'pending', interval: polled.intervalS } };
        case 'delivered': {
          const { token, userId, warn } = polled;
          return { reply: 'ok', body: { status: 'approved', token, user_id: userId, ...(warn !== null && { warn }) } };
        }
        default:
          return polled satisfies never;
      }
    },
  };
}

/** Answers the short code. Throws RATE_LIMITED, UNAVAILABLE. */
async function begin(tx: Queries, login: Omit<NewDeviceLogin, 'user_code'>): Promise<string> {
  await lockStarts(tx);
  const waiting = await countWaiting(tx, login.network, login.created_at_ms);
  if (waiting.own >= LIMITS.deviceLoginsPerNetworkMax) {
    throw new Failure('RATE_LIMITED', {
      message: `${LIMITS.deviceLoginsPerNetworkMax} logins of your network wait for approval already.`,
      retryAfterS: LIMITS.deviceCodeTtlMs / 1000,
    });
  }
  if (waiting.all >= LIMITS.deviceLoginsMax) throw new Failure('UNAVAILABLE', { message: 'Too many logins wait for approval.' });
  for (let tried = 0; tried < CODES_TRIED_MAX; tried += 1) {
    const user_code = userCodeOf(randomBytes(RANDOM_BYTES));
    if (user_code !== undefined && (await insertLogin(tx, { ...login, user_code }))) return user_code;
  }
  throw new Error(`no free code for a device login in ${CODES_TRIED_MAX} attempts`);
}

async function poll(tx: Queries, deviceCode: string, nowMs: number): Promise<Polled> {
  const digest = deviceDigest(deviceCode);
  const row = await lockByDevice(tx, digest);
  const outcome = pollOutcome(row, nowMs);
  switch (outcome.kind) {
    case 'unknown':
    case 'expired':
      return { kind: outcome.kind };
    case 'pending':
    case 'too_soon':
      await notePoll(tx, digest, outcome.intervalS, nowMs);
      return outcome;
    case 'denied':
      await deleteLogin(tx, digest);
      return { kind: 'denied' };
    case 'approved': {
      await deleteLogin(tx, digest);
      if (row?.user_id == null || row.token_id === null || row.sealed_token === null) throw new Error('an approved login without a token');
      if (!(await isUsable(tx, row.token_id, nowMs))) return { kind: 'denied' };
      return { kind: 'delivered', token: unseal(deviceCode, row.sealed_token), userId: row.user_id, warn: row.warn };
    }
    default:
      return outcome satisfies never;
  }
}
