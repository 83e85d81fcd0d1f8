import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { CLOSE } from '../../protocol/core/close-codes.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import {
  frameAllowed,
  frameAwareness,
  frameDenied,
  frameKeepAlive,
  framePing,
  framePong,
  frameQueryAwareness,
  frameSyncStatus,
  frameSyncStep1,
  frameSyncStep2,
  frameSyncUpdate,
  writeAwareness,
} from '../../src/realtime/wire.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { RawPeer } from './raw-peer.ts';
import { change, collaborator, type Stage, stage } from './realtime-stage.ts';

const EMPTY_VECTOR = Uint8Array.of(0);
const EMPTY_UPDATE = Uint8Array.of(0, 0);
const TEXT = new TextEncoder();
const hex = (frame: Uint8Array) => Buffer.from(frame).toString('hex');
const hexOf = (text: string) => Buffer.from(text).toString('hex');

let easel: TestEasel;
let set: Stage;
const peers: RawPeer[] = [];

beforeAll(async () => {
  easel = await startTestEasel();
  set = await stage(easel);
});
afterEach(() => {
  for (const peer of peers.splice(0)) peer.close();
});
afterAll(() => easel.close());

async function connect(query = ''): Promise<RawPeer> {
  const peer = await RawPeer.open(`${easel.baseUrl.replace('http', 'ws')}/v1/data/${set.artifactId}/realtime${query}`);
  peers.push(peer);
  return peer;
}

function text(value: string): Uint8Array {
  const bytes = TEXT.encode(value);
  if (bytes.length > 127) throw new Error('too long for one byte of length');
  return Uint8Array.of(bytes.length, ...bytes);
}

const token = (address: string, secret: string) => Uint8Array.of(...text(address), 2, 0, ...text(secret));
const bare = (address: string, type: number) => Uint8Array.of(...text(address), type);
const ok = (address: string) => hex(frameAllowed('read-write', address));
const ack = (address: string) => hex(frameSyncStatus(true, address));
const refused = (address: string) => hex(frameSyncStatus(false, address));

/** Each call returns the next update of the same author. */
function author(): (char: string) => Uint8Array {
  const doc = new Y.Doc();
  let update: Uint8Array = EMPTY_UPDATE;
  doc.on('update', (made: Uint8Array) => {
    update = made;
  });
  return (char) => {
    doc.getText('text').insert(0, char);
    return update;
  };
}

/** Opens this document as the owner on a new connection. */
async function opened(address: string): Promise<RawPeer> {
  const peer = await connect();
  peer.send(token(address, set.owner.token));
  expect(await peer.next()).toBe(ok(address));
  return peer;
}

describe('the handshake', () => {
  it('what comes before the token is held back, then answered in order: ok, Step1, Step2, one status for the update', async () => {
    const peer = await connect();
    peer.send(frameSyncUpdate(author()('a'), 'held'), frameSyncStep1(EMPTY_VECTOR, 'held'), token('held', set.owner.token));
    const [first, step1, step2, status] = await peer.take(4);
    expect(first).toBe(ok('held'));
    expect(step1?.startsWith(hex(bare('held', 0)))).toBe(true);
    expect(step2?.startsWith(`${hex(bare('held', 0))}01`)).toBe(true);
    expect(status).toBe(ack('held'));
  });

  it('answers bear the address that was asked for, with its session', async () => {
    const peer = await opened('addressed\0s1');
    peer.send(token('addressed\0s2', set.owner.token), frameSyncStep1(EMPTY_VECTOR, 'addressed\0s2'));
    expect(await peer.next()).toBe(ok('addressed\0s2'));
    expect((await peer.next()).startsWith(hex(text('addressed\0s2')))).toBe(true);
  });

  it('every Step1 is answered with Step1 and Step2: a client that syncs again waits for the status of its answer', async () => {
    const peer = await opened('again');
    for (let round = 0; round < 2; round += 1) {
      peer.send(frameSyncStep1(EMPTY_VECTOR, 'again'), frameSyncStep2(EMPTY_UPDATE, 'again'));
      expect(await peer.take(3)).toEqual([
        hex(frameSyncStep1(EMPTY_VECTOR, 'again')),
        hex(frameSyncStep2(EMPTY_UPDATE, 'again')),
        ack('again'),
      ]);
    }
  });

  it('a token of the connection counts where the frame has none', async () => {
    const peer = await connect(`?token=${set.owner.token}`);
    peer.send(token('connected', ''));
    expect(await peer.next()).toBe(ok('connected'));
  });

  it('without any token a Step1 alone is enough where everybody may', async () => {
    const open = await stage(easel, { visibility: 'public', allow_anon_collab: true });
    const peer = await RawPeer.open(`${easel.baseUrl.replace('http', 'ws')}/v1/data/${open.artifactId}/realtime`);
    peers.push(peer);
    peer.send(frameSyncStep1(EMPTY_VECTOR, 'd'));
    expect(await peer.take(3)).toEqual([ok('d'), hex(frameSyncStep1(EMPTY_VECTOR, 'd')), hex(frameSyncStep2(EMPTY_UPDATE, 'd'))]);
  });

  it('a name that no document may have is refused, and the connection goes on', async () => {
    const peer = await connect();
    peer.send(token('no/such name', set.owner.token), token('good', set.owner.token));
    const frames = await peer.take(2);
    expect(frames.map((frame) => frame.includes(hexOf('INVALID_DOCUMENT_NAME')))).toContain(true);
    expect(frames).toContain(ok('good'));
  });
});

describe('before the client has identified itself', () => {
  const filler = (bytes: number) => frameSyncUpdate(new Uint8Array(bytes), 'd');

  it('bytes beyond the limit close the connection', async () => {
    const peer = await connect();
    peer.send(filler(LIMITS.preAuthBytesMax));
    expect((await peer.closed).code).toBe(CLOSE.refused);
  });

  it('messages beyond the limit close the connection', async () => {
    const peer = await connect();
    for (let i = 0; i <= LIMITS.preAuthMessagesMax; i += 1) peer.send(filler(1));
    expect((await peer.closed).code).toBe(CLOSE.refused);
  });

  it('tokens are looked at one after the other, and guesses beyond the limit close the connection', async () => {
    const peer = await connect();
    for (let i = 0; i <= LIMITS.preAuthMessagesMax; i += 1) peer.send(token('d', `so_${String(i).padStart(64, '0')}`));
    expect((await peer.closed).code).toBe(CLOSE.refused);
  });

  it('a Step1 that opens nothing by itself waits for the token, without a denial', async () => {
    const peer = await connect();
    peer.send(frameSyncStep1(EMPTY_VECTOR, 'first'), token('first', set.owner.token));
    expect(await peer.next()).toBe(ok('first'));
  });

  it('a document more than a connection may have is refused; the others stay', async () => {
    const peer = await connect(`?token=${set.owner.token}`);
    for (let i = 0; i < LIMITS.documentsPerSocketMax; i += 1) peer.send(bare(`many${i}`, 3));
    peer.send(token('one-more', set.owner.token));
    expect(await peer.next()).toBe(hex(frameDenied(`A connection may have ${LIMITS.documentsPerSocketMax} documents.`, 'one-more')));
    // Closing a document makes room for another.
    peer.send(bare('many0', 7), token('one-more', set.owner.token));
    expect(await peer.next()).toBe(ok('one-more'));
  });

  it('a connection on which nothing comes is closed at the deadline', async () => {
    const silent = await connect();
    const busy = await opened('busy');
    easel.clock.advance(LIMITS.preAuthDeadlineMs);
    expect((await silent.closed).code).toBe(CLOSE.timeout);
    busy.send(framePing());
    expect(await busy.next()).toBe(hex(framePong()));
  });

  it('a document without a token is denied at the deadline, so that its client does not reconnect', async () => {
    const peer = await connect();
    peer.send(frameSyncStep1(EMPTY_VECTOR, 'late'), framePing());
    expect(await peer.next()).toBe(hex(framePong()));
    easel.clock.advance(LIMITS.preAuthDeadlineMs);
    expect(await peer.next()).toContain(hexOf('UNAUTHORIZED'));
    peer.send(token('late', set.owner.token));
    expect(await peer.next()).toBe(ok('late'));
  });
});

describe('statuses', () => {
  it('exactly one for each Step2 and update, taken in the order in which they came', async () => {
    const write = author();
    const peer = await opened('counted');
    for (const char of 'abcdefghij') peer.send(frameSyncUpdate(write(char), 'counted'));
    expect(await peer.take(10)).toEqual(Array.from({ length: 10 }, () => ack('counted')));
    peer.send(frameSyncStep2(EMPTY_UPDATE, 'counted'), framePing());
    expect(await peer.take(2)).toEqual([ack('counted'), hex(framePong())]);
  });

  it('read-only: a Step2 with nothing new is taken, one with something new and every update are refused', async () => {
    const write = author();
    const known = write('k');
    const owner = await opened('readonly');
    owner.send(frameSyncUpdate(known, 'readonly'));
    expect(await owner.next()).toBe(ack('readonly'));
    const viewer = await collaborator(easel, set, 'viewer');
    const peer = await connect();
    // Access is cached with the artifact, and any change of it drops the cache entry.
    await change(easel, set, { name: 'read again' });
    peer.send(token('readonly', viewer.token));
    expect(await peer.next()).toBe(hex(frameAllowed('readonly', 'readonly')));
    peer.send(frameSyncStep2(known, 'readonly'), frameSyncStep2(EMPTY_UPDATE, 'readonly'));
    peer.send(frameSyncStep2(write('n'), 'readonly'), frameSyncUpdate(known, 'readonly'));
    expect(await peer.take(4)).toEqual([ack('readonly'), ack('readonly'), refused('readonly'), refused('readonly')]);
  });

  it('a malformed update is refused, and all after it; the connection and other documents go on', async () => {
    const write = author();
    const peer = await opened('broken');
    peer.send(frameSyncUpdate(Uint8Array.of(1, 255, 255, 3), 'broken'), frameSyncUpdate(write('a'), 'broken'));
    expect(await peer.take(2)).toEqual([refused('broken'), refused('broken')]);
    peer.send(token('whole', set.owner.token), frameSyncUpdate(author()('b'), 'whole'));
    expect(await peer.take(2)).toEqual([ok('whole'), ack('whole')]);
  });
});

describe('what clients may not send', () => {
  it.each([
    ['a text frame', 'hello'],
    ['a frame that ends early', Uint8Array.of(1, 0x64, 0, 2, 9)],
    ['a message between servers (4)', bare('d', 4)],
    ['a message between servers (6)', bare('d', 6)],
  ])('%s closes the connection', async (_, frame) => {
    const peer = await connect();
    peer.send(frame);
    expect((await peer.closed).code).toBe(CLOSE.malformed);
  });

  it('stateless messages are not answered and not passed on', async () => {
    const a = await opened('stateless');
    const b = await opened('stateless');
    a.send(Uint8Array.of(...text('stateless'), 5, ...text('hi')), framePing());
    expect(await a.next()).toBe(hex(framePong()));
    b.send(framePing());
    expect(await b.next()).toBe(hex(framePong()));
  });
});

describe('who is here', () => {
  it('is sent on join and on request, and removed when the document is closed', async () => {
    const a = await opened('here');
    a.send(frameAwareness(writeAwareness([{ clientId: 7, clock: 1, json: '{"cursor":1}' }]), 'here'));
    expect(await a.next()).toContain(hexOf('"cursor":1'));
    const b = await opened('here');
    expect(await b.next()).toContain(hexOf('"cursor":1'));
    b.send(frameQueryAwareness('here'));
    expect(await b.next()).toContain(hexOf('"cursor":1'));
    a.send(bare('here', 7));
    expect(await b.next()).toContain(hexOf('null'));
  });
});

describe('tokens', () => {
  it('another token for an open document is looked at while it stays open', async () => {
    const peer = await opened('renewed');
    peer.send(token('renewed', set.owner.token), frameSyncUpdate(author()('a'), 'renewed'));
    expect((await peer.take(2)).sort()).toEqual([ok('renewed'), ack('renewed')].sort());
    peer.send(token('renewed', `so_${'0'.repeat(64)}`));
    expect(await peer.next()).toContain(hexOf('UNAUTHORIZED'));
    // Messages to a denied document are not answered any more.
    peer.send(frameSyncUpdate(author()('b'), 'renewed'), framePing());
    expect(await peer.next()).toBe(hex(framePong()));
  });

  it('a token that is revoked takes its documents and leaves the connection', async () => {
    const created = await easel.fetch('/v1/me/tokens', {
      method: 'POST',
      token: set.owner.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'short' }),
    });
    const second = await created.json();
    const peer = await connect();
    peer.send(token('short', second.token), token('long', set.owner.token));
    expect((await peer.take(2)).sort()).toEqual([ok('short'), ok('long')].sort());
    await easel.fetch(`/v1/me/tokens/${second.id}`, { method: 'DELETE', token: set.owner.token });
    const denied = await peer.next();
    expect(denied).toContain(hexOf('UNAUTHORIZED'));
    expect(denied.startsWith(hex(bare('short', 2)))).toBe(true);
    peer.send(frameSyncUpdate(author()('a'), 'long'));
    expect(await peer.next()).toBe(ack('long'));
  });
});

describe('a quiet connection', () => {
  it('gets an empty awareness frame every 20 s', async () => {
    const peer = await opened('quiet');
    easel.clock.advance(20_000);
    expect(await peer.next()).toBe(hex(frameKeepAlive('quiet')));
  });
});
