/** Found 2: what was revoked is over within a second, whatever is open with it, and nothing further is read or written through it. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newId, type WorkspaceId } from '../../../protocol/core/ids.ts';
import { person } from '../../features/workspaces/workspace-stage.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../support/easel.ts';
import { wire } from '../../support/page-requests.ts';
import { json, patch, post, published } from '../../support/requests.ts';
import { codeFor, ok, Visitor } from '../../support/visitor.ts';
import { moveInto, newAgent } from '../../support/workspaces.ts';
import { AFTERWARDS, BLOB_BYTES, eventsOf, INTRUDER, type Opener, type OpenThing, THINGS, type ThingName } from './open-things.ts';

/** What was revoked is over within a second. */
const OVER_WITHIN_MS = 1000;
/** Five times that, because the machine may be busy; shorter than the time after which the edge drops a reader that does not read. */
const MARGIN_MS = 5 * OVER_WITHIN_MS;
/** Shorter than any deadline of a body or of a socket without credentials, so that none of these ends a thing instead. */
const LIFE_MS = 5000;
const COLD = 'cold-value';
const COLD_KEY = 'cold';
const PASSWORD = 'open sesame';

interface Scene {
  readonly owner: TestUser;
  readonly artifactId: string;
  readonly slug: string;
}

interface Cause {
  readonly settings: object;
  /** The headers of the caller whose access ends. */
  caller(scene: Scene): Promise<Readonly<Record<string, string>>>;
  happen(scene: Scene, caller: Readonly<Record<string, string>>): Promise<void>;
}

let easel: TestEasel;
const open: OpenThing[] = [];
beforeAll(async () => {
  easel = await startTestEasel({ settings: { TRUST_PROXY: 'true' } });
});
afterEach(() => {
  for (const thing of open.splice(0)) thing.close();
});
afterAll(() => easel.close());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function change({ owner, artifactId }: Scene, settings: object): Promise<void> {
  const reply = await easel.fetch(`/v1/artifacts/${artifactId}`, { token: owner.token, ...patch(settings) });
  if (reply.status !== 200) throw new Error(`${reply.status}: ${await reply.text()}`);
}

async function editor({ owner, artifactId }: Scene): Promise<TestUser> {
  const user = await person(easel, 'ed');
  const body = { emails: [user.email], role: 'editor' };
  await ok(easel.fetch(`/v1/artifacts/${artifactId}/collaborators`, { token: owner.token, ...post(body) }));
  return user;
}

/** The path of the editor among the collaborators. */
function collaborator({ artifactId }: Scene, caller: Readonly<Record<string, string>>): string {
  return `/v1/artifacts/${artifactId}/collaborators/${editorOf(caller).userId}`;
}

/** A second token of the editor, so that the first still lists and revokes it. */
async function secondToken(user: TestUser, body: object = {}): Promise<string> {
  return (await json(await easel.fetch('/v1/me/tokens', { token: user.token, ...post(body) }))).token;
}

const editors = new Map<string, TestUser>();

async function editorsToken(scene: Scene, body: object = {}) {
  const user = await editor(scene);
  const token = await secondToken(user, body);
  editors.set(token, user);
  return bearer(token);
}

function editorOf({ authorization = '' }: Readonly<Record<string, string>>): TestUser {
  const user = editors.get(authorization.slice('Bearer '.length));
  if (user === undefined) throw new Error('this caller is no editor');
  return user;
}

/** A guest as the verified code of a mail makes one. Codes have a limit by address that the tests would reach. */
async function guestToken({ artifactId }: Scene): Promise<string> {
  const token = `sog_${randomBytes(32).toString('hex')}`;
  await easel.sql`
    insert into comment_guest (id, artifact_id, email, name, token_id, token_sha256, created_at_ms, expires_at_ms)
    values (${newId('guest')}, ${artifactId}, 'gail@example.com', 'Gail', ${newId('token')},
      ${createHash('sha256').update(token).digest()}, ${easel.clock.nowMs()}, ${easel.clock.nowMs() + LIFE_MS})`;
  return token;
}

/** A visitor who has entered the password, with the cookie of the page's own host. */
async function visitor({ slug }: Scene) {
  const { host, origin } = new URL(easel.contentUrl(slug));
  const form = new URLSearchParams({ password: PASSWORD, to: '/' }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(form.length) };
  const entered = await wire(easel.port, host, '/_easel/unlock', { method: 'POST', headers, body: form });
  const cookie = [entered.headers['set-cookie']].flat()[0]?.split(';')[0] ?? '';
  return { host, origin, cookie };
}

const workspaces = new Map<string, WorkspaceId>();
const admins = new Map<string, TestUser>();
const folders = new Map<string, string>();
const twins = new Map<string, { readonly twin: TestUser; readonly email: string }>();

/** Puts the artifact into a workspace of its owner, whose members see it. */
async function shared({ owner, artifactId }: Scene, isOwned = false): Promise<WorkspaceId> {
  const { id } = await json(await easel.fetch('/v1/workspaces', { token: owner.token, ...post({ name: 'Ours' }) }));
  await moveInto(easel, owner, artifactId, id, { isOwned });
  workspaces.set(artifactId, id);
  return id;
}

function workspaceOf({ artifactId }: Scene): WorkspaceId {
  const id = workspaces.get(artifactId);
  if (id === undefined) throw new Error('this artifact is in no workspace');
  return id;
}

async function agentIn(workspaceId: WorkspaceId) {
  return bearer((await newAgent(easel, workspaceId, ['artifacts:read', 'data:read', 'data:write'])).token);
}

let callers = 0;
/** Each caller at an address of its own, so that the limits of one network do not meet. */
function nextAddress(): string {
  callers += 1;
  return `198.51.100.${callers}`;
}

/** Makes the address a sign-in of the account, which joins it to whoever has proved it before. */
async function proveAddress(token: string, email: string): Promise<void> {
  const send = (path: string, body: object) => {
    const { headers, ...request } = post(body);
    return easel.fetch(path, { ...request, headers: { ...headers, ...bearer(token), 'x-forwarded-for': nextAddress() } });
  };
  easel.clock.advance(1);
  await ok(send('/v1/auth/link-email/start', { email }));
  await ok(send('/v1/auth/link-email/verify', { email, code: await codeFor(easel, email) }));
}

const EVERYBODY = { visibility: 'public', allow_anon_write: true, allow_anon_collab: true };
const HIDDEN = { visibility: 'private' };

const CAUSES = {
  'token revoked': {
    settings: HIDDEN,
    caller: (scene) => editorsToken(scene),
    happen: async (_scene, caller) => {
      const { token } = editorOf(caller);
      const { tokens } = await json(await easel.fetch('/v1/me/tokens', { token }));
      const other = tokens.find((one: { current: boolean }) => !one.current);
      expect((await easel.fetch(`/v1/me/tokens/${other.id}`, { token, method: 'DELETE' })).status).toBe(200);
    },
  },
  'token expired': {
    settings: HIDDEN,
    caller: (scene) => editorsToken(scene, { expires_at: new Date(easel.clock.nowMs() + LIFE_MS).toISOString() }),
    happen: async () => easel.clock.advance(LIFE_MS),
  },
  'role lowered': {
    settings: HIDDEN,
    caller: (scene) => editorsToken(scene),
    happen: async (scene, caller) => {
      await ok(easel.fetch(collaborator(scene, caller), { token: scene.owner.token, ...patch({ role: 'viewer' }) }));
    },
  },
  'collaborator removed': {
    settings: HIDDEN,
    caller: (scene) => editorsToken(scene),
    happen: async (scene, caller) => {
      await ok(easel.fetch(collaborator(scene, caller), { token: scene.owner.token, method: 'DELETE' }));
    },
  },
  'visibility changed': { settings: EVERYBODY, caller: async () => ({}), happen: (scene) => change(scene, HIDDEN) },
  'password changed': {
    settings: { visibility: 'password', password: PASSWORD, allow_anon_collab: true },
    caller: visitor,
    happen: (scene) => change(scene, { password: 'another one' }),
  },
  'artifact trashed': {
    settings: HIDDEN,
    caller: (scene) => editorsToken(scene),
    happen: async ({ owner, artifactId }) => {
      expect((await easel.fetch(`/v1/artifacts/${artifactId}`, { token: owner.token, method: 'DELETE' })).status).toBe(200);
    },
  },
  'guest ended': {
    settings: EVERYBODY,
    caller: async (scene) => bearer(await guestToken(scene)),
    happen: async () => easel.clock.advance(LIFE_MS),
  },
} as const satisfies Record<string, Cause>;

/** Facts about whom or what somebody belongs to. */
const BELONGING = {
  'agent token revoked': {
    settings: HIDDEN,
    caller: async (scene) => agentIn(await shared(scene)),
    happen: async (scene) => {
      const at = `/v1/workspaces/${workspaceOf(scene)}/agent-tokens`;
      const { agent_tokens: tokens } = await json(await easel.fetch(at, { token: scene.owner.token }));
      expect((await easel.fetch(`${at}/${tokens[0].id}`, { token: scene.owner.token, method: 'DELETE' })).status).toBe(200);
    },
  },
  'member removed': {
    settings: HIDDEN,
    caller: async (scene) => {
      const admin = await person(easel, 'adam');
      const path = `/v1/workspaces/${await shared(scene, true)}/members`;
      await ok(easel.fetch(path, { token: scene.owner.token, ...post({ email: admin.email, role: 'admin' }) }), 201);
      admins.set(scene.artifactId, admin);
      return bearer(admin.token);
    },
    happen: async (scene) => {
      const path = `/v1/workspaces/${workspaceOf(scene)}/members/${admins.get(scene.artifactId)?.userId}`;
      expect((await easel.fetch(path, { token: scene.owner.token, method: 'DELETE' })).status).toBe(200);
    },
  },
  'folder made private': {
    settings: HIDDEN,
    caller: async (scene) => {
      const workspaceId = await shared(scene);
      const { token } = scene.owner;
      const folder = await json(await easel.fetch(`/v1/workspaces/${workspaceId}/folders`, { token, ...post({ name: 'Plans' }) }));
      const move = `/v1/workspaces/${workspaceId}/artifacts/${scene.artifactId}/move`;
      expect((await easel.fetch(move, { token, ...post({ folder_id: folder.id }) })).status).toBe(200);
      folders.set(scene.artifactId, folder.id);
      return agentIn(workspaceId);
    },
    happen: async (scene) => {
      const path = `/v1/workspaces/${workspaceOf(scene)}/folders/${folders.get(scene.artifactId)}`;
      expect((await easel.fetch(path, { token: scene.owner.token, ...patch({ visibility: 'private' }) })).status).toBe(200);
    },
  },
  'account unlinked': {
    settings: HIDDEN,
    caller: async (scene) => {
      const twin = await easel.newUser();
      const email = `${scene.slug}@example.com`;
      for (const { token } of [scene.owner, twin]) await proveAddress(token, email);
      twins.set(scene.artifactId, { twin, email });
      return bearer(twin.token);
    },
    happen: async ({ artifactId }) => {
      const { twin, email } = twins.get(artifactId) ?? {};
      const session = new Visitor(easel, { address: nextAddress() });
      await session.signInByCode(email ?? '');
      await ok(session.fetch(`/v1/auth/linked-accounts/${twin?.userId}`, { method: 'DELETE' }));
    },
  },
} as const satisfies Record<string, Cause>;

const ALL = { ...CAUSES, ...BELONGING } as const;

type CauseName = keyof typeof ALL;

/** Combinations that cannot exist. */
const NONE: Partial<Record<CauseName, Partial<Record<ThingName, string>>>> = {
  'password changed': { 'streamed upload': 'a pass opens nothing for writing' },
  'visibility changed': { 'hocuspocus socket without a document': 'a connection without a credential holds no access; see below' },
};

/** Where the caller may still read, the thing stays and only its right to write ends. */
const READS_ON: Partial<Record<CauseName, readonly ThingName[]>> = {
  'role lowered': [
    'y-websocket socket',
    'hocuspocus socket with a document',
    'hocuspocus socket without a document',
    'channels socket',
    'stream of events',
    'streamed answer',
  ],
};

/** These cannot be seen to be over before they go on: a reader who does not read, and a call that waits. */
const SEEN_BY_USE: readonly ThingName[] = ['streamed answer', 'queued turn'];

/**
 * What is open of the same caller beside a queued turn. The access of both is decided again together, a few milliseconds after the change: when
 * this is over, the turn has been decided too.
 */
const WITNESS: Partial<Record<CauseName, ThingName>> = { 'password changed': 'channels socket' };

async function setting(cause: Cause, thing: ThingName): Promise<{ readonly scene: Scene; readonly opener: Opener }> {
  // Public artifacts need a paid tier.
  const owner = await easel.newUser('team');
  const { id: artifactId, slug } = await published(easel, owner);
  const scene = { owner, artifactId, slug };
  await change(scene, cause.settings);
  let blobId = '';
  if (thing === 'streamed answer') {
    const form = new FormData();
    form.set('file', new Blob([Buffer.alloc(BLOB_BYTES, 'x')], { type: 'text/plain' }), 'large.txt');
    const made = await easel.fetch(`/v1/data/${artifactId}/blobs`, { token: owner.token, method: 'POST', body: form });
    blobId = (await json(made)).data.id;
  }
  if (thing === 'queued turn') {
    const value = { text: COLD, more: 'x'.repeat(10_000) };
    await easel.fetch(`/v1/data/${artifactId}/json/${COLD_KEY}`, { token: owner.token, ...post(value), method: 'PUT' });
  }
  const headers = await cause.caller(scene);
  if (thing === 'queued turn') {
    // Loaded again without the large value, which its readers wait for.
    await easel.runtime.discard(artifactId as Parameters<typeof easel.runtime.discard>[0]);
    await easel.fetch(`/v1/data/${artifactId}/json/nothing`, { token: owner.token });
  }
  return { scene, opener: { easel, artifactId, headers, coldKey: COLD_KEY, blobId } };
}

/** What the owner writes when the access of the other has ended. */
async function writeAfterwards({ owner, artifactId }: Scene): Promise<void> {
  const { token } = owner;
  await easel.fetch(`/v1/data/${artifactId}/json/${AFTERWARDS}`, { token, ...post({ text: AFTERWARDS }), method: 'PUT' });
  const ops = [{ op: 'text.insert', type: 'text', index: 0, text: AFTERWARDS }];
  const reply = await easel.fetch(`/v1/data/${artifactId}/documents/shared`, { token, ...post({ ops }) });
  if (reply.status >= 300) throw new Error(`${reply.status}: ${await reply.text()}`);
}

/** All that is stored of the artifact, as text. */
async function stored({ owner: { token }, artifactId }: Scene): Promise<string> {
  const read = async (path: string) => (await easel.fetch(`/v1/data/${artifactId}${path}`, { token })).text();
  return [await read('/json?values=true'), await read('/documents/shared'), await read('/blobs')].join('\n');
}

/** Settles when no request but the one that asks is open. */
async function noRequestIsOpen(): Promise<void> {
  await expect
    .poll(async () => /^easel_requests_open (\S+)$/m.exec(await (await easel.fetch('/metrics')).text())?.[1], { timeout: MARGIN_MS })
    .toBe('1');
}

async function within<T>(done: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not over: ${what}`)), MARGIN_MS);
  });
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}

const PRODUCT = (Object.keys(ALL) as CauseName[]).flatMap((cause) =>
  (Object.keys(THINGS) as ThingName[])
    .filter((thing) => NONE[cause]?.[thing] === undefined)
    .map((thing) => ({ cause, thing, readsOn: READS_ON[cause]?.includes(thing) === true })),
);

describe('of a caller whose access has ended', () => {
  test.each(PRODUCT.filter(({ readsOn }) => !readsOn))('$cause: the $thing is over', async ({ cause, thing }) => {
    const { scene, opener } = await setting(ALL[cause], thing);
    const witness = thing === 'queued turn' ? await THINGS[WITNESS[cause] ?? 'streamed upload'](opener) : undefined;
    const opened = await THINGS[thing](opener);
    open.push(opened, ...(witness === undefined ? [] : [witness]));
    await ALL[cause].happen(scene, opener.headers);
    easel.clock.advance(OVER_WITHIN_MS);
    if (thing === 'streamed answer') await noRequestIsOpen();
    if (witness !== undefined) await within(witness.over, `the witness after ${cause}`);
    if (SEEN_BY_USE.includes(thing)) opened.use();
    const code = await within(opened.over, `${thing} after ${cause}`);
    if (cause === 'artifact trashed') {
      const { owner, artifactId } = scene;
      expect((await easel.fetch(`/v1/artifacts/${artifactId}/restore`, { token: owner.token, method: 'POST' })).status).toBe(200);
    }
    await writeAfterwards(scene);
    opened.use();
    expect(await stored(scene)).not.toContain(INTRUDER);
    expect(opened.received).not.toContain(AFTERWARDS);
    expect(opened.received).not.toContain(COLD);
    // A stream of events ends as if it were complete, and its reader is refused when it comes back.
    if (thing !== 'stream of events') expect(code).not.toBe(200);
  });
});

describe('of a caller who may still read', () => {
  test.each(PRODUCT.filter(({ readsOn }) => readsOn))('$cause: the $thing goes on without the right to write', async ({ cause, thing }) => {
    const { scene, opener } = await setting(ALL[cause], thing);
    const opened = await THINGS[thing](opener);
    open.push(opened);
    await ALL[cause].happen(scene, opener.headers);
    easel.clock.advance(OVER_WITHIN_MS);
    await writeAfterwards(scene);
    opened.use();
    if (thing === 'streamed answer') expect(await within(opened.over, thing)).toBe(200);
    else await expect.poll(() => opened.received, { timeout: MARGIN_MS }).toContain(AFTERWARDS);
    expect(await stored(scene)).not.toContain(INTRUDER);
  });
});

test('an anonymous connection without a document holds no access: after the page went private its frames open nothing', async () => {
  const { scene, opener } = await setting(CAUSES['visibility changed'], 'hocuspocus socket without a document');
  const opened = await THINGS['hocuspocus socket without a document'](opener);
  open.push(opened);
  await CAUSES['visibility changed'].happen(scene);
  await writeAfterwards(scene);
  opened.use();
  await expect.poll(() => opened.received, { timeout: MARGIN_MS }).toContain('ARTIFACT_NOT_FOUND');
  expect(opened.received).not.toContain(AFTERWARDS);
  expect(await stored(scene)).not.toContain(INTRUDER);
});

test('a stream of comments ends when the owner turns comments off', async () => {
  const owner = await easel.newUser('team');
  const { id: artifactId } = await published(easel, owner);
  const scene = { owner, artifactId, slug: '' };
  await change(scene, EVERYBODY);
  const comments = `/v1/data/${artifactId}/comments`;
  const opened = await eventsOf({ easel, artifactId, headers: {}, coldKey: '', blobId: '' }, 'comments');
  open.push(opened);
  const off = await easel.fetch(`${comments}/_config`, { token: owner.token, ...post({ enabled: false }), method: 'PUT' });
  expect(off.status).toBe(200);
  await within(opened.over, 'the stream of comments');
});
