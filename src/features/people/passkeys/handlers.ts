/** The endpoints of passkeys. The relying party is the host of the API and never a parent of it, which pages of strangers share. */
import type { AuthenticationResponseJSON, AuthenticatorTransport, RegistrationResponseJSON } from '@simplewebauthn/server';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Handlers } from '../../../edge/call.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { violates } from '../../../storage/pg-errors.ts';
import type { ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../accounts/rules.ts';
import { deviceOf } from '../sessions/device.ts';
import type { SessionService } from '../sessions/sessions.ts';
import type { People } from '../sign-in/people.ts';
import { readEmailSignInOf } from '../sign-in/rows.ts';
import { requireSession } from '../sign-in/rules.ts';
import {
  deletePasskey,
  findPasskey,
  insertChallenge,
  insertPasskey,
  listPasskeys,
  type PasskeyRow,
  takeChallenge,
  usePasskey,
} from './rows.ts';

export interface PasskeyDeps extends Pick<ServiceDeps, 'sql' | 'config' | 'log'> {
  readonly people: People;
  readonly sessions: SessionService;
}

type OwnIds = 'passkeys.list' | 'passkeys.registerStart' | 'passkeys.registerFinish' | 'passkeys.remove';
type SignInIds = 'passkeys.signInStart' | 'passkeys.signInFinish';

/** Loaded when it is first needed, because few calls do. */
const library = () => import('@simplewebauthn/server');

function partyOf({ baseUrl }: PasskeyDeps['config']) {
  const { hostname, origin } = new URL(baseUrl);
  return { rpID: hostname, origin };
}

export function ownPasskeyHandlers({ sql, config, log }: PasskeyDeps): Handlers<OwnIds> {
  return {
    'passkeys.list': async ({ principal }) => {
      const rows = await listPasskeys(sql, accountsOf(principal));
      return { reply: 'ok', body: { passkeys: rows.map(present) } };
    },
    'passkeys.registerStart': async ({ principal, user, nowMs }) => {
      requireSession(principal);
      const { email, account_id } = await requireEmail(sql, accountsOf(principal), user);
      const known = await listPasskeys(sql, [account_id]);
      requireRoom(known.length);
      const { generateRegistrationOptions } = await library();
      const options = await generateRegistrationOptions({
        ...{ rpName: 'Easel', rpID: partyOf(config).rpID, userID: Buffer.from(account_id), userName: email },
        attestationType: 'none',
        excludeCredentials: known.map(({ credential_id }) => ({ id: credential_id })),
        // It is the only factor, so the device must know its owner, and it must find the key without a name.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      await insertChallenge(sql, options.challenge, account_id, nowMs + LIMITS.passkeyChallengeTtlMs);
      return { reply: 'ok', body: { options: { ...options } } };
    },
    'passkeys.registerFinish': async ({ principal, user, body, userAgent, nowMs }) => {
      requireSession(principal);
      const { account_id } = await requireEmail(sql, accountsOf(principal), user);
      const { rpID, origin } = partyOf(config);
      const { verifyRegistrationResponse } = await library();
      const checked = await verifyRegistrationResponse({
        response: body.credential as unknown as RegistrationResponseJSON,
        expectedChallenge: (challenge) => takeChallenge(sql, challenge, account_id, nowMs),
        ...{ expectedOrigin: origin, expectedRPID: rpID, requireUserVerification: true },
      }).catch((error: unknown) => {
        throw new Failure('INVALID_REQUEST', { param: 'credential', message: `credential: ${textOf(error)}` });
      });
      if (!checked.verified) throw new Failure('INVALID_REQUEST', { param: 'credential', message: 'credential: is not valid.' });
      requireRoom((await listPasskeys(sql, [account_id])).length);
      const { id, publicKey, counter, transports = [] } = checked.registrationInfo.credential;
      const row = {
        ...{ id: newId('passkey'), account_id, credential_id: id, public_key: Buffer.from(publicKey), counter },
        ...{ transports: transports.slice(0, 10), name: body.name ?? deviceOf(userAgent), created_at_ms: nowMs },
      };
      await insertPasskey(sql, row).catch((error) => {
        if (violates(error, 'passkey_credential_id_key'))
          throw new Failure('INVALID_REQUEST', { param: 'credential', message: 'credential: is known already.' });
        throw error;
      });
      log.info({ userId: account_id, passkey: row.id }, 'a passkey was added');
      return { reply: 'created', body: { passkey: present({ ...row, last_used_at_ms: null }) } };
    },
    'passkeys.remove': async ({ principal, params }) => {
      requireSession(principal);
      if (!(await deletePasskey(sql, accountsOf(principal), params.id))) throw new Failure('PASSKEY_NOT_FOUND');
      log.info({ passkey: params.id }, 'a passkey was removed');
      return { reply: 'ok', body: { success: true } };
    },
  };
}

export function passkeySignInHandlers(deps: PasskeyDeps): Handlers<SignInIds> {
  const { sql, config, people, sessions } = deps;
  return {
    'passkeys.signInStart': async ({ nowMs }) => {
      const { generateAuthenticationOptions } = await library();
      // It names no keys, so it does not tell whether an address has an account.
      const options = await generateAuthenticationOptions({ rpID: partyOf(config).rpID, userVerification: 'required' });
      await insertChallenge(sql, options.challenge, null, nowMs + LIMITS.passkeyChallengeTtlMs);
      return { reply: 'ok', body: { options: { ...options } } };
    },
    'passkeys.signInFinish': async ({ body, address, userAgent, cookies, nowMs }) => {
      const response = body.credential as unknown as AuthenticationResponseJSON;
      const known = await findPasskey(sql, response.id);
      const counter = known === null ? null : await counterOf(deps, response, known, nowMs);
      if (known === null || counter === null) throw refused();
      const session = await sql.begin(async (tx) => {
        if (!(await usePasskey(tx, known.id, known.counter, counter, nowMs))) throw refused();
        return sessions.begin(tx, known.account_id, 'access', { address, userAgent, cookies });
      });
      const entered = { userId: known.account_id, isNew: false, changed: [], claimed: [], session };
      people.tell(entered, 'passkey');
      return people.reply(entered);
    },
  };
}

/** The key's new counter; null where the answer is not valid. */
async function counterOf({ sql, config, log }: PasskeyDeps, response: AuthenticationResponseJSON, known: PasskeyRow, nowMs: number) {
  const { rpID, origin } = partyOf(config);
  const { verifyAuthenticationResponse } = await library();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: (challenge) => takeChallenge(sql, challenge, null, nowMs),
      ...{ expectedOrigin: origin, expectedRPID: rpID, requireUserVerification: true },
      credential: {
        ...{ id: known.credential_id, publicKey: new Uint8Array(known.public_key), counter: known.counter },
        transports: known.transports as AuthenticatorTransport[],
      },
    });
    return verified ? authenticationInfo.newCounter : null;
  } catch (err) {
    log.info({ err, passkey: known.id }, 'the answer of a passkey was refused');
    return null;
  }
}

async function requireEmail(
  sql: ServiceDeps['sql'],
  accounts: Parameters<typeof readEmailSignInOf>[1],
  preferred: Parameters<typeof readEmailSignInOf>[2],
) {
  const found = await readEmailSignInOf(sql, accounts, preferred);
  if (found !== null) return found;
  throw new Failure('INVALID_REQUEST', {
    message: 'A passkey belongs to an e-mail address, and this account has proved none.',
    hint: 'Prove one with POST /v1/auth/link-email/start.',
  });
}

function requireRoom(passkeys: number): void {
  if (passkeys < LIMITS.passkeysPerAccountMax) return;
  throw new Failure('INVALID_REQUEST', {
    message: `An account may have ${LIMITS.passkeysPerAccountMax} passkeys.`,
    hint: 'Remove one first.',
  });
}

function refused(): Failure {
  return new Failure('INVALID_CREDENTIALS', { message: 'This passkey does not sign in here.', hint: 'Sign in with your e-mail address.' });
}

function present({ id, name, created_at_ms, last_used_at_ms }: Pick<PasskeyRow, 'id' | 'name' | 'created_at_ms' | 'last_used_at_ms'>) {
  return { id, name, created_at: dateTime(created_at_ms), last_used_at: last_used_at_ms === null ? null : dateTime(last_used_at_ms) };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
