/** How the command line takes a server that is busy, silent, or not the one it signed in to. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

let easel: CommandLine;
const servers: Server[] = [];
beforeEach(async () => {
  easel = await commandLine();
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await easel.close();
});

async function serverOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const me = {
  user: { id: `usr_${'a'.repeat(24)}`, username: null, name: null, email: null, metadata: {}, created_at: 0 },
  token: { kind: 'personal', scopes: [] },
  tier: 'free',
  workspaces: [],
};

describe('a busy server', () => {
  it('exits with 6 and says when to come back, in words and as JSON', async () => {
    const url = await serverOf((_request, response) => {
      const body = { success: false, error: 'Too many calls.', code: 'RATE_LIMITED', request_id: 'req-9', hint: 'Wait.' };
      response.writeHead(429, { 'retry-after': '1500' }).end(JSON.stringify(body));
    });
    const words = await easel.run(['ls', '--url', url]);
    expect(words).toEqual({
      code: 6,
      out: '',
      err: 'easel: Too many calls.\n  Fix: Try again in 25 minutes.\n  RATE_LIMITED, request req-9\n',
    });
    const document = await easel.run(['ls', '--url', url, '--json']);
    expect(JSON.parse(document.err)).toMatchObject({ code: 'RATE_LIMITED', retry_after_s: 1500, request_id: 'req-9', exit_code: 6 });
  });

  it('exits with 1 when the answer is not of Easel', async () => {
    const url = await serverOf((_request, response) => response.end('<html>hello</html>'));
    const { code, err } = await easel.run(['ls', '--url', url]);
    expect(code).toBe(1);
    expect(err).toContain("is not one of Easel's");
  });
});

describe('Ctrl-C', () => {
  it('ends a waiting command with 130', async () => {
    let interrupt = () => expect.fail('asked before it started');
    const url = await serverOf(() => interrupt());
    const { code, out, err } = await easel.run(['ls', '--url', url], {
      onStart: (press) => {
        interrupt = press as typeof interrupt;
      },
    });
    expect({ code, out, err }).toEqual({ code: 130, out: '', err: 'easel: Stopped.\n' });
  });
});

describe('the saved token', () => {
  it('goes to the server that it was given for, and to no other', async () => {
    const tokensSeen: (string | undefined)[] = [];
    const listener: RequestListener = (request, response) => {
      tokensSeen.push(request.headers.authorization);
      response.end(JSON.stringify(me));
    };
    const [home, other] = [await serverOf(listener), await serverOf(listener)];
    const runs = [
      await easel.run(['login', '--token', 'so_secret', '--url', home]),
      await easel.run(['whoami']),
      await easel.run(['whoami', '--url', other]),
      await easel.run(['whoami'], { env: { EASEL_URL: other } }),
      await easel.run(['whoami', '--url', other], { env: { EASEL_TOKEN: 'so_other' } }),
    ];
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(tokensSeen).toEqual(['Bearer so_secret', 'Bearer so_secret', undefined, undefined, 'Bearer so_other']);
  });

  it('is taken from standard input with "-", so that it stays out of the shell history', async () => {
    const url = await serverOf((_request, response) => response.end(JSON.stringify(me)));
    await easel.json(['login', '--token', '-', '--url', url], { input: 'so_piped\n' });
    expect(await easel.json(['whoami', '--show-token'])).toMatchObject({ server: url, secret: 'so_piped' });
  });

  it('is not deleted unasked while it is the only key to the account', async () => {
    const url = await serverOf((_request, response) => response.end(JSON.stringify(me)));
    await easel.json(['login', '--token', 'so_only', '--url', url]);
    const refused = await easel.run(['logout']);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('easel logout --yes');
    expect(await easel.json(['whoami', '--show-token'])).toMatchObject({ secret: 'so_only' });
    expect(await easel.json(['logout', '--yes'])).toMatchObject({ success: true });
    expect(await easel.json(['whoami', '--show-token'])).not.toHaveProperty('secret');
  });
});
