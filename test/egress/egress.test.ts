/** The guarded way to the outside, against servers of this suite that misbehave. [J8] and [J9] are anchors. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { Egress, type EgressDeps, type EgressRequest } from '../../src/egress/egress.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { SELF_SIGNED } from '../support/certificates.ts';

type Answers = (request: IncomingMessage, response: ServerResponse) => void;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

const serve = (answers: Answers) => listening(createServer(answers));

/** Bytes as they are, for what no HTTP server would say. */
async function serveRaw(say: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const port = await listening(
    createTcpServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => sockets.delete(socket));
      socket.once('data', () => say(socket));
    }),
  );
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  return port;
}

function egress(more: Partial<EgressDeps> = {}): Egress {
  return new Egress({ clock: systemClock, ports: null, privateNetworks: '127.0.0.1', resolve: async () => ['127.0.0.1'], ...more });
}

const get = (url: string, more: Partial<EgressRequest> = {}): EgressRequest => ({
  method: 'GET',
  url,
  bytesMax: 1_000_000,
  timeoutMs: 60_000,
  redirectsMax: 3,
  share: 'art_1',
  ...more,
});
const silence = () => {
  // Nothing is said, ever.
};
const redirectTo =
  (location: string): Answers =>
  (_, response) =>
    response.writeHead(302, { location }).end();

describe('the guarded egress', () => {
  it('answers with status, headers and decoded body, without what belongs to the connection', async () => {
    const port = await serve((request, response) => {
      expect(request.headers).toMatchObject({ host: `api.example.com:${port}`, 'user-agent': 'Easel', accept: 'text/plain' });
      const body = brotliCompressSync(gzipSync('hello'));
      response
        .writeHead(418, { 'content-type': 'text/plain', 'content-encoding': 'gzip, br', 'set-cookie': 'a=1', etag: '"v1"' })
        .end(body);
    });
    const reply = await egress().fetch(get(`http://api.example.com:${port}/x?y=1#z`, { headers: { accept: 'text/plain' } }));
    expect(reply).toMatchObject({
      status: 418,
      url: `http://api.example.com:${port}/x?y=1`,
      headers: { 'content-type': 'text/plain', etag: '"v1"' },
    });
    expect(reply.body.toString()).toBe('hello');
    expect(Object.keys(reply.headers)).not.toContain('set-cookie');
    expect(Object.keys(reply.headers)).not.toContain('content-encoding');
  });

  it('sends a body, and follows no redirect with it', async () => {
    const port = await serve((request, response) => {
      request.pipe(response.writeHead(307, { location: 'http://127.0.0.1/' }));
    });
    const reply = await egress().fetch(get(`http://a.example:${port}/`, { method: 'POST', body: Buffer.from('{"a":1}') }));
    expect([reply.status, reply.body.toString()]).toEqual([307, '{"a":1}']);
  });

  it.each(['ftp://a.example/', 'file:///etc/passwd', 'http://user:pw@a.example/', 'nonsense', `http://a.example/${'x'.repeat(9000)}`])(
    '[J8] refuses %s',
    async (url) => {
      await expect(egress().fetch(get(url))).rejects.toMatchObject({ reason: 'invalid' });
    },
  );

  it.each([
    '127.1',
    '0x7f.1',
    '0177.0.0.1',
    '2130706433',
    '0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '169.254.169.254',
    '100.64.0.1',
  ])('[J8] refuses the literal %s without a connection, also where another page leads there', async (host) => {
    let isReached = false;
    const port = await serve((request, response) => {
      if (request.url === '/from') redirectTo(`http://${host}:${port}/secret`)(request, response);
      else isReached = true;
    });
    const resolve = async () => ['127.0.0.1'];
    const guarded = egress({ privateNetworks: '', resolve });
    await expect(guarded.fetch(get(`http://${host}:${port}/`))).rejects.toMatchObject({ reason: 'blocked' });
    // Only 127.0.0.1 itself is opened here, so that the first page can be served at all.
    if (host.startsWith('[') || host === '0' || host.startsWith('169') || host.startsWith('100'))
      await expect(egress({ resolve }).fetch(get(`http://a.example:${port}/from`))).rejects.toMatchObject({ reason: 'blocked' });
    expect(isReached).toBe(false);
  });

  it('[J8] rebinding: a name is asked for once a hop, all of its addresses count, and the connection goes to the one that was checked', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '10.0.0.1']];
    let asked = 0;
    const resolve = async () => answers[asked++] ?? [];
    const port = await serve((_, response) => response.end('first'));
    const guarded = egress({ resolve });
    expect((await guarded.fetch(get(`http://rebound.example:${port}/`))).body.toString()).toBe('first');
    expect(asked).toBe(1);
    await expect(guarded.fetch(get(`http://rebound.example:${port}/`))).rejects.toMatchObject({ reason: 'blocked' });
    await expect(guarded.fetch(get(`http://rebound.example:${port}/`))).rejects.toMatchObject({ reason: 'blocked' });
  });

  it('[J8] a redirect is decided anew: address, port, host list, https to http, and what it carries', async () => {
    const elsewhere = await serve((request, response) => response.end(JSON.stringify(request.headers)));
    const port = await serve((request, response) =>
      redirectTo(new URL(request.url ?? '', 'http://x').searchParams.get('to') ?? '')(request, response),
    );
    const from = (to: string) => `http://a.example:${port}/?to=${encodeURIComponent(to)}`;
    const headers = { authorization: 'Bearer secret', 'x-api-key': 'k', accept: 'application/json' };
    const seen = JSON.parse((await egress().fetch(get(from(`http://b.example:${elsewhere}/`), { headers }))).body.toString());
    expect(seen).toMatchObject({ accept: 'application/json' });
    expect(seen).not.toHaveProperty('authorization');
    expect(seen).not.toHaveProperty('x-api-key');
    const onlyHere = egress({ ports: new Set([port]) });
    await expect(onlyHere.fetch(get(from(`http://b.example:${elsewhere}/`)))).rejects.toMatchObject({ reason: 'blocked' });
    const require = ({ hostname }: URL) => {
      if (hostname !== 'a.example') throw new Error(`${hostname} is not listed`);
    };
    await expect(egress().fetch(get(from(`http://b.example:${elsewhere}/`), { require }))).rejects.toThrow('b.example is not listed');
    await expect(egress().fetch(get(from('gopher://b.example/')))).rejects.toMatchObject({ reason: 'invalid' });
  });

  it('[J8] redirects in a circle end', async () => {
    const port = await serve((request, response) => redirectTo(`http://a.example:${port}/`)(request, response));
    await expect(egress().fetch(get(`http://a.example:${port}/`))).rejects.toMatchObject({ reason: 'bad_answer' });
  });

  it('says which setting opens a port that may not be called', async () => {
    const guarded = egress({ ports: new Set([80, 443]) });
    const refused = { reason: 'blocked', hint: expect.stringContaining('EGRESS_PORTS') };
    await expect(guarded.fetch(get('http://a.example:8080/'))).rejects.toMatchObject(refused);
    const dialing = { host: 'a.example', port: 8080, usualPort: 5432, share: 'art_1', signal: new AbortController().signal };
    await expect(guarded.dial(dialing)).rejects.toMatchObject(refused);
  });

  it('refuses headers that are its own, and those that could end early', async () => {
    const refused: Record<string, string>[] = [{ host: 'b.example' }, { 'content-length': '5' }, { 'x-a': 'b\r\nx-c: d' }, { 'x a': 'b' }];
    for (const headers of refused)
      await expect(egress().fetch(get('http://a.example/', { headers }))).rejects.toMatchObject({ reason: 'invalid' });
  });

  it('[J9] decoded bytes count: bombs, chains of codings and unknown ones are refused', async () => {
    const bomb = gzipSync(gzipSync(Buffer.alloc(50_000_000)));
    const codings: Record<string, string> = { '/bomb': 'gzip, gzip', '/chain': 'gzip, gzip, gzip', '/unknown': 'zstd-of-mine' };
    const port = await serve((request, response) => {
      response.writeHead(200, { 'content-encoding': codings[request.url ?? ''] ?? 'gzip' }).end(bomb);
    });
    await expect(egress().fetch(get(`http://a.example:${port}/bomb`))).rejects.toMatchObject({ reason: 'too_large' });
    await expect(egress().fetch(get(`http://a.example:${port}/chain`))).rejects.toMatchObject({ reason: 'bad_answer' });
    await expect(egress().fetch(get(`http://a.example:${port}/unknown`))).rejects.toMatchObject({ reason: 'bad_answer' });
  });

  it('[J9] each stage counts: empty parts without end, as they come and between two codings', async () => {
    const empty = Buffer.concat(Array(1000).fill(gzipSync('')));
    const between = gzipSync(Buffer.concat(Array(100_000).fill(gzipSync(''))));
    const port = await serve((request, response) => {
      if (request.url === '/between') {
        response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(between);
        return;
      }
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const more = () => {
        while (!response.destroyed && response.write(empty));
      };
      response.on('drain', more);
      more();
    });
    await expect(egress().fetch(get(`http://a.example:${port}/empty`))).rejects.toMatchObject({ reason: 'too_large' });
    await expect(egress().fetch(get(`http://a.example:${port}/between`))).rejects.toMatchObject({ reason: 'too_large' });
  });

  it('an endless body, an announced one and one that ends early are refused', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/announced') response.writeHead(200, { 'content-length': '5000000' }).write('x');
      else if (request.url === '/short') {
        response.writeHead(200, { 'content-length': '500' });
        response.write('x', () => response.destroy());
      } else {
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on('drain', more);
        more();
      }
    });
    await expect(egress().fetch(get(`http://a.example:${port}/endless`))).rejects.toMatchObject({ reason: 'too_large' });
    await expect(egress().fetch(get(`http://a.example:${port}/announced`))).rejects.toMatchObject({ reason: 'too_large' });
    await expect(egress().fetch(get(`http://a.example:${port}/short`))).rejects.toMatchObject({ reason: 'bad_answer' });
  });

  it('endless headers, no HTTP, a switch of protocols and a closed port are told apart from answers', async () => {
    const endless = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write(`x-${'a'.repeat(100)}: ${'b'.repeat(1000)}\r\n`));
      };
      socket.on('drain', more);
      more();
    });
    await expect(egress().fetch(get(`http://a.example:${endless}/`))).rejects.toMatchObject({ reason: 'bad_answer' });
    const redis = await serveRaw((socket) => socket.end('-ERR unknown command\r\n'));
    await expect(egress().fetch(get(`http://a.example:${redis}/`))).rejects.toMatchObject({ reason: 'bad_answer' });
    const switching = await serveRaw((socket) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    );
    await expect(egress().fetch(get(`http://a.example:${switching}/`))).rejects.toMatchObject({ reason: 'bad_answer' });
    const hinting = await serveRaw((socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'));
      };
      socket.on('drain', more);
      more();
    });
    await expect(egress().fetch(get(`http://a.example:${hinting}/`))).rejects.toMatchObject({ reason: 'bad_answer' });
    const gone = await serve(silence);
    closing.pop()?.();
    await expect(egress().fetch(get(`http://a.example:${gone}/`))).rejects.toMatchObject({ reason: 'connect' });
    await expect(egress().fetch(get(`https://a.example:${redis}/`))).rejects.toMatchObject({ reason: 'connect' });
  });

  it('the deadline ends a host that says nothing, a body that trickles and a name that is not answered, and gives the slot back', async () => {
    const silent = await serveRaw(silence);
    const trickling = await serve((_, response) => {
      response.write('x');
    });
    const guarded = egress();
    const short = { timeoutMs: 50 };
    await expect(guarded.fetch(get(`http://a.example:${silent}/`, short))).rejects.toMatchObject({ reason: 'timeout' });
    await expect(guarded.fetch(get(`http://a.example:${trickling}/`, short))).rejects.toMatchObject({ reason: 'timeout' });
    const unanswered = egress({ resolve: () => new Promise(silence) });
    await expect(unanswered.fetch(get('http://a.example/', short))).rejects.toMatchObject({ reason: 'timeout' });
    expect([guarded.used, unanswered.used]).toEqual([0, 0]);
  });

  it.each([
    ['HTTP/1.0 200 OK\r\n\r\n', '[{"n":1}]'],
    ['HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n', '[{"n":1}]'],
    ['HTTP/1.0 200 OK\r\ncontent-encoding: gzip\r\n\r\n', gzipSync('[{"n":1}]')],
    ['HTTP/1.0 200 OK\r\ncontent-encoding: gzip\r\n\r\n', gzipSync('[{"n":1}]').subarray(0, 14)],
    ['HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n', '[{"n":1}]'],
  ])('a body that the deadline or the caller cuts off is not taken as whole: %j', async (head, part) => {
    let answered = silence;
    const port = await serveRaw((socket) => {
      socket.write(head);
      socket.write(part, () => answered());
    });
    await expect(egress().fetch(get(`http://a.example:${port}/`, { timeoutMs: 100 }))).rejects.toMatchObject({ reason: 'timeout' });
    const caller = new AbortController();
    const gone = new Error('gone');
    // The client has read the part before two turns of its event loop have passed.
    answered = () => setImmediate(() => setImmediate(() => caller.abort(gone)));
    await expect(egress().fetch(get(`http://a.example:${port}/`, { signal: caller.signal }))).rejects.toBe(gone);
  });

  it.each([
    ['HTTP/1.0 200 OK\r\n\r\n', '[{"n":1}]'],
    ['HTTP/1.0 200 OK\r\ncontent-encoding: gzip\r\n\r\n', gzipSync('[{"n":1}]')],
  ])('a body that a reset of its connection cuts off is refused: %j', async (head, part) => {
    const port = await serveRaw((socket) => {
      socket.write(head);
      socket.write(part, () => setImmediate(() => setImmediate(() => socket.resetAndDestroy())));
    });
    await expect(egress().fetch(get(`http://a.example:${port}/`))).rejects.toMatchObject({ reason: 'bad_answer' });
  });

  it('a coding that is cut off is refused, a body that ends with its connection is whole', async () => {
    const raw = (part: Buffer) =>
      serveRaw((socket) => {
        socket.write('HTTP/1.0 200 OK\r\ncontent-encoding: gzip\r\n\r\n');
        socket.end(part);
      });
    const cut = await raw(gzipSync('[{"n":1}]').subarray(0, 14));
    await expect(egress().fetch(get(`http://a.example:${cut}/`))).rejects.toMatchObject({ reason: 'bad_answer' });
    const whole = await raw(gzipSync('[{"n":1}]'));
    expect((await egress().fetch(get(`http://a.example:${whole}/`))).body.toString()).toBe('[{"n":1}]');
  });

  it('a share that is full waits, and does not delay another one', async () => {
    const held: ServerResponse[] = [];
    let arrived = silence;
    const port = await serve((request, response) => {
      if (request.url === '/quick') response.end('quick');
      else held.push(response);
      arrived();
    });
    const guarded = egress();
    const slow = Array.from({ length: 8 }, () => guarded.fetch(get(`http://a.example:${port}/slow`)));
    await expect.poll(() => held.length).toBe(6);
    expect((await guarded.fetch(get(`http://a.example:${port}/quick`, { share: 'art_2' }))).body.toString()).toBe('quick');
    expect(held.length).toBe(6);
    arrived = () => {
      for (const response of held.splice(0)) response.end('slow');
    };
    arrived();
    expect((await Promise.all(slow)).map(({ body }) => body.toString())).toEqual(Array(8).fill('slow'));
  });

  it('the caller ends a call while it waits for a slot, for the answer and for the rest of the body, and the connection with it', async () => {
    const ended: string[] = [];
    const begun: string[] = [];
    const port = await serve((request, response) => {
      begun.push(request.url ?? '');
      request.socket.once('close', () => ended.push(request.url ?? ''));
      if (request.url === '/body') response.write('x');
    });
    const guarded = egress();
    for (const path of ['/silent', '/body']) {
      const caller = new AbortController();
      const reason = new Error('the reader is gone');
      const call = guarded.fetch(get(`http://a.example:${port}${path}`, { signal: caller.signal }));
      const failed = expect(call).rejects.toBe(reason);
      await expect.poll(() => begun).toContain(path);
      caller.abort(reason);
      await failed;
      await expect.poll(() => ended).toContain(path);
    }
    const held = Array.from({ length: 6 }, () => guarded.fetch(get(`http://a.example:${port}/silent`, { timeoutMs: 300 })));
    const caller = new AbortController();
    const waiting = guarded.fetch(get(`http://a.example:${port}/waiting`, { signal: caller.signal }));
    caller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect(guarded.fetch(get(`http://a.example:${port}/`, { signal: caller.signal }))).rejects.toThrow('gone');
    await Promise.allSettled(held);
    expect(guarded.used).toBe(0);
  });

  it('trusts authorities beside the public ones only where they are named', async () => {
    const { cert, key } = SELF_SIGNED;
    const port = await listening(createSecureServer({ cert, key }, (_, response) => response.end('hello')));
    await expect(egress().fetch(get(`https://a.example:${port}/`))).rejects.toMatchObject({ reason: 'connect' });
    const trusting = egress({ trusted: cert });
    expect((await trusting.fetch(get(`https://a.example:${port}/`))).body.toString()).toBe('hello');
    await expect(trusting.fetch(get(`https://b.example:${port}/`))).rejects.toMatchObject({ reason: 'connect' });
  });
});
