/** The command line with a server that is busy, does not answer, or is not the one it signed in to. */
import { readFile, stat } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
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
  is_admin: false,
  is_staff: false,
  workspaces: [],
};

describe('a busy server', () => {
  it('exits with 6 and says when to try again, as text and as JSON', async () => {
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

  it('exits with 1 if the answer is not from Easel', async () => {
    const url = await serverOf((_request, response) => response.end('<html>hello</html>'));
    const { code, err } = await easel.run(['ls', '--url', url]);
    expect(code).toBe(1);
    expect(err).toContain('is not from Easel');
  });
});

describe('a server that is not Easel', () => {
  it.each([
    ['{}', 'application/json'],
    ['[]', 'application/json'],
    ['{"artifacts":1,"ok":true}', 'application/json'],
    ['null', 'application/json'],
    ['<html>', 'text/html'],
  ])('that answers %s ends every command with 1 and says so', async (body, type) => {
    const url = await serverOf((_request, response) => response.writeHead(200, { 'content-type': type }).end(body));
    for (const args of [['whoami'], ['ls'], ['login', '--token', 'so_x']]) {
      const { code, out, err } = await easel.run([...args, '--url', url]);
      expect({ code, out, err }).toEqual({ code: 1, out: '', err: expect.stringContaining('is not from Easel') });
      expect(err).toContain('Check that the address is that of an Easel server');
    }
  });

  it('exits with 7 if it does not speak HTTP', async () => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.write('SSH-2.0-OpenSSH_9\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { code, err } = await easel.run(['whoami', '--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`]);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    expect([code, err]).toEqual([7, expect.stringContaining('does not speak HTTP.')]);
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
  it('is sent only to the server that issued it', async () => {
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

  it('is read from standard input with "-", so that it stays out of the shell history', async () => {
    const url = await serverOf((_request, response) => response.end(JSON.stringify(me)));
    await easel.json(['login', '--token', '-', '--url', url], { input: 'so_piped\n' });
    expect(await easel.json(['whoami', '--show-token'])).toMatchObject({ server: url, secret: 'so_piped' });
  });

  it('of every account is saved, by server and name, and can be used, made current and deleted', async () => {
    const people: RequestListener = (request, response) => {
      const name = /so_([a-z]+)/.exec(request.headers.authorization ?? '')?.[1] ?? '';
      response.end(JSON.stringify({ ...me, user: { ...me.user, id: `usr_${name.padEnd(24, '0')}`, username: name, email: `${name}@x` } }));
    };
    const [home, other] = [await serverOf(people), await serverOf(people)];
    for (const [token, url] of [
      ['so_ada1', home],
      ['so_bob', home],
      ['so_ada2', other],
    ] as const) {
      await easel.json(['login', '--token', token, '--url', url]);
    }
    const listed = (await easel.json(['accounts'])).accounts;
    expect(listed.map((each: { name: string; server: string; present: boolean }) => [each.name, each.server, each.present])).toEqual([
      ['ada', home, false],
      ['bob', home, false],
      ['ada', other, true],
    ]);
    const folder = join(easel.home, '.config/easel');
    expect((await stat(join(folder, 'accounts.json'))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(join(folder, 'credentials.json'), 'utf8'))).toEqual({ token: 'so_ada2' });
    expect((await easel.run(['accounts'])).out).not.toContain('so_');
    // For one command, and then permanently.
    expect(await easel.json(['whoami', '--show-token', '--account', 'bob'])).toMatchObject({ server: home, secret: 'so_bob' });
    expect(await easel.json(['whoami', '--show-token'])).toMatchObject({ server: other, secret: 'so_ada2' });
    expect((await easel.run(['whoami', '--account', 'ada', '--url', home])).code).toBe(0);
    expect(await easel.json(['login', '--account', 'bob'])).toMatchObject({ server: home, created: false });
    expect(await easel.json(['whoami', '--show-token'])).toMatchObject({ server: home, secret: 'so_bob' });
    // The only account of another server is used there.
    expect(await easel.json(['whoami', '--show-token', '--url', other])).toMatchObject({ secret: 'so_ada2' });
    // Deleting one leaves the others.
    expect((await easel.json(['logout'])).kept).toHaveLength(2);
    expect(await easel.json(['whoami', '--show-token'])).not.toHaveProperty('secret');
    expect((await easel.json(['logout', '--account', `ada@${new URL(other).host}`])).kept).toEqual([`ada@${new URL(home).host}`]);
    expect((await easel.json(['accounts'])).accounts).toHaveLength(1);
    await easel.json(['logout', '--all', '--yes']);
    expect((await easel.json(['accounts'])).accounts).toEqual([]);
  });

  it('saved by an earlier version survives the next sign-in', async () => {
    const url = await serverOf((_request, response) => response.end(JSON.stringify(me)));
    await easel.write({
      '.config/easel/credentials.json': '{"token":"so_old"}',
      '.config/easel/credentials.previous.json': '{"token":"so_older"}',
      '.config/easel/config.json': JSON.stringify({ url }),
    });
    await easel.json(['login', '--token', 'so_new']);
    const { accounts } = JSON.parse(await readFile(join(easel.home, '.config/easel/accounts.json'), 'utf8'));
    expect(accounts.map((each: { token: string }) => each.token)).toEqual(['so_old', 'so_older', 'so_new']);
    expect(await easel.json(['whoami', '--show-token', '--account', accounts[0].name])).toMatchObject({ secret: 'so_old' });
  });

  it('is not deleted without --yes while it is the only key to the account', async () => {
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
