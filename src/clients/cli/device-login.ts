/** Signs in with the browser: shows a short code, and asks the server until a person has approved it. Source: spec.md, "Device login". */
import { hostname } from 'node:os';
import packageJson from '../../../package.json' with { type: 'json' };
import { ApiError, NetworkError } from '../sdk/client.ts';
import { waitFor } from '../sdk/wait.ts';
import { openBrowser } from './browser.ts';
import { CliFailure } from './failures.ts';
import type { Session } from './session.ts';

/** RFC 8628, 3.5: how much longer the pause gets where the server asks for it, or cannot be reached. */
const SLOWER_S = 5;
const PAUSE_MIN_S = 1;

export interface DeviceLoginOptions {
  /** Who is expected to approve. */
  readonly email?: string | undefined;
  readonly opensBrowser: boolean;
}

export interface DeviceLogin {
  readonly token: string;
  readonly warn: string | undefined;
}

export async function deviceLogin(session: Session, { email, opensBrowser }: DeviceLoginOptions): Promise<DeviceLogin> {
  const { shell } = session;
  const api = session.apiFor(undefined);
  const body = { client_name: `easel ${packageJson.version}`, host_name: hostname().slice(0, 80) || undefined, expected_email: email };
  const started = (await api.deviceLogin.start({ body, signal: shell.signal })).body;
  const isOpened = opensBrowser && (await openBrowser(started.verification_uri_complete, shell.env));
  tell(session, started, isOpened);
  return poll(session, started);
}

interface Started {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly interval: number;
  readonly expires_in: number;
}

/** With --json the code is one JSON document on standard error, because standard output holds the result alone. */
function tell(session: Session, started: Started, isOpened: boolean): void {
  const { user_code, verification_uri, verification_uri_complete, expires_in } = started;
  if (session.json) {
    session.shell.stderr.write(`${JSON.stringify({ user_code, verification_uri, verification_uri_complete, expires_in })}\n`);
    return;
  }
  const lines = [
    isOpened ? 'Your browser has opened this page:' : 'Open this page in a browser, on any machine:',
    `  ${verification_uri_complete}`,
    `and approve the code ${session.bold(user_code)}. It is valid for ${Math.floor(expires_in / 60)} minutes.`,
    'No browser and no address? Stop with Ctrl-C; "easel login --headless" makes an account without one.',
  ];
  session.remark(lines.join('\n'));
}

async function poll(session: Session, { device_code, interval, expires_in }: Started): Promise<DeviceLogin> {
  const api = session.apiFor(undefined);
  const { signal } = session.shell;
  let pauseS = Math.max(PAUSE_MIN_S, interval);
  // The server ends it by expired_token; this bounds the wait where the server cannot be reached any more.
  for (let leftS = expires_in; leftS > 0; leftS -= pauseS) {
    await waitFor(pauseS * 1000, signal);
    try {
      const { body } = await api.deviceLogin.token({ body: { device_code }, signal });
      if (body.status === 'approved') return { token: body.token, warn: body.warn };
      pauseS = Math.max(pauseS, body.interval);
    } catch (error) {
      if (!mayGoOn(error)) throw asFailure(error);
      pauseS += SLOWER_S;
    }
  }
  throw expired();
}

function mayGoOn(error: unknown): boolean {
  return (
    error instanceof NetworkError ||
    (error instanceof ApiError && (error.code === 'SLOW_DOWN' || error.status === 429 || error.status >= 500))
  );
}

function asFailure(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.code === 'DEVICE_CODE_EXPIRED' || error.code === 'DEVICE_CODE_UNKNOWN') return expired();
  if (error.code !== 'DEVICE_LOGIN_DENIED') return error;
  return new CliFailure('access', 'DEVICE_LOGIN_DENIED', 'The login was denied in the browser.', 'Run "easel login" to try again.');
}

function expired(): CliFailure {
  return new CliFailure('access', 'DEVICE_CODE_EXPIRED', 'Nobody approved the code in time.', 'Run "easel login" for a new one.');
}
