/** WebSocket upgrades: admission, refusals before the upgrade, and how sockets close. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { ClientOptions, WebSocket } from 'ws';
import { CLOSE } from '../../protocol/core/close-codes.ts';
import { Failure } from '../../protocol/core/errors.ts';
import { OTHER_TOKEN, OWNER_TOKEN, PRIVATE_ID, PUBLIC_ID, rawRequest } from '../edge/fake-edge.ts';
import { closing, edge, type FakeOptions, refusal } from './upgrade-stage.ts';

const SYNC = `/v1/data/${PRIVATE_ID}/realtime/notes`;
const MANY = `/v1/data/${PRIVATE_ID}/realtime`;
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

const bearer = (token: string): ClientOptions => ({ headers: { authorization: `Bearer ${token}` } });

test.each([
  ['in memory', undefined],
  ['looked up', () => Promise.resolve()],
])('a token in the header or the query opens it, %s', async (_where, lookUp) => {
  const { protocol, connect } = await edge(lookUp === undefined ? {} : { lookUp });
  const first = connect(SYNC, { headers: { authorization: `Bearer ${OWNER_TOKEN}`, 'x-request-id': 'mine-1' } });
  const [response] = await once(first, 'upgrade');
  expect(response.headers['x-request-id']).toBe('mine-1');
  const second = connect(`${SYNC}?token=${OWNER_TOKEN}`);
  await once(second, 'open');
  expect(protocol.calls.map(({ principal }) => principal.kind)).toEqual(['user', 'user']);
  expect(protocol.calls.map(({ params }) => params)).toEqual([
    { artifactId: PRIVATE_ID, doc: 'notes' },
    { artifactId: PRIVATE_ID, doc: 'notes' },
  ]);
  // The call that a protocol may log has no secret.
  expect(JSON.stringify(protocol.calls.map(({ query, requestId, host }) => ({ query, requestId, host })))).not.toContain(OWNER_TOKEN);
  expect(protocol.calls.map(({ head }) => head?.id)).toEqual([PRIVATE_ID, PRIVATE_ID]);
});

test('a parameter beside the token is refused before the upgrade', async () => {
  const { connect } = await edge();
  const [error] = await once(connect(`${SYNC}?other=1&token=${OWNER_TOKEN}`), 'error');
  expect(String(error)).toContain('400');
});

test('binary and text frames arrive unchanged', async () => {
  const { connect } = await edge();
  const socket = connect(SYNC, bearer(OWNER_TOKEN));
  await once(socket, 'open');
  for (const message of [Buffer.from([0, 1, 255]), 'text ☃', 'Grüße']) {
    socket.send(message);
    const [data, isBinary] = await once(socket, 'message');
    expect([isBinary, String(data)]).toEqual([typeof message !== 'string', String(message)]);
  }
});

test.each([
  ['in memory', undefined],
  ['looked up', () => new Promise<void>((resolve) => setImmediate(resolve))],
])('what a protocol sends as it opens comes whole and in its order, %s', async (_where, lookUp) => {
  const { connect, protocol } = await edge(lookUp === undefined ? {} : { lookUp });
  const frames = [...Array.from({ length: 50 }, (_, at) => `small ${at}`), 'x'.repeat(60_000), ...['after', 'last']];
  protocol.onOpen = (link) => {
    link.send(frames[0] ?? '');
    link.together(() => {
      for (const frame of frames.slice(1)) expect(link.send(frame)).not.toBe('skipped');
    });
  };
  const sockets = [connect(SYNC, bearer(OWNER_TOKEN)), connect(SYNC, bearer(OWNER_TOKEN)), connect(MANY, bearer(OWNER_TOKEN))];
  for (const came of await Promise.all(sockets.map((socket) => received(socket, frames.length)))) expect(came).toEqual(frames);
});

/** The next messages. */
function received(socket: WebSocket, count: number): Promise<string[]> {
  const came: string[] = [];
  return new Promise((resolve) => {
    socket.on('message', (data) => {
      came.push(String(data));
      if (came.length === count) resolve(came);
    });
  });
}

const REFUSALS: [string, string, ClientOptions, number, string, string | undefined][] = [
  ['a stranger', SYNC, bearer(OTHER_TOKEN), 404, 'ARTIFACT_NOT_FOUND', undefined],
  ['an unknown token', SYNC, bearer(`so_${'9'.repeat(64)}`), 401, 'UNAUTHORIZED', 'invalid'],
  ['an unknown token in the query', `${SYNC}?token=so_9`, {}, 401, 'UNAUTHORIZED', 'invalid'],
  ['nobody, of what is private', SYNC, {}, 404, 'ARTIFACT_NOT_FOUND', undefined],
  ['nobody, where anonymous people are not let in', `/v1/data/${PUBLIC_ID}/realtime/notes`, {}, 401, 'UNAUTHORIZED', 'missing'],
  ['no artifact', '/v1/data/art_x/realtime/notes', bearer(OWNER_TOKEN), 404, 'ARTIFACT_NOT_FOUND', undefined],
  ['no name of a document', `/v1/data/${PRIVATE_ID}/realtime/9`, bearer(OWNER_TOKEN), 400, 'INVALID_DOCUMENT_NAME', undefined],
  ['a second token', `${SYNC}?token=a&token=b`, {}, 400, 'INVALID_REQUEST', undefined],
  ['many documents with a bad token', `${MANY}?token=so_9`, {}, 401, 'UNAUTHORIZED', 'invalid'],
  ['many documents of a stranger', MANY, bearer(OTHER_TOKEN), 404, 'ARTIFACT_NOT_FOUND', undefined],
];

test.each(REFUSALS)('before the upgrade is refused: %s', async (_who, path, options, status, code, reason) => {
  const { connect, protocol } = await edge();
  const answer = await refusal(connect(path, options));
  expect([answer.status, answer.body.code, answer.body.reason]).toEqual([status, code, reason]);
  expect(answer.body.request_id).toBe(answer.headers['x-request-id']);
  expect(protocol.told).toEqual([]);
});

test('a protocol that authorises by its own frames is reached without any credential, and not decided for', async () => {
  const { connect, protocol } = await edge();
  await once(connect(MANY), 'open');
  await once(connect(MANY, bearer(OWNER_TOKEN)), 'open');
  expect(protocol.calls.map(({ principal, head }) => [principal.kind, head?.id])).toEqual([
    ['anonymous', undefined],
    ['user', PRIVATE_ID],
  ]);
});

test('the cookie of a page gives access to that page’s sockets only', async () => {
  const content: NonNullable<FakeOptions['content']> = {
    handle: () => ({ status: 200, headers: [], body: 'page' }),
    caller: (_slug, artifactId) => ({ viewer: null, pass: { artifactId, expiresAtMs: Number.MAX_SAFE_INTEGER } }),
    visitor: () => null,
  };
  const { connect, port, protocol } = await edge({ content });
  const from = (origin: string): ClientOptions => ({ headers: { host: `hidden.localhost:${port}`, cookie: 'pass=1', origin } });
  // Admitted callers go through the other checks as usual.
  const strangers = `${SYNC}?token=${OTHER_TOKEN}`;
  await once(connect(strangers, from(`http://hidden.localhost:${port}`)), 'open');
  expect(protocol.calls.map(({ principal }) => principal)).toMatchObject([{ kind: 'user', letInto: PRIVATE_ID }]);
  for (const origin of [`http://shown.localhost:${port}`, 'https://elsewhere.example']) {
    const answer = await refusal(connect(SYNC, from(origin)));
    expect([answer.status, answer.body.code]).toEqual([403, 'FORBIDDEN']);
  }
  // A page's host has no other artifact.
  const other = await refusal(connect(`/v1/data/${PUBLIC_ID}/realtime`, from(`http://hidden.localhost:${port}`)));
  expect([other.status, other.body.code]).toEqual([404, 'ARTIFACT_NOT_FOUND']);
  expect(protocol.calls).toHaveLength(1);
});

test('a protocol may refuse before the upgrade', async () => {
  const { connect, protocol } = await edge();
  protocol.admit = async () => {
    throw new Failure('DOCUMENT_LIMIT_EXCEEDED');
  };
  const answer = await refusal(connect(SYNC, bearer(OWNER_TOKEN)));
  expect([answer.status, answer.body.code, protocol.told]).toEqual([413, 'DOCUMENT_LIMIT_EXCEEDED', []]);
});

test.each([
  ['a plain GET', `Authorization: Bearer ${OWNER_TOKEN}`],
  ['another version of WebSockets', `Authorization: Bearer ${OWNER_TOKEN}\r\n${UPGRADE.replace('13', '8')}`],
  ['a key without Upgrade', `Authorization: Bearer ${OWNER_TOKEN}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==`],
])('%s is told to upgrade', async (_what, lines) => {
  const { port } = await edge();
  const { text } = await rawRequest(port, `GET ${SYNC} HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n\r\n`, '"request_id"');
  expect(text).toContain('HTTP/1.1 426 ');
  expect(text).toContain('"code":"UPGRADE_REQUIRED"');
  expect(text).toMatch(/\r\nUpgrade: websocket\r\n/);
});

test('a path that speaks no protocol answers an upgrade as any request', async () => {
  const { port } = await edge();
  const { text } = await rawRequest(port, `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}\r\n\r\n`, 'ok');
  expect(text).toContain('HTTP/1.1 200 OK');
});

test('a request with two hosts is no upgrade', async () => {
  const { port, protocol } = await edge();
  const { text } = await rawRequest(port, `GET ${SYNC} HTTP/1.1\r\nHost: a\r\nHost: b\r\n${UPGRADE}\r\n\r\n`);
  expect(text).toContain('HTTP/1.1 400 ');
  expect(protocol.told).toEqual([]);
});

test('a client that disconnects during the decision leaves nothing behind', async () => {
  let goOn: () => void = () => undefined;
  const { connect, protocol, metrics } = await edge();
  const asked = new Promise<void>((resolve) => {
    protocol.admit = () => {
      resolve();
      return new Promise((later) => {
        goOn = later;
      });
    };
  });
  const socket = connect(SYNC, bearer(OWNER_TOKEN));
  await asked;
  const ended = closing(socket);
  socket.terminate();
  await ended;
  protocol.admit = () => undefined;
  // This runs after the close of the first connection.
  await once(connect(SYNC, bearer(OWNER_TOKEN)), 'open');
  goOn();
  await new Promise(setImmediate);
  expect(protocol.told).toEqual(['open']);
  expect(await metrics.text()).toContain('easel_sockets_open 1\n');
});

test('a message that is too large closes it, and its sender is refused for a minute', async () => {
  const { connect, clock, protocol } = await edge();
  const socket = connect(SYNC, bearer(OWNER_TOKEN));
  await once(socket, 'open');
  const told = protocol.next('closed');
  socket.send(Buffer.alloc(1025));
  await told;
  const answer = await refusal(connect(SYNC, bearer(OWNER_TOKEN)));
  expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([413, 'PAYLOAD_TOO_LARGE', '60']);
  // Another document of the same caller is not affected.
  await once(connect(`/v1/data/${PRIVATE_ID}/realtime/others`, bearer(OWNER_TOKEN)), 'open');
  clock.advance(60_000);
  await once(connect(SYNC, bearer(OWNER_TOKEN)), 'open');
});

test('dropped frames of a slow peer and its drain are reported; memory stays bounded', async () => {
  const { connect, protocol, metrics } = await edge();
  const reader = connect(SYNC, bearer(OWNER_TOKEN));
  await once(reader, 'open');
  await once(connect(SYNC, bearer(OWNER_TOKEN)), 'open');
  const [slow, writer] = protocol.links;
  if (slow === undefined || writer === undefined) throw new Error('both are open');
  slow.subscribe('topic');
  reader.pause();
  const frame = new Uint8Array(8 * 1024);
  let skipped = false;
  void protocol.next('skipped').then(() => {
    skipped = true;
  });
  for (let sent = 0; !skipped && sent < 10_000; sent += 1) {
    writer.publish('topic', frame);
    await new Promise(setImmediate);
  }
  expect(skipped).toBe(true);
  expect(slow.send(frame)).toBe('skipped');
  expect(slow.bufferedBytes).toBeLessThanOrEqual(protocol.highWaterBytes + frame.length + 100);
  expect(await metrics.text()).toContain(`easel_socket_bytes_buffered ${slow.bufferedBytes}\n`);
  const drained = protocol.next('drained');
  reader.resume();
  await drained;
  expect(slow.bufferedBytes).toBe(0);
  expect(slow.send(frame)).toBe('sent');
});

test('what is published reaches the others, what is broadcast all', async () => {
  const { connect, protocol } = await edge();
  const sockets = [connect(SYNC, bearer(OWNER_TOKEN)), connect(SYNC, bearer(OWNER_TOKEN))];
  await Promise.all(sockets.map((socket) => once(socket, 'open')));
  const heard = sockets.map(() => [] as string[]);
  const all = Promise.all(
    sockets.map(
      (socket, at) =>
        new Promise<void>((resolve) =>
          socket.on('message', (data) => {
            heard[at]?.push(String(data));
            if (String(data) === 'to all') resolve();
          }),
        ),
    ),
  );
  for (const link of protocol.links) link.subscribe('t');
  protocol.links[0]?.publish('t', 'to the others');
  protocol.links[0]?.broadcast('t', 'to all');
  await all;
  expect(heard.map((messages) => messages.length).sort()).toEqual([1, 2]);
});

test('an error thrown by a protocol closes its socket only', async () => {
  const { connect, protocol, errors } = await edge();
  const [bad, good] = [connect(SYNC, bearer(OWNER_TOKEN)), connect(SYNC, bearer(OWNER_TOKEN))];
  await Promise.all([once(bad, 'open'), once(good, 'open')]);
  const echo = protocol.onMessage;
  protocol.onMessage = (link, data, isBinary) => {
    if (data.byteLength === 3) throw new Error('a bug');
    echo(link, data, isBinary);
  };
  bad.send('bad');
  expect(await closing(bad)).toEqual([1011, 'Something failed on our side.']);
  good.send('still');
  expect(String((await once(good, 'message'))[0])).toBe('still');
  expect(errors).toHaveLength(1);
});

test('more sockets of one artifact than it may have are refused, and let in once one has gone', async () => {
  const { connect, protocol } = await edge({ caps: { sockets: { total: 100, network: 100, caller: 100, artifact: 2 } } });
  const [first] = [connect(SYNC, bearer(OWNER_TOKEN)), connect(MANY, bearer(OWNER_TOKEN))];
  await protocol.next('open');
  if (protocol.links.length < 2) await protocol.next('open');
  const answer = await refusal(connect(SYNC, bearer(OWNER_TOKEN)));
  expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([503, 'UNAVAILABLE', '5']);
  const gone = protocol.next('closed');
  first?.close();
  await gone;
  await once(connect(SYNC, bearer(OWNER_TOKEN)), 'open');
});

test('when the server stops every socket is closed with a reconnect code, and no new one is admitted', async () => {
  const { connect, edge: listening, protocol } = await edge();
  const socket = connect(SYNC, bearer(OWNER_TOKEN));
  await once(socket, 'open');
  let letGo: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    protocol.admit = () => {
      resolve();
      return new Promise((later) => {
        letGo = later;
      });
    };
  });
  const late = connect(SYNC, bearer(OWNER_TOKEN));
  await asked;
  const ended = Promise.all([closing(socket), closing(late)]);
  listening.stopListening();
  letGo();
  await listening.idle();
  expect(await ended).toEqual([
    [CLOSE.moved, 'The server is stopping.'],
    [CLOSE.moved, 'The server is stopping.'],
  ]);
  expect(protocol.told.filter((what) => what === 'closed')).toHaveLength(1);
});

test('a socket that its protocol closes is notified once, and later sends do not fail', async () => {
  const { connect, protocol } = await edge();
  const socket = connect(SYNC, bearer(OWNER_TOKEN));
  await once(socket, 'open');
  const [link] = protocol.links;
  const ended = closing(socket);
  link?.close(CLOSE.revoked, 'x'.repeat(200));
  expect([link?.isOpen, link?.send('late'), link?.bufferedBytes]).toEqual([false, 'skipped', 0]);
  link?.subscribe('t');
  link?.publish('t', 'late');
  link?.close(CLOSE.gone, 'again');
  expect(await ended).toEqual([CLOSE.revoked, 'x'.repeat(123)]);
  expect(protocol.told).toEqual(['open', 'closed']);
});
