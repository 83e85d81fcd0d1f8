/** Protocol A of wire.md, frame by frame and with the stock provider: access, durability, final refusals. */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import * as Y from 'yjs';
import { CLOSE } from '../../protocol/core/close-codes.ts';
import type { ArtifactId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import {
  frameAwareness,
  frameDenied,
  frameKeepAlive,
  frameQueryAwareness,
  frameSyncStep1,
  frameSyncStep2,
  frameSyncUpdate,
  readAwareness,
  readMessage,
  writeAwareness,
} from '../../src/realtime/wire.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { type Client, type Joining, join } from './providers.ts';
import { RawPeer } from './raw-peer.ts';
import { change, collaborator, type Stage, stage } from './realtime-stage.ts';

const EMPTY_VECTOR = Uint8Array.of(0);
const hex = (frame: Uint8Array) => Buffer.from(frame).toString('hex');
const STEP_1_OF_NOTHING = '00000100';
const STEP_2_OF_NOTHING = '0001020000';

let easel: TestEasel;
let set: Stage;
const open: { close(): void }[] = [];

beforeAll(async () => {
  easel = await startTestEasel();
  set = await stage(easel);
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
afterAll(() => easel.close());

function url(document: string, token: string | undefined = set.owner.token, artifactId = set.artifactId): string {
  return `${easel.baseUrl.replace('http', 'ws')}/v1/data/${artifactId}/realtime/${document}${token === undefined ? '' : `?token=${token}`}`;
}

/** A connected peer that has read the server's Step1. */
async function connect(document: string, token?: string): Promise<RawPeer> {
  const peer = await RawPeer.open(url(document, token));
  open.push(peer);
  expect((await peer.next()).startsWith('0000')).toBe(true);
  return peer;
}

function client(document: string, joining: Partial<Joining> = {}): Client {
  const made = join('y-websocket 3', { baseUrl: easel.baseUrl, artifactId: set.artifactId, document, token: set.owner.token, ...joining });
  open.push(made);
  return made;
}

/** Each call returns the next update of the same author. */
function author(): (text: string) => Uint8Array {
  const doc = new Y.Doc();
  let update = new Uint8Array();
  doc.on('update', (made: Uint8Array) => {
    update = new Uint8Array(made);
  });
  return (text) => {
    doc.getText('text').insert(0, text);
    return update;
  };
}

/** Adds a collaborator to the artifact and drops its cache entry. */
async function another(role: 'editor' | 'viewer') {
  const user = await collaborator(easel, set, role);
  await change(easel, set, { name: `with ${user.userId}` });
  return user;
}

/** The stored state of a document. */
async function stored(document: string): Promise<string> {
  const peer = await RawPeer.open(url(document));
  open.push(peer);
  peer.send(frameSyncStep1(EMPTY_VECTOR));
  const message = readMessage(Buffer.from(await until(peer, '0001'), 'hex'));
  const doc = new Y.Doc();
  if (message.kind === 'step2') Y.applyUpdate(doc, message.update);
  peer.close();
  return doc.getText('text').toString();
}

/** Reads frames up to the first with this prefix. */
async function until(peer: RawPeer, beginning: string): Promise<string> {
  for (;;) {
    const frame = await peer.next();
    if (frame.startsWith(beginning)) return frame;
  }
}

describe('the handshake', () => {
  test('the server sends Step1, answers Step1 with Step2, and sends no awareness where nobody is present', async () => {
    const peer = await RawPeer.open(url('handshake'));
    open.push(peer);
    peer.send(frameSyncStep1(EMPTY_VECTOR), frameQueryAwareness(), frameSyncStep1(EMPTY_VECTOR));
    expect(await peer.take(3)).toEqual([STEP_1_OF_NOTHING, STEP_2_OF_NOTHING, STEP_2_OF_NOTHING]);
  });

  test('what comes while the document is opened is not lost', async () => {
    const write = author();
    const peer = await RawPeer.open(url('early'));
    open.push(peer);
    const update = write('early');
    peer.send(frameSyncUpdate(update), frameSyncStep1(EMPTY_VECTOR));
    expect(await until(peer, hex(frameSyncUpdate(update)))).toBeDefined();
    expect(await stored('early')).toBe('early');
  });

  test('the present clients are sent on open', async () => {
    const first = client('present');
    first.awareness.setLocalState({ cursor: 3 });
    await first.until(({ isSynced }) => isSynced);
    const peer = await RawPeer.open(url('present'));
    open.push(peer);
    const frame = await until(peer, '01');
    const message = readMessage(Buffer.from(frame, 'hex'));
    const states = message.kind === 'awareness' ? readAwareness(message.states, 10, 1000) : [];
    expect(states).toMatchObject([{ clientId: first.doc.clientID }]);
  });
});

describe('what is durable', () => {
  test('an update is echoed to its sender only after the commit, and published to others at once', async () => {
    const [writer, reader] = [await connect('durable'), await connect('durable')];
    const write = author();
    const first = write('a');
    writer.send(frameSyncUpdate(first));
    expect([await writer.next(), await reader.next()]).toEqual([hex(frameSyncUpdate(first)), hex(frameSyncUpdate(first))]);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let locked: () => void = () => undefined;
    const isLocked = new Promise<void>((resolve) => {
      locked = resolve;
    });
    const holding = easel.sql.begin(async (tx) => {
      await tx`select 1 from artifact where id = ${set.artifactId} for update`;
      locked();
      await released;
    });
    await isLocked;
    const second = write('b');
    writer.send(frameSyncUpdate(second), frameQueryAwareness());
    expect(await reader.next()).toBe(hex(frameSyncUpdate(second)));
    // The frames that the writer has so far do not include the acknowledgement.
    writer.send(frameSyncStep1(EMPTY_VECTOR));
    expect((await writer.next()).startsWith('0001')).toBe(true);
    release();
    await holding;
    expect(await writer.next()).toBe(hex(frameSyncUpdate(second)));
  });

  test('a join while the artifact falls asleep wakes it cleanly, and nothing is doubled', async () => {
    const writer = client('asleep');
    await writer.until(({ isSynced }) => isSynced);
    writer.type('kept');
    const reader = client('asleep');
    await reader.until(({ text }) => text.toString() === 'kept');
    const leaving = easel.runtime.discard(set.artifactId as ArtifactId);
    const late = client('asleep');
    await leaving;
    await late.until(({ text }) => text.toString() === 'kept');
    writer.type('!');
    await Promise.all([late, reader].map((one) => one.until(({ text }) => text.toString() === 'kept!')));
  });

  test('connections are closed with a reconnect code when the artifact leaves memory', async () => {
    const peer = await connect('moved');
    await easel.runtime.discard(set.artifactId as ArtifactId);
    expect((await peer.closed).code).toBe(CLOSE.moved);
  });
});

describe('who may', () => {
  test('a viewer reads and cannot write', async () => {
    const viewer = await another('viewer');
    const writer = client('viewed');
    await writer.until(({ isSynced }) => isSynced);
    writer.type('seen');
    const reader = client('viewed', { token: viewer.token });
    await reader.until(({ text }) => text.toString() === 'seen');
    reader.type(' and changed');
    const peer = await connect('viewed', viewer.token);
    peer.send(frameSyncUpdate(author()('no')), frameSyncStep2(author()('no')), frameSyncStep1(EMPTY_VECTOR));
    expect((await until(peer, '0001')).startsWith('0001')).toBe(true);
    expect(await stored('viewed')).toBe('seen');
  });

  test('anonymous people only where the artifact lets them, and what was open is closed when it does not any more', async () => {
    const shown = await stage(easel, { visibility: 'public' });
    await expect(RawPeer.open(url('anyone', undefined, shown.artifactId).split('?')[0] ?? '')).rejects.toThrow('401');
    await change(easel, shown, { allow_anon_collab: true });
    const visitor = join('y-websocket 3', { baseUrl: easel.baseUrl, artifactId: shown.artifactId, document: 'anyone' });
    open.push(visitor);
    await visitor.until(({ isSynced }) => isSynced);
    visitor.type('hello');
    const owner = client('anyone', { artifactId: shown.artifactId, token: shown.owner.token });
    await owner.until(({ text }) => text.toString() === 'hello');
    await change(easel, shown, { allow_anon_collab: false });
    await visitor.until(({ isConnected }) => !isConnected);
    expect(owner.isConnected).toBe(true);
  });

  test('a token that is revoked closes its socket for good', async () => {
    const made = await easel.fetch('/v1/me/tokens', {
      method: 'POST',
      token: set.owner.token,
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    const { id, token } = (await made.json()) as { id: string; token: string };
    const peer = await connect('revoked', token);
    const gone = await easel.fetch(`/v1/me/tokens/${id}`, { method: 'DELETE', token: set.owner.token });
    expect(gone.status).toBe(200);
    expect((await peer.closed).code).toBe(CLOSE.unauthorized);
    await expect(RawPeer.open(url('revoked', token))).rejects.toThrow('401');
  });

  test('a role that is taken away is felt at once: read only, then not at all; given again, what was left out is asked for', async () => {
    const own = await stage(easel);
    const editor = await collaborator(easel, own, 'editor');
    const peer = await RawPeer.open(url('roles', editor.token, own.artifactId));
    open.push(peer);
    await peer.next();
    const become = async (role: string | null) => {
      await easel.sql.begin(async (tx) => {
        if (role === null) await tx`delete from collaborator where artifact_id = ${own.artifactId}`;
        else await tx`update collaborator set role = ${role} where artifact_id = ${own.artifactId}`;
      });
      // Any change of the artifact also refreshes its collaborators.
      await change(easel, own, { name: `now ${role}` });
      // The earlier notices to the sockets decide.
      await easel.fetch(`/v1/artifacts/${own.artifactId}`, { token: editor.token });
    };
    const write = author();
    const first = write('1');
    peer.send(frameSyncUpdate(first));
    expect(await peer.next()).toBe(hex(frameSyncUpdate(first)));
    await become('viewer');
    peer.send(frameSyncUpdate(write('2')), frameSyncStep1(EMPTY_VECTOR));
    expect(await peer.next()).toBe(hex(frameSyncStep2(first)));
    await become('editor');
    expect((await peer.next()).startsWith('0000')).toBe(true);
    await become(null);
    expect((await peer.closed).code).toBe(CLOSE.gone);
  });
});

describe('refusals are final and cause no reconnect loop (anchors 7)', () => {
  test('an update that is too large: said once, its sender stays and hears the others', async () => {
    const [large, other] = [await connect('oversize'), await connect('oversize')];
    const doc = new Y.Doc();
    doc.getText('text').insert(0, 'x'.repeat(LIMITS.updateBytesMax));
    const update = Y.encodeStateAsUpdate(doc);
    large.send(frameSyncUpdate(update), frameSyncUpdate(update), frameSyncUpdate(author()('small')), frameSyncStep1(EMPTY_VECTOR));
    const [denied, step2] = await large.take(2);
    expect(denied?.startsWith('0200')).toBe(true);
    expect(Buffer.from(denied ?? '', 'hex').toString('latin1')).toContain('DOCUMENT_TOO_LARGE');
    expect(step2).toBe(STEP_2_OF_NOTHING);
    const update2 = author()('heard');
    other.send(frameSyncUpdate(update2));
    expect(await large.next()).toBe(hex(frameSyncUpdate(update2)));
  });

  test('a frame that is too large: its sender is refused for a minute before the upgrade', async () => {
    const peer = await connect('frame');
    peer.send(new Uint8Array(2 * LIMITS.updateBytesMax + 1));
    await peer.closed;
    await expect(RawPeer.open(url('frame'))).rejects.toThrow('413');
    easel.clock.advance(60_000);
    await connect('frame');
  });

  test('frames of garbage and text are refused once and end nothing', async () => {
    const peer = await connect('garbage');
    peer.send(
      'text',
      Uint8Array.of(0, 0, 200),
      Uint8Array.of(0, 2, 3, 1, 2, 3),
      Uint8Array.of(99),
      Uint8Array.of(),
      frameSyncStep1(EMPTY_VECTOR),
    );
    const [denied, step2] = await peer.take(2);
    expect([denied, step2]).toEqual([hex(frameDenied('This protocol has binary frames only.')), STEP_2_OF_NOTHING]);
  });

  test('no malformed frame affects other clients', async () => {
    const other = client('fuzzed');
    await other.until(({ isSynced }) => isSynced);
    other.type('whole');
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 64 }),
            fc.uint8Array({ maxLength: 40 }).map((bytes) => frameSyncUpdate(bytes)),
            fc.uint8Array({ maxLength: 40 }).map((bytes) => frameSyncStep2(bytes)),
            fc.uint8Array({ maxLength: 40 }).map((bytes) => frameSyncStep1(bytes)),
            fc.uint8Array({ maxLength: 40 }).map((bytes) => frameAwareness(bytes)),
            fc.string({ maxLength: 10 }),
          ),
          { minLength: 1, maxLength: 8 },
        ),
        async (frames) => {
          const peer = await RawPeer.open(url('fuzzed'));
          peer.send(...frames, frameSyncStep1(EMPTY_VECTOR));
          await until(peer, '0001');
          peer.close();
        },
      ),
      { numRuns: 60, seed: 4004 },
    );
    expect(await stored('fuzzed')).toBe('whole');
    expect(other.isConnected).toBe(true);
  });
});

describe('who is here', () => {
  const said = (clientId: number, clock: number, state: unknown) =>
    frameAwareness(writeAwareness([{ clientId, clock, json: JSON.stringify(state) }]));

  test('the server stamps the identity; a false one is overwritten, and no client sets the state of another', async () => {
    const viewer = await another('viewer');
    await easel.fetch('/v1/auth/profile', {
      method: 'PATCH',
      token: viewer.token,
      body: '{"name":"Ada"}',
      headers: { 'content-type': 'application/json' },
    });
    const owner = client('stamped');
    await owner.until(({ isSynced }) => isSynced);
    const peer = await connect('stamped', viewer.token);
    peer.send(said(7, 1, { user: { id: set.owner.userId, name: 'The owner', anonymous: true, mood: 'good' }, cursor: 1 }));
    await owner.until(({ others }) => others.length === 1);
    expect(owner.others).toEqual([
      { cursor: 1, user: { color: expect.stringMatching(/^#/), id: viewer.userId, name: 'Ada', kind: 'human', mood: 'good' } },
    ]);
    owner.awareness.setLocalState({ cursor: 9 });
    await until(peer, '01');
    peer.send(
      said(owner.doc.clientID, 1000, { cursor: 'forged' }),
      frameAwareness(writeAwareness([{ clientId: owner.doc.clientID, clock: 1000, json: 'null' }])),
    );
    peer.send(frameQueryAwareness());
    let frame = await until(peer, '01');
    while (!Buffer.from(frame, 'hex').includes('"cursor":9')) frame = await until(peer, '01');
    expect(owner.awareness.getLocalState()).toEqual({ cursor: 9 });
  });

  test('a client that disconnects leaves for the others; a superseded socket that closes late removes nothing (anchors 8)', async () => {
    const watcher = client('superseded');
    await watcher.until(({ isSynced }) => isSynced);
    const [old, fresh] = [await connect('superseded'), await connect('superseded')];
    old.send(said(5, 1, { at: 'old' }));
    await watcher.until(({ others }) => others[0]?.at === 'old');
    fresh.send(said(5, 1, { at: 'old' }));
    fresh.send(said(5, 2, { at: 'new' }));
    await watcher.until(({ others }) => others[0]?.at === 'new');
    old.close();
    await old.closed;
    fresh.send(said(5, 3, { at: 'newer' }));
    await watcher.until(({ others }) => others[0]?.at === 'newer');
    fresh.close();
    await watcher.until(({ others }) => others.length === 0);
  });

  test('a client is removed after 30 s of silence; an idle connection is kept alive', async () => {
    const peer = await connect('quiet');
    peer.send(said(6, 1, { here: true }));
    expect((await peer.next()).startsWith('01')).toBe(true);
    easel.clock.advance(20_000);
    expect(await peer.next()).toBe(hex(frameKeepAlive()));
    easel.clock.advance(20_000);
    const frames = await peer.take(2);
    const gone = hex(frameAwareness(writeAwareness([{ clientId: 6, clock: 1, json: 'null' }])));
    expect(frames.sort()).toEqual([gone, hex(frameKeepAlive())].sort());
  });
});
