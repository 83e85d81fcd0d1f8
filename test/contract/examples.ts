/** Prepares a real service for the examples of `protocol/examples.ts`: creates what a call needs, with its own ids. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Endpoint } from '../../protocol/core/endpoint.ts';
import { EXAMPLE_IDS, type Example } from '../../protocol/core/example.ts';
import { newId } from '../../protocol/core/ids.ts';
import { EXAMPLES } from '../../protocol/examples.ts';
import { type EndpointId, endpoints } from '../../protocol/table.ts';
import { argon2 } from '../../src/features/people/sign-in/password-hasher.ts';
import { atProvider } from '../support/at-provider.ts';
import { Authenticator } from '../support/authenticator.ts';
import type { TestEasel, TestUser } from '../support/easel.ts';
import { codeFor, Visitor } from '../support/visitor.ts';
import { alertArrangements } from './examples-alerts.ts';
import { assetArrangements } from './examples-assets.ts';
import { billingArrangements } from './examples-billing.ts';
import { datasetArrangements } from './examples-datasets.ts';
import { externalArrangements } from './examples-external.ts';
import { importArrangements } from './examples-imports.ts';
import { instanceArrangements } from './examples-instance.ts';
import { jobArrangements } from './examples-jobs.ts';
import { mailArrangements } from './examples-mail.ts';
import { aroundArrangements } from './examples-people-around.ts';
import { skillArrangements } from './examples-skills.ts';
import { supportArrangements } from './examples-support.ts';
import { webhookArrangements } from './examples-webhooks.ts';

export interface ExampleCall {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Becomes JSON; bytes are sent as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The cookies of the owner, where a token is not enough. */
  readonly session?: string;
}

/** An owner with a published artifact, and users with other roles or none. */
export interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly stranger: TestUser;
  readonly editor: TestUser;
  readonly viewer: TestUser;
  /** Private, with two versions and the key `score`. */
  readonly artifactId: string;
  readonly slug: string;
  readonly versionIds: readonly string[];
}

export async function makeWorld(easel: TestEasel): Promise<World> {
  const [owner, stranger, editor, viewer] = await Promise.all([easel.newUser('pro'), easel.newUser(), easel.newUser(), easel.newUser()]);
  const first = await publish(easel, owner, { name: 'Example', files: page('one') });
  const second = await publish(easel, owner, { artifact_id: first.artifact.id, files: page('two') });
  const artifactId = first.artifact.id;
  await easel.sql`
    insert into collaborator (artifact_id, user_id, role, added_at_ms)
    values (${artifactId}, ${editor.userId}, 'editor', 0), (${artifactId}, ${viewer.userId}, 'viewer', 0)`;
  await call(easel, owner, 'PUT', `/v1/data/${artifactId}/json/score`, { points: 1 });
  return {
    easel,
    owner,
    stranger,
    editor,
    viewer,
    artifactId,
    slug: first.deployment.slug,
    versionIds: [first.version.id, second.version.id],
  };
}

function page(text: string): unknown[] {
  return [{ path: 'index.html', content: `<!doctype html><title>${text}</title><p>${text}</p>`, mime: 'text/html', encoding: 'utf8' }];
}

interface Published {
  readonly artifact: { readonly id: string };
  readonly version: { readonly id: string };
  readonly deployment: { readonly slug: string };
}

async function publish(easel: TestEasel, user: TestUser, body: unknown): Promise<Published> {
  return (await (await call(easel, user, 'POST', '/v1/publish', body)).json()) as Published;
}

async function call(easel: TestEasel, user: TestUser, method: string, path: string, body?: unknown): Promise<Response> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const reply = await easel.fetch(path, { method, token: user.token, ...init });
  if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`);
  return reply;
}

/** The Yjs update that inserts "x" into the text `content`. */
const TEXT_UPDATE = Buffer.from('01010100040107636f6e74656e74017800', 'hex');

/** Changes to an endpoint's example. `ids` replace the ids in the example; other members replace the example's member. */
interface Arranged extends ExampleCall {
  readonly ids?: Partial<Readonly<Record<keyof typeof EXAMPLE_IDS, string>>>;
}

/** The example call of an endpoint, with which it succeeds in this world. */
export async function exampleCall(id: EndpointId, world: World): Promise<ExampleCall> {
  const { ids, ...replaced } = (await ARRANGEMENTS[id]?.(world)) ?? {};
  const real = {
    artifact: world.artifactId,
    version: world.versionIds[0],
    user: world.viewer.userId,
    ...ids,
  };
  const { reply: _shown, body, ...example }: Example = EXAMPLES[id];
  const text = Object.entries(EXAMPLE_IDS).reduce(
    (json, [kind, shown]) => json.replaceAll(shown, real[kind as keyof typeof real] ?? shown),
    JSON.stringify({ ...example, body }),
  );
  const call = JSON.parse(text) as ExampleCall;
  const endpoint: Endpoint = endpoints[id];
  const isText = endpoint.body !== undefined && endpoint.body.kind !== 'json' && typeof call.body === 'string';
  return { ...call, ...(isText && { body: Buffer.from(String(call.body)) }), ...formHeaders(endpoint, world), ...replaced };
}

/** A form is taken from a page of the same host. */
function formHeaders({ access, body }: Endpoint, { easel }: World): Pick<ExampleCall, 'headers'> {
  return access.who === 'visitor' && body !== undefined
    ? { headers: { origin: easel.baseUrl, 'content-type': body.types?.[0] ?? '' } }
    : {};
}

/** Mail that was not sent. */
async function mail({ easel }: World): Promise<Arranged> {
  await easel.fetch('/v1/auth/email/start', {
    method: 'POST',
    body: '{"email":"mail@example.com"}',
    headers: { 'content-type': 'application/json' },
  });
  const [sent] = await easel.sql<{ id: string }[]>`select id from mail_outbox limit 1`;
  return { ids: { mail: sent?.id ?? '' } };
}

async function upload({ easel, owner }: World): Promise<Arranged> {
  const { sha256 } = EXAMPLES['publish.upload'].params ?? {};
  const body = { name: 'By digest', files_digest: [{ path: 'index.html', sha256 }] };
  const reply = (await (await call(easel, owner, 'POST', '/v1/publish', body)).json()) as { upload_id: string };
  return { ids: { upload: reply.upload_id } };
}

/** A picture of the live version, whose content is that of a file. */
async function thumbnail({ easel, owner, artifactId, versionIds }: World): Promise<Arranged> {
  const picture = Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1');
  const files = [
    { path: 'picture.webp', content: picture.toString('base64'), encoding: 'base64' },
    ...(page('with a picture') as object[]),
  ];
  const stored = await publish(easel, owner, { name: 'With a picture', files });
  await easel.sql`
    insert into thumbnail (artifact_id, version_id, holder, asked_at_ms, attempts, sha256)
    select ${artifactId}, ${versionIds[1] ?? ''}, ${owner.userId}, 0, 1, f.sha256
    from version_file f where f.version_id = ${stored.version.id} and f.path = 'picture.webp'
    on conflict (artifact_id) do nothing`;
  return {};
}

/** Inserts a row into the table `guests`. */
async function row(world: World): Promise<Arranged> {
  const reply = await call(world.easel, world.owner, 'POST', `/v1/data/${world.artifactId}/tables/guests`, { name: 'Ada', visits: 1 });
  const { data: answer } = (await reply.json()) as { data: { inserted: [{ id: string }] } };
  return { ids: { row: answer.inserted[0].id } };
}

/** A workspace of the owner, in which the viewer is a member and the editor an admin. */
export async function workspace({ easel, owner, editor, viewer }: World): Promise<{ ids: { workspace: string }; slug: string }> {
  const made = (await (await call(easel, owner, 'POST', '/v1/workspaces', { name: 'Maps' })).json()) as { id: string; slug: string };
  const policy = { allowed_domains: ['example.com', 'example.org'], auto_join: true };
  await call(easel, owner, 'PUT', `/v1/workspaces/${made.id}/access-policy`, policy);
  for (const [user, role] of [
    [editor, 'admin'],
    [viewer, 'member'],
  ] as const) {
    await easel.sql`update account set email = ${emailOf(user)} where id = ${user.userId}`;
    await call(easel, owner, 'POST', `/v1/workspaces/${made.id}/members`, { email: emailOf(user), role });
  }
  return { ids: { workspace: made.id }, slug: made.slug };
}

const emailOf = ({ userId }: TestUser) => `${userId}@example.com`;

const inWorkspace = async (world: World): Promise<Arranged> => ({ ids: (await workspace(world)).ids });

/** An open invitation of the workspace. */
async function invitation(world: World): Promise<Arranged> {
  const { ids } = await workspace(world);
  const path = `/v1/workspaces/${ids.workspace}/members/invite`;
  const reply = await call(world.easel, world.owner, 'POST', path, { emails: ['grace@example.com'] });
  const { results } = (await reply.json()) as { results: [{ invite: { id: string } }] };
  return { ids: { ...ids, invite: results[0].invite.id } };
}

const workspaceArrangements = {
  'workspaces.get': inWorkspace,
  'workspaces.update': inWorkspace,
  'workspaces.delete': async (world: World) => {
    const { ids, slug } = await workspace(world);
    return { ids, query: { confirm: slug } };
  },
  // Somebody else's, whose policy admits the owner of this world.
  'workspaces.join': async (world: World) => {
    const { ids } = await workspace({ ...world, owner: world.stranger });
    await world.easel.sql`update account set email = ${emailOf(world.owner)} where id = ${world.owner.userId}`;
    return { ids };
  },
  'workspaces.transfer': inWorkspace,
  'members.list': inWorkspace,
  'members.add': async (world: World) => {
    await world.easel.sql`update account set email = ${emailOf(world.stranger)} where id = ${world.stranger.userId}`;
    return { ...(await inWorkspace(world)), body: { email: emailOf(world.stranger), role: 'member' } };
  },
  'members.update': inWorkspace,
  'members.remove': inWorkspace,
  'invites.create': inWorkspace,
  'invites.list': inWorkspace,
  'invites.resend': invitation,
  'invites.revoke': invitation,
  'invites.claim': async (world: World) => {
    const { ids } = await workspace({ ...world, owner: world.stranger });
    const email = emailOf(world.owner);
    await world.easel.sql`update account set email = ${email} where id = ${world.owner.userId}`;
    await call(world.easel, world.stranger, 'POST', `/v1/workspaces/${ids.workspace}/members/invite`, { emails: [email] });
    const [mail] = await world.easel.sql<{ text_body: string }[]>`
      select text_body from mail_outbox where recipient = ${email} and kind = 'invite' order by created_at_ms desc limit 1`;
    return { ids, body: { code: /[/]invite[/]([a-z0-9-]+)/.exec(mail?.text_body ?? '')?.[1] ?? '' } };
  },
  'accessPolicy.get': inWorkspace,
  'accessPolicy.put': inWorkspace,
  'features.get': inWorkspace,
  'plans.get': inWorkspace,
  'features.update': inWorkspace,
};

async function connection(world: World): Promise<Arranged> {
  const { ids } = await workspace(world);
  const body = { name: 'API', type: 'http', config: { url: 'https://api.example.com' } };
  const reply = await call(world.easel, world.owner, 'POST', `/v1/workspaces/${ids.workspace}/connections`, body);
  return { ids: { ...ids, connection: ((await reply.json()) as { id: string }).id } };
}

/** A workspace with a catalog and a note in it. */
async function catalogEntry(world: World): Promise<Arranged> {
  const { ids } = await withCatalog(world);
  const note = await call(world.easel, world.owner, 'POST', `/v1/workspaces/${ids.workspace}/catalog/entries`, { name: 'Ledger' });
  return { ids: { ...ids, catalogEntry: ((await note.json()) as { id: string }).id } };
}

async function withCatalog(world: World) {
  const { ids } = await withFeature(world);
  await call(world.easel, world.owner, 'POST', `/v1/workspaces/${ids.workspace}/catalog/enable`);
  return { ids };
}

async function withFeature(world: World) {
  const { ids } = await workspace(world);
  const admin = { token: world.easel.adminToken, userId: world.owner.userId };
  await call(world.easel, admin, 'PATCH', `/v1/workspaces/${ids.workspace}/features`, { features: { catalog: true } });
  return { ids };
}

const libraryArrangements = {
  ...importArrangements<World>({ workspace, signedIn }),
  'catalog.list': withCatalog,
  'catalog.enable': withFeature,
  'catalog.disable': withCatalog,
  'catalog.create': withCatalog,
  'catalog.get': catalogEntry,
  'catalog.update': catalogEntry,
  'catalog.delete': catalogEntry,
  'catalog.lineage': catalogEntry,
  'connections.list': inWorkspace,
  'connections.create': inWorkspace,
  // Nothing listens there, which is told.
  'connections.test': async (world: World) => ({
    ...(await inWorkspace(world)),
    body: { type: 'http', config: { url: 'http://127.0.0.1:1' } },
  }),
  'connections.get': connection,
  'connections.update': connection,
  'connections.delete': connection,
  ...skillArrangements(workspace),
  ...billingArrangements<World>(workspace),
};

/** A host outside, which the page may read. */
async function hostOutside({ easel, owner, artifactId }: World): Promise<Arranged> {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/plain').end('sunny'));
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  await call(easel, owner, 'PUT', `/v1/data/${artifactId}/proxy/config`, { hosts: ['127.0.0.1'] });
  return { query: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/weather` } };
}

/** Preparations for the endpoints whose example needs more than the world has. */
const ARRANGEMENTS: { readonly [I in EndpointId]?: (world: World) => Arranged | Promise<Arranged> } = {
  'artifacts.thumbnail': thumbnail,
  'proxy.get': hostOutside,
  'devMail.show': mail,
  'devMail.html': mail,
  'deviceLogin.token': async ({ easel }) => {
    const started = (await (await easel.fetch('/v1/auth/device/start', { method: 'POST' })).json()) as { device_code: string };
    return { body: { device_code: started.device_code } };
  },
  'tokens.revoke': async ({ easel, owner }) => {
    const made = (await (await call(easel, owner, 'POST', '/v1/me/tokens', {})).json()) as { id: string };
    return { ids: { token: made.id } };
  },
  'signIn.signUpVerify': async ({ easel }) => ({ body: { email: 'ada@example.com', code: await mailedCode(easel, 'signIn.signUp') } }),
  'signIn.signUp': freshLimits,
  'signIn.emailStart': freshLimits,
  'signIn.resetStart': freshLimits,
  'linkedAccounts.emailStart': freshLimits,
  'signIn.password': signedUp,
  'signIn.resetFinish': async (world) => {
    await signedUp(world);
    const code = await mailedCode(world.easel, 'signIn.resetStart');
    return { body: { email: 'ada@example.com', code, password: 'eight loud waterfalls' } };
  },
  'signIn.changePassword': ownPassword,
  'signIn.emailVerify': async ({ easel }) => ({ body: { email: 'ada@example.com', code: await mailedCode(easel, 'signIn.emailStart') } }),
  'oidc.callback': async ({ easel }) => {
    const browser = new Visitor(easel, { baseUrl: `http://localhost:${easel.port}` });
    const start = await browser.fetch('/v1/auth/oidc/corp/start');
    // Only some suites have a provider.
    if (start.status === 404) return {};
    const back = new URL(await atProvider(start.headers.get('location') ?? '', 'ada'));
    return { query: Object.fromEntries(back.searchParams), headers: { cookie: browser.cookieHeader } };
  },
  'linkedAccounts.unlink': async (world) => {
    const { easel, owner, editor } = world;
    const { session } = await signedIn(world);
    await easel.sql`update account set person_id = (select person_id from account where id = ${owner.userId}) where id = ${editor.userId}`;
    return { ids: { user: editor.userId }, session };
  },
  'passkeys.registerStart': signedIn,
  'passkeys.registerFinish': async (world) => {
    const { session, body } = await newPasskey(world);
    return { session, body };
  },
  'passkeys.remove': async (world) => {
    const { session } = await signedIn(world);
    const id = newId('passkey');
    await world.easel.sql`
      insert into passkey (id, account_id, credential_id, public_key, counter, transports, name, created_at_ms)
      values (${id}, ${world.owner.userId}, ${id}, ${Buffer.from(id)}, 0, '{}', 'Phone', 0)`;
    return { ids: { passkey: id }, session };
  },
  'passkeys.signInFinish': async (world) => {
    const { authenticator } = await newPasskey(world);
    const start = await world.easel.fetch('/v1/auth/passkey/sign-in/start', { method: 'POST' });
    const { options } = (await start.json()) as { options: { challenge: string } };
    return { body: { credential: authenticator.get(options) } };
  },
  'linkedAccounts.emailVerify': async ({ easel, owner }) => {
    const email = `${owner.userId}@linked.example.com`;
    await easel.sql`delete from rate_window`;
    await call(easel, owner, 'POST', '/v1/auth/link-email/start', { email });
    return { body: { email, code: await codeFor(easel, email) } };
  },
  'sessions.revoke': async ({ easel, owner }) => {
    const id = newId('session');
    await easel.sql`
      insert into session (id, account_id, secret_sha256, cookie, device, address, created_at_ms, last_used_at_ms, ends_at_ms)
      values (${id}, ${owner.userId}, ${Buffer.from(id)}, 'access', 'Firefox', '203.0.113.7', 0, ${easel.clock.nowMs()}, ${easel.clock.nowMs() + 1000})`;
    return { ids: { session: id } };
  },
  ...workspaceArrangements,
  'agentTokens.list': inWorkspace,
  'agentTokens.create': inWorkspace,
  'agentTokens.revoke': async (world) => {
    const { ids } = await workspace(world);
    const path = `/v1/workspaces/${ids.workspace}/agent-tokens`;
    const made = (await (await call(world.easel, world.owner, 'POST', path, { name: 'Old', scopes: ['data:read'] })).json()) as {
      id: string;
    };
    return { ids: { ...ids, token: made.id } };
  },
  'audit.list': inWorkspace,
  'publishPolicy.get': inWorkspace,
  'publishPolicy.update': inWorkspace,
  'publishPolicy.waiting': inWorkspace,
  // Nobody approves their own version.
  'reviews.approve': byAnother,
  'reviews.withdraw': byAnother,
  ...libraryArrangements,
  ...assetArrangements<World>({ call, workspace, form }),
  ...jobArrangements,
  ...webhookArrangements,
  ...instanceArrangements,
  ...alertArrangements,
  ...supportArrangements<World>({ workspace: async (world) => ({ ids: (await workspace(world)).ids }) }),
  ...aroundArrangements,
  ...externalArrangements<World>({ call, workspace }),
  ...mailArrangements<World>({ call, workspace: async (world) => ({ ids: (await workspace(world)).ids }) }),
  'publish.upload': upload,
  'artifacts.restore': async ({ easel, owner, artifactId }) => {
    await call(easel, owner, 'DELETE', `/v1/artifacts/${artifactId}`);
    return {};
  },
  'artifacts.import': async ({ easel, owner, artifactId }) => {
    const zip = await (await call(easel, owner, 'GET', `/v1/artifacts/${artifactId}/export`)).arrayBuffer();
    return { body: Buffer.from(zip), headers: { 'content-type': 'application/zip' } };
  },
  'previewLinks.delete': async ({ easel, owner, artifactId, versionIds }) => {
    const path = `/v1/artifacts/${artifactId}/preview-links`;
    const made = (await (await call(easel, owner, 'POST', path, { version_id: versionIds[0] })).json()) as { id: string };
    return { ids: { previewLink: made.id } };
  },
  'folders.list': inWorkspace,
  'folders.create': inWorkspace,
  'context.get': inWorkspace,
  'context.put': inWorkspace,
  'context.patch': inWorkspace,
  'folders.byPath': teamFolder,
  'folders.get': teamFolder,
  'folders.update': teamFolder,
  'folders.delete': teamFolder,
  'folders.move': async (world) => {
    const { ids } = await teamFolder(world);
    await call(world.easel, world.owner, 'PATCH', `/v1/artifacts/${world.artifactId}`, { workspace_id: ids.workspace });
    return { ids };
  },
  'personalFolders.get': personalFolder,
  'personalFolders.update': personalFolder,
  'personalFolders.delete': personalFolder,
  'personalFolders.file': personalFolder,
  'comments.get': comment,
  'comments.update': comment,
  'comments.delete': comment,
  'comments.replies': comment,
  'comments.thread': comment,
  'comments.history': comment,
  'comments.resolve': comment,
  'comments.assign': comment,
  'comments.react': comment,
  'comments.guestStart': letGuests,
  'comments.guestVerify': async (world) => ({ body: { email: 'gail@example.com', code: await guestCode(world) } }),
  'documents.get': written,
  'documents.delete': written,
  'documents.text': written,
  'documents.state': written,
  'documents.apply': () => ({ body: TEXT_UPDATE }),
  'documents.versions': written,
  'documents.makeVersion': written,
  'documents.deleteVersion': async (world) => ({ params: { artifactId: world.artifactId, doc: 'notes', seq: String(await kept(world)) } }),
  'documents.restore': async (world) => ({ body: { seq: await kept(world) } }),
  'blobs.create': () => form('sent in a form'),
  'blobs.put': async (world) => {
    // The store does not allow uploads from this origin, so the token is for an upload through the service.
    const { tokenId } = await blobUpload(world, { origin: 'http://elsewhere.test' });
    return { ids: { upload: tokenId } };
  },
  'blobs.confirm': async (world) => {
    const { tokenId, uploadUrl } = await blobUpload(world, {});
    await fetch(uploadUrl, { method: 'PUT', body: 'sent to the store' });
    return { ids: { upload: tokenId } };
  },
  'blobs.get': blob,
  'blobs.delete': blob,
  'blobs.content': blob,
  'blobs.downloadUrl': blob,
  ...datasetArrangements,
  'data.changes': () => ({ headers: { accept: 'application/json' } }),
  'tables.updateMany': row,
  'tables.deleteMany': row,
  'tables.rows': row,
  'tables.query': row,
  'tables.count': row,
  'tables.distinct': row,
  'tables.aggregate': row,
  'tables.export': row,
  'tables.import': () => ({ headers: { 'content-type': 'text/csv' } }),
  'tables.getRow': row,
  'tables.patchRow': row,
  'tables.deleteRow': row,
  'tables.getSchema': row,
  'tables.putSchema': row,
};

/** Runs the example that sends a code, and reads it from the mail. */
async function mailedCode(easel: TestEasel, id: 'signIn.signUp' | 'signIn.resetStart' | 'signIn.emailStart'): Promise<string> {
  // All examples have one address and one network.
  await easel.sql`delete from rate_window`;
  const reply = await new Visitor(easel).post(endpoints[id].path, EXAMPLES[id].body);
  if (reply.status !== 202) throw new Error(`${id} answered ${reply.status}: ${await reply.text()}`);
  return codeFor(easel, 'ada@example.com');
}

async function freshLimits({ easel }: World): Promise<Arranged> {
  await easel.sql`delete from rate_window`;
  return {};
}

/** Another example may have signed this address up. */
async function signedUp({ easel }: World): Promise<Arranged> {
  await easel.sql`delete from sign_in where subject = 'ada@example.com'`;
  const code = await mailedCode(easel, 'signIn.signUp');
  const reply = await easel.fetch('/v1/auth/password/sign-up/verify', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com', code }),
  });
  if (!reply.ok) throw new Error(`sign-up answered ${reply.status}: ${await reply.text()}`);
  return {};
}

/** The owner in a browser, with an e-mail address. */
async function signedIn(world: World): Promise<Arranged & { readonly session: string }> {
  await ownPassword(world);
  const browser = new Visitor(world.easel);
  await browser.post('/v1/auth/password/sign-in', { email: `${world.owner.userId}@example.com`, password: OWN_PASSWORD });
  return { session: browser.cookieHeader };
}

/** A registered passkey of the owner, and the body that would register one more. */
async function newPasskey(world: World) {
  const { easel } = world;
  const { session } = await signedIn(world);
  const authenticator = new Authenticator(`http://localhost:${easel.port}`);
  const headers = { cookie: session, origin: easel.baseUrl, 'content-type': 'application/json' };
  const begin = async () => {
    const reply = await easel.fetch('/v1/auth/passkeys/register/start', { method: 'POST', body: '{}', headers });
    return ((await reply.json()) as { options: { challenge: string; rp: { id: string } } }).options;
  };
  const body = JSON.stringify({ credential: authenticator.create(await begin()) });
  await easel.fetch('/v1/auth/passkeys/register/finish', { method: 'POST', body, headers });
  const another = new Authenticator(`http://localhost:${easel.port}`);
  return { session, authenticator, body: { credential: another.create(await begin()), name: 'Phone' } };
}

/** That of the example. */
const OWN_PASSWORD = 'seven quiet rivers';

/** Gives the owner an e-mail address with the example's password. */
async function ownPassword({ easel, owner }: World): Promise<Arranged> {
  const email = `${owner.userId}@example.com`;
  await easel.sql`
    insert into sign_in (account_id, provider, issuer, subject, email, email_proved, password_hash, linked_at_ms, last_used_at_ms)
    values (${owner.userId}, 'email', '', ${email}, ${email}, true, ${await argon2.hash(OWN_PASSWORD)}, 0, 0)`;
  return {};
}

/** Makes the editor the author of the first version. */
async function byAnother({ easel, editor, versionIds }: World): Promise<Arranged> {
  await easel.sql`update artifact_version set author_id = ${editor.userId} where id = ${versionIds[0] ?? ''}`;
  return {};
}

async function teamFolder(world: World): Promise<{ ids: { workspace: string; folder: string } }> {
  const { ids } = await workspace(world);
  const reply = await call(world.easel, world.owner, 'POST', `/v1/workspaces/${ids.workspace}/folders`, { name: 'Plans' });
  return { ids: { ...ids, folder: ((await reply.json()) as { id: string }).id } };
}

async function personalFolder({ easel, owner }: World): Promise<Arranged> {
  const reply = await call(easel, owner, 'POST', '/v1/folders', { name: 'Drafts' });
  return { ids: { folder: ((await reply.json()) as { id: string }).id } };
}

function form(text: string): { body: Buffer; headers: Record<string, string> } {
  const head = 'Content-Disposition: form-data; name="file"; filename="note.txt"\r\nContent-Type: text/plain';
  return {
    body: Buffer.from(`--edge\r\n${head}\r\n\r\n${text}\r\n--edge--\r\n`),
    headers: { 'content-type': 'multipart/form-data; boundary=edge' },
  };
}

async function blob({ easel, owner, artifactId }: World): Promise<Arranged> {
  const sent = form('kept');
  const reply = await easel.fetch(`/v1/data/${artifactId}/blobs`, {
    method: 'POST',
    token: owner.token,
    headers: sent.headers,
    body: new Uint8Array(sent.body),
  });
  const made = (await reply.json()) as { data: { id: string } };
  return { ids: { blob: made.data.id } };
}

async function blobUpload({ easel, owner, artifactId }: World, headers: Record<string, string>) {
  const reply = await easel.fetch(`/v1/data/${artifactId}/blobs/upload`, {
    method: 'POST',
    token: owner.token,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ filename: 'note.txt', mimeType: 'text/plain' }),
  });
  return ((await reply.json()) as { data: { tokenId: string; uploadUrl: string } }).data;
}

/** Writes a comment as the owner. */
async function comment(world: World): Promise<Arranged> {
  const reply = await call(world.easel, world.owner, 'POST', `/v1/data/${world.artifactId}/comments`, { content: 'First.' });
  const { data: made } = (await reply.json()) as { data: { id: string } };
  return { ids: { comment: made.id } };
}

async function letGuests({ easel, owner, artifactId }: World): Promise<Arranged> {
  await call(easel, owner, 'PUT', `/v1/data/${artifactId}/comments/_config`, { guestComments: true });
  return {};
}

/** Starts the sign-in of a guest and reads the code from the mail. */
async function guestCode(world: World): Promise<string> {
  const { easel, owner, artifactId } = world;
  await letGuests(world);
  await call(easel, owner, 'POST', `/v1/data/${artifactId}/comments/_guest/start`, { email: 'gail@example.com', name: 'Gail' });
  const [mail] = await easel.sql<{ text_body: string }[]>`select text_body from mail_outbox where artifact_id = ${artifactId}`;
  return mail?.text_body.slice(0, 6) ?? '';
}

/** Writes a text into the document `notes`. */
async function written({ easel, owner, artifactId }: World): Promise<Arranged> {
  const body = { ops: [{ op: 'text.insert', type: 'content', index: 0, text: 'Hello' }] };
  await call(easel, owner, 'POST', `/v1/data/${artifactId}/documents/notes`, body);
  return {};
}

/** Makes a version of that document and answers its seq. */
async function kept(world: World): Promise<number> {
  await written(world);
  const reply = await call(world.easel, world.owner, 'POST', `/v1/data/${world.artifactId}/documents/notes/versions`, {});
  return ((await reply.json()) as { data: { seq: number } }).data.seq;
}

export function pathOf(id: EndpointId, example: ExampleCall): string {
  const path = endpoints[id].path.replace(/\{(\w+)\*?\}/g, (_all, name: string) => encodeURIComponent(example.params?.[name] ?? ''));
  const query = new URLSearchParams(example.query).toString();
  return query === '' ? path : `${path}?${query}`;
}
