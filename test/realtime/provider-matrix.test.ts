import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { temporaryDir } from '../support/database.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { keepablePort } from '../support/ports.ts';
import { startProgram } from '../support/program.ts';
import { describeWith } from '../support/services.ts';
import { publishTargets } from '../support/writers.ts';
import { type Client, type Joining, join, openConnection, PROVIDER_KINDS, type ProviderKind } from './providers.ts';
import { change, collaborator, stage } from './realtime-stage.ts';

const HOCUSPOCUS_KINDS = ['hocuspocus 2', 'hocuspocus 3', 'hocuspocus 4'] as const;
const PAIRS = PROVIDER_KINDS.flatMap((first) => PROVIDER_KINDS.map((second) => [first, second] as const));
const isHocuspocus = (kind: ProviderKind) => kind.startsWith('hocuspocus');

let easel: TestEasel;
const closers: (() => void)[] = [];

beforeAll(async () => {
  easel = await startTestEasel();
});
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});
afterAll(() => easel.close());

function joined(kind: ProviderKind, joining: Omit<Joining, 'baseUrl'> & { readonly baseUrl?: string }): Client {
  const client = join(kind, { baseUrl: easel.baseUrl, ...joining });
  closers.push(() => client.close());
  return client;
}

function connection(kind: (typeof HOCUSPOCUS_KINDS)[number], artifactId: string) {
  const opened = openConnection(kind, { baseUrl: easel.baseUrl, artifactId });
  closers.push(() => opened.close());
  return opened;
}

function docWith(text: string): Y.Doc {
  const doc = new Y.Doc();
  doc.getText('text').insert(0, text);
  return doc;
}

const has =
  (...texts: readonly string[]) =>
  ({ text }: Client) => {
    const whole = text.toString();
    return texts.every((each) => whole.includes(each));
  };

describe('one document, every provider', () => {
  it.each(PAIRS)('%s and %s give each other what they had before and what they type then', async (first, second) => {
    const { artifactId, owner } = await stage(easel);
    const where = { artifactId, document: 'page', token: owner.token };
    const a = joined(first, { ...where, doc: docWith('[a before]') });
    await a.until(({ isSynced }) => isSynced);
    const b = joined(second, { ...where, doc: docWith('[b before]') });
    await Promise.all([a.until(has('[a before]', '[b before]')), b.until(has('[a before]', '[b before]'))]);
    a.type('[a then]');
    b.type('[b then]');
    await Promise.all([a.until(has('[a then]', '[b then]')), b.until(has('[a then]', '[b then]'))]);
    expect(b.text.toString()).toBe(a.text.toString());
    // Nothing was delivered twice.
    expect(a.text.length).toBe('[a before][b before][a then][b then]'.length);
  });

  it('all five see who joins and who leaves', async () => {
    const { artifactId, owner } = await stage(easel);
    const clients = PROVIDER_KINDS.map((kind) => joined(kind, { artifactId, document: 'page', token: owner.token }));
    await Promise.all(clients.map((client) => client.until(({ isSynced }) => isSynced)));
    for (const client of clients) client.awareness.setLocalStateField('cursor', client.kind);
    const cursors = ({ others }: Client) => others.map((state) => state.cursor).sort();
    for (const client of clients) {
      const expected = PROVIDER_KINDS.filter((kind) => kind !== client.kind).sort();
      await client.until((each) => JSON.stringify(cursors(each)) === JSON.stringify(expected));
    }
    const [gone, ...rest] = clients;
    gone?.close();
    for (const client of rest) await client.until(({ others }) => others.length === rest.length - 1);
  });
});

describe('who may only read', () => {
  it.each(PROVIDER_KINDS)('%s gets the edits of others; its own reach nobody, and its connection stays', async (kind) => {
    const set = await stage(easel);
    const viewer = await collaborator(easel, set, 'viewer');
    const where = { artifactId: set.artifactId, document: 'page' };
    const owner = joined('hocuspocus 4', { ...where, token: set.owner.token, doc: docWith('[owner]') });
    const reader = joined(kind, { ...where, token: viewer.token });
    await reader.until(has('[owner]'));
    if (isHocuspocus(kind)) {
      expect(reader.scope).toBe('readonly');
      await reader.until(({ isSaved }) => isSaved);
    }
    reader.type('[reader]');
    owner.type('[more]');
    await reader.until(has('[more]'));
    // The server has handled everything that the reader sent before this.
    reader.awareness.setLocalStateField('cursor', 'after');
    await owner.until(({ others }) => others.some((state) => state.cursor === 'after'));
    expect(owner.text.toString()).toBe('[owner][more]');
    expect(reader.unsynced).toBe(isHocuspocus(kind) ? 1 : undefined);
    expect(reader.opened).toBe(1);
  });
});

describe('who may not', () => {
  it.each(HOCUSPOCUS_KINDS)('%s is refused once and does not reconnect', async (kind) => {
    const { artifactId, owner } = await stage(easel);
    const stranger = await easel.newUser();
    const where = { artifactId, document: 'page' };
    const refused = joined(kind, { ...where, token: stranger.token });
    const guessed = joined(kind, { ...where, token: `so_${'0'.repeat(64)}` });
    await refused.until(({ denials }) => denials.length > 0);
    await guessed.until(({ denials }) => denials.length > 0);
    expect(refused.denials[0]).toMatch(/^ARTIFACT_NOT_FOUND: /);
    expect(guessed.denials[0]).toMatch(/^UNAUTHORIZED: /);
    // Others are served meanwhile; those two get nothing more.
    const allowed = joined(kind, { ...where, token: owner.token });
    await allowed.until(({ isSynced }) => isSynced);
    expect([refused.denials.length, guessed.denials.length, refused.opened, guessed.opened]).toEqual([1, 1, 1, 1]);
  });

  it.each(['y-websocket 2', 'y-websocket 3'] as const)('%s never gets a connection', async (kind) => {
    const { artifactId } = await stage(easel);
    const refused = joined(kind, { artifactId, document: 'page', token: `so_${'0'.repeat(64)}` });
    const failures: unknown[] = [];
    await refused.until(() => failures.push(0) > 3);
    expect(refused.opened).toBe(0);
  });

  it.each(PROVIDER_KINDS)('%s without a token works where everybody may', async (kind) => {
    const { artifactId } = await stage(easel, { visibility: 'public', allow_anon_collab: true });
    const one = joined(kind, { artifactId, document: 'page' });
    const other = joined('y-websocket 3', { artifactId, document: 'page' });
    one.type('[one]');
    await other.until(has('[one]'));
  });

  it.each(HOCUSPOCUS_KINDS)('%s loses a document at once when its access ends, or only the right to write', async (kind) => {
    const set = await stage(easel, { visibility: 'public', allow_anon_collab: true });
    const stranger = await easel.newUser();
    const where = { artifactId: set.artifactId, document: 'page' };
    const client = joined(kind, { ...where, token: stranger.token });
    await client.until(({ scope, isSaved }) => scope === 'read-write' && isSaved);
    await change(easel, set, { allow_anon_collab: false });
    await client.until(({ scope }) => scope === 'readonly');
    client.type('[kept]');
    await change(easel, set, { allow_anon_collab: true });
    // The server asks for the changes that it refused meanwhile.
    const owner = joined('y-websocket 2', { ...where, token: set.owner.token });
    await owner.until(has('[kept]'));
    await change(easel, set, { visibility: 'private' });
    await client.until(({ denials }) => denials.length === 1);
    expect(client.denials[0]).toMatch(/^ARTIFACT_NOT_FOUND/);
    expect(client.opened).toBe(1);
  });
});

describe('what is too large', () => {
  it.each(HOCUSPOCUS_KINDS)(
    '%s: an update over the limit is refused once; the connection stays and goes on to get what others write',
    async (kind) => {
      const { artifactId, owner } = await stage(easel);
      const where = { artifactId, document: 'page', token: owner.token };
      const other = joined('y-websocket 3', where);
      const large = joined(kind, where);
      await large.until(({ isSaved }) => isSaved);
      large.type(randomBytes(4.5 * 1024 * 1024).toString('hex'));
      large.type('[small, after it]');
      other.type('[other]');
      await large.until(has('[other]'));
      large.awareness.setLocalStateField('cursor', 'after');
      await other.until(({ others }) => others.some((state) => state.cursor === 'after'));
      expect(other.text.toString()).toBe('[other]');
      expect(large.unsynced).toBe(2);
      expect(large.opened).toBe(1);
    },
  );
});

describe('several documents on one socket', () => {
  it.each(HOCUSPOCUS_KINDS)('%s: each is one of its own, and leaving one leaves the others', async (kind) => {
    const { artifactId, owner } = await stage(easel);
    const shared = connection(kind, artifactId);
    const names = ['one', 'two', 'three'];
    const clients = names.map((document) => joined(kind, { artifactId, document, token: owner.token, connection: shared }));
    await Promise.all(clients.map((client) => client.until(({ isSynced }) => isSynced)));
    clients.forEach((client, i) => {
      client.type(`[${names[i]}]`);
    });
    for (const document of names) {
      const other = joined('y-websocket 3', { artifactId, document, token: owner.token });
      await other.until(({ text }) => text.toString() === `[${document}]`);
    }
    clients[0]?.leave();
    const two = joined('y-websocket 2', { artifactId, document: 'two', token: owner.token });
    two.type('[later]');
    await clients[1]?.until(has('[later]'));
  });

  it('hocuspocus 4: two providers of one document, told apart by their sessions', async () => {
    const { artifactId, owner } = await stage(easel);
    const shared = connection('hocuspocus 4', artifactId);
    const joining = { artifactId, document: 'page', token: owner.token, connection: shared, isSessionAware: true };
    const a = joined('hocuspocus 4', joining);
    const b = joined('hocuspocus 4', joining);
    const c = joined('hocuspocus 3', { artifactId, document: 'page', token: owner.token });
    for (const client of [a, b, c]) await client.until(({ isSynced }) => isSynced);
    a.type('[a]');
    b.type('[b]');
    c.type('[c]');
    for (const client of [a, b, c]) await client.until(has('[a]', '[b]', '[c]'));
    await a.until(({ isSaved }) => isSaved);
    await b.until(({ isSaved }) => isSaved);
  });
});

describeWith('postgresUrl')('acknowledged means committed', () => {
  it.each(HOCUSPOCUS_KINDS)('%s: others see a change at once, its writer counts it as open until it is durable', async (kind) => {
    const { artifactId, owner } = await stage(easel);
    const where = { artifactId, document: 'page', token: owner.token };
    const writer = joined(kind, where);
    const reader = joined('y-websocket 3', where);
    await writer.until(({ isSaved }) => isSaved);
    await reader.until(({ isSynced }) => isSynced);
    await easel.sql.begin(async (tx) => {
      // The commit waits for this row.
      await tx`select 1 from artifact where id = ${artifactId} for update`;
      writer.type('[held]');
      await reader.until(has('[held]'));
      // Everything that the server sent before the commit has arrived, because it answers in order.
      writer.awareness.setLocalStateField('cursor', 'after');
      await reader.until(({ others }) => others.some((state) => state.cursor === 'after'));
      expect(writer.unsynced).toBe(1);
    });
    await writer.until(({ unsynced }) => unsynced === 0);
    const [row] = await easel.sql`select count(*)::int as n from document_update where artifact_id = ${artifactId}`;
    expect(row?.n).toBeGreaterThan(0);
  });
});

describe('coming back', () => {
  it.each(PROVIDER_KINDS)('%s reconnects after its artifact left memory, with the edits made meanwhile', async (kind) => {
    const { artifactId, owner } = await stage(easel);
    const client = joined(kind, { artifactId, document: 'page', token: owner.token });
    client.type('[before]');
    await client.until(({ isSaved }) => isSaved);
    await easel.runtime.discard(artifactId as never);
    await client.until(({ isConnected }) => !isConnected);
    client.type('[away]');
    await client.until(({ opened, isSaved }) => opened === 2 && isSaved);
    const other = joined('hocuspocus 4', { artifactId, document: 'page', token: owner.token });
    await other.until(({ text }) => text.toString() === '[before][away]');
  });

  it('all five reconnect after a restart of the program', { timeout: 120_000 }, async () => {
    const folder = temporaryDir();
    const settings = { DATA_DIR: folder.path, PORT: String(await keepablePort()) };
    const first = await startProgram(settings);
    const [target] = await publishTargets(first, 1);
    if (target === undefined) throw new Error('nothing was published');
    const clients = PROVIDER_KINDS.map((kind) => joined(kind, { ...target, document: 'page', baseUrl: first.baseUrl }));
    for (const client of clients) client.type(`[${client.kind}]`);
    const whole = PROVIDER_KINDS.map((kind) => `[${kind}]`);
    for (const client of clients) await client.until(has(...whole));
    await first.end('SIGTERM');
    for (const client of clients) {
      await client.until(({ isConnected }) => !isConnected);
      client.type(`<${client.kind}>`);
    }
    const second = await startProgram(settings);
    for (const client of clients) await client.until(has(...whole, ...PROVIDER_KINDS.map((kind) => `<${kind}>`)));
    expect(new Set(clients.map(({ text }) => text.toString())).size).toBe(1);
    for (const close of closers.splice(0)) close();
    await second.end('SIGTERM');
    folder.remove();
  });
});
