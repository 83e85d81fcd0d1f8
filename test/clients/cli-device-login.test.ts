/** `easel login` by a device code, against a server that answers as the test says. The pauses are short. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

const TOKEN = `so_${'4f9d21c07be8a635'.repeat(4)}`;
const STARTED = {
  device_code: 'secret-of-the-program',
  user_code: 'BDFH-KMPR',
  verification_uri: 'http://127.0.0.1/device',
  verification_uri_complete: 'http://127.0.0.1/device?user_code=BDFH-KMPR',
  interval: 0,
  expires_in: 600,
};
const me = {
  user: {
    id: `usr_${'a'.repeat(24)}`,
    username: null,
    name: 'Ada',
    email: 'ada@example.com',
    metadata: {},
    created_at: '2026-01-01T00:00:00Z',
  },
  token: { kind: 'personal', scopes: [] },
  tier: 'free',
  is_admin: false,
  is_staff: false,
  workspaces: [],
};
const refusal = (code: string, error: string) => [400, { success: false, error, code, request_id: 'req-1' }] as const;

let server: Server | undefined;
let easel: CommandLine | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
  await easel?.close();
});

interface Seen {
  readonly path: string;
  readonly body: unknown;
}

/** `polls`: the answers of the token endpoint, in order; the last one stays. */
async function serve(polls: readonly (readonly [number, unknown])[]): Promise<{ readonly url: string; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  let polled = 0;
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const path = request.url ?? '';
      seen.push({ path, body: text === '' ? undefined : JSON.parse(text) });
      const [status, body] = path.endsWith('/start')
        ? [201, STARTED]
        : path.endsWith('/token')
          ? (polls[Math.min(polled++, polls.length - 1)] ?? [500, {}])
          : [200, me];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  easel = await commandLine();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const pending = [200, { status: 'pending', interval: 0 }] as const;
const approved = [200, { status: 'approved', token: TOKEN, user_id: me.user.id }] as const;

it('prints the address and the code, polls until it is approved, and saves the token', async () => {
  const { url, seen } = await serve([pending, pending, approved]);
  const run = await easel?.run(['login', '--no-browser', '--email', 'ada@example.com', '--url', url]);
  expect(run).toMatchObject({ code: 0, out: expect.stringContaining('Signed in: Ada') });
  expect(run?.err).toContain(
    `Open this page in a browser, on any machine:\n  ${STARTED.verification_uri_complete}\nand approve the code BDFH-KMPR. It is valid for 10 minutes.`,
  );
  expect(`${run?.out}${run?.err}`).not.toContain(STARTED.device_code);
  const [started, ...polls] = seen.filter(({ path }) => path.includes('/device/'));
  expect(started?.body).toEqual({
    client_name: expect.stringMatching(/^easel \d/),
    host_name: expect.any(String),
    expected_email: 'ada@example.com',
  });
  expect(polls.map(({ body }) => body)).toEqual(Array(3).fill({ device_code: STARTED.device_code }));
  expect(await easel?.json(['whoami', '--show-token'])).toMatchObject({ secret: TOKEN });
});

it('with --json the code is a document on standard error, and the result one on standard output', async () => {
  const { url } = await serve([approved]);
  const run = await easel?.run(['login', '--json', '--url', url]);
  expect(run?.code).toBe(0);
  expect(JSON.parse(run?.out ?? '')).toMatchObject({ user: { id: me.user.id }, created: false });
  const { device_code: _secret, interval: _pause, ...shown } = STARTED;
  expect(JSON.parse(run?.err ?? '')).toEqual(shown);
});

it('passes the warning on', async () => {
  const warn = 'Signed in as eve@example.com; ada@example.com was expected.';
  const { url } = await serve([[200, { ...approved[1], warn }]]);
  expect((await easel?.run(['login', '--no-browser', '--url', url]))?.err).toContain(`Note: ${warn}`);
});

it.each([
  ['DEVICE_LOGIN_DENIED', 'access_denied', 'The login was denied in the browser.'],
  ['DEVICE_CODE_EXPIRED', 'expired_token', 'Nobody approved the code in time.'],
  ['DEVICE_CODE_UNKNOWN', 'invalid_grant', 'Nobody approved the code in time.'],
])('ends with 3 after %s', async (code, error, words) => {
  const { url } = await serve([pending, refusal(code, error)]);
  const run = await easel?.run(['login', '--no-browser', '--url', url]);
  expect(run).toMatchObject({ code: 3, out: '', err: expect.stringContaining(words) });
});

it('asks five seconds later where the server says so', async () => {
  const { url, seen } = await serve([refusal('SLOW_DOWN', 'slow_down'), approved]);
  expect((await easel?.run(['login', '--no-browser', '--url', url]))?.code).toBe(0);
  expect(seen.filter(({ path }) => path.endsWith('/token'))).toHaveLength(2);
}, 60_000);

it('Ctrl-C ends the wait', async () => {
  const { url } = await serve([[200, { status: 'pending', interval: 3600 }]]);
  let stop: (() => void) | undefined;
  const run = await easel?.run(['login', '--no-browser', '--url', url], {
    onError: (text) => {
      if (!text.includes('BDFH-KMPR')) return;
      stop?.();
      // A second one would end the process without a word.
      stop = undefined;
    },
    onStart: (interrupt) => {
      stop = interrupt;
    },
  });
  expect(run).toMatchObject({ code: 130 });
});
