/** One valid call of every endpoint. A new endpoint without an example does not compile. */
import { createHash } from 'node:crypto';
import { type EndpointId, endpoints } from '../../protocol/table.ts';
import type { TestEasel, TestUser } from '../support/easel.ts';

export interface ExampleCall {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Becomes JSON; bytes are sent as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a call of an endpoint may need: an owner with a published page, and others who are not the owner. */
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

/** What a client of Yjs makes that inserts "x" into the text `content`. */
const TEXT_UPDATE = Buffer.from('01010100040107636f6e74656e74017800', 'hex');

const UPLOADED = Buffer.from('uploaded');

async function upload(world: World): Promise<{ upload_id: string; sha256: string }> {
  const sha256 = createHash('sha256').update(UPLOADED).digest('hex');
  const body = { name: 'By digest', files_digest: [{ path: 'index.html', sha256 }] };
  const reply = (await (await call(world.easel, world.owner, 'POST', '/v1/publish', body)).json()) as { upload_id: string };
  return { upload_id: reply.upload_id, sha256 };
}

const artifact = ({ artifactId }: World) => ({ params: { id: artifactId } });
const data = ({ artifactId }: World) => ({ params: { artifactId } });
const key = ({ artifactId }: World) => ({ params: { artifactId, key: 'score' } });
const nothing = () => ({});
const table = ({ artifactId }: World) => ({ params: { artifactId, table: 'guests' } });

/** A row of the table `guests`. */
async function row(world: World): Promise<{ params: { artifactId: string; table: string; rowId: string } }> {
  const reply = await call(world.easel, world.owner, 'POST', `/v1/data/${world.artifactId}/tables/guests`, { name: 'Ada', visits: 1 });
  const { data: answer } = (await reply.json()) as { data: { inserted: [{ id: string }] } };
  return { params: { artifactId: world.artifactId, table: 'guests', rowId: answer.inserted[0].id } };
}

export const EXAMPLES: { readonly [I in EndpointId]: (world: World) => ExampleCall | Promise<ExampleCall> } = {
  'operations.openapi': nothing,
  'operations.docs': nothing,
  'operations.docsFile': () => ({ params: { file: 'swagger-ui.css' } }),
  'operations.home': nothing,
  'operations.alive': nothing,
  'operations.ready': nothing,
  'operations.metrics': nothing,
  'realtime.sync': ({ artifactId }) => ({ params: { artifactId, doc: 'notes' } }),
  'realtime.hocuspocus': data,
  'realtime.channels': data,
  'presence.people': data,
  'presence.count': artifact,
  'sdk.script': nothing,
  'sdk.module': nothing,
  'sdk.types': nothing,
  'sdk.documents': nothing,
  'sdk.yjs': nothing,
  'accounts.create': () => ({ body: {} }),
  'accounts.me': nothing,
  'accounts.account': nothing,
  'accounts.profile': nothing,
  'accounts.updateProfile': () => ({ body: { name: 'Somebody', metadata: { a: 1 } } }),
  'tokens.list': () => ({ query: { limit: '10', count: 'true' } }),
  'tokens.create': () => ({ body: { name: 'laptop' } }),
  'tokens.revoke': async ({ easel, owner }) => {
    const made = (await (await call(easel, owner, 'POST', '/v1/me/tokens', {})).json()) as { id: string };
    return { params: { id: made.id } };
  },
  'publish.publish': () => ({ body: { name: 'New', files: page('new') } }),
  'publish.upload': async (world) => ({ params: await upload(world), body: UPLOADED }),
  'artifacts.list': () => ({ query: { limit: '5', count: 'true', favorites: 'false' } }),
  'artifacts.listDeleted': () => ({ query: { count: 'true' } }),
  'artifacts.get': artifact,
  'artifacts.update': (world) => ({ ...artifact(world), body: { name: 'Renamed', social_title: null } }),
  'artifacts.delete': artifact,
  'artifacts.restore': async (world) => {
    await call(world.easel, world.owner, 'DELETE', `/v1/artifacts/${world.artifactId}`);
    return artifact(world);
  },
  'artifacts.export': artifact,
  'artifacts.import': async ({ easel, owner, artifactId }) => {
    const zip = await (await call(easel, owner, 'GET', `/v1/artifacts/${artifactId}/export`)).arrayBuffer();
    return { query: { name: 'Imported' }, body: Buffer.from(zip), headers: { 'content-type': 'application/zip' } };
  },
  'artifacts.favorite': artifact,
  'artifacts.unfavorite': artifact,
  'versions.list': artifact,
  'versions.get': (world) => ({ params: { id: world.artifactId, version: '1' } }),
  'versions.update': (world) => ({ params: { id: world.artifactId, version: world.versionIds[0] ?? '' }, body: { label: 'first' } }),
  'versions.diff': (world) => ({ params: { id: world.artifactId, a: '1', b: '2' } }),
  'versions.files': (world) => ({ ...artifact(world), query: { version: '1' } }),
  'versions.rollback': (world) => ({ ...artifact(world), body: { version_no: 1 } }),
  'versions.pin': (world) => ({ ...artifact(world), body: { version_id: world.versionIds[0] } }),
  'previewLinks.create': (world) => ({ ...artifact(world), body: { version_id: world.versionIds[0] } }),
  'previewLinks.delete': async ({ easel, owner, artifactId, versionIds }) => {
    const path = `/v1/artifacts/${artifactId}/preview-links`;
    const made = (await (await call(easel, owner, 'POST', path, { version_id: versionIds[0] })).json()) as { id: string };
    return { params: { id: artifactId, link: made.id } };
  },
  'json.list': (world) => ({ ...data(world), query: { prefix: 's', values: 'true' } }),
  'json.get': (world) => ({ ...key(world), query: { path: '$.points' } }),
  'json.put': (world) => ({ ...key(world), query: { ttl: '60' }, body: { points: 2 } }),
  'json.patch': (world) => ({ ...key(world), body: { op: 'increment', path: '$.points' } }),
  'json.delete': key,
  'json.deleteAll': (world) => ({ ...data(world), query: { confirm: 'true' } }),
  'comments.list': (world) => ({ ...data(world), query: { parentId: 'root', resolved: 'false', limit: '5' } }),
  'comments.create': (world) => ({
    ...data(world),
    body: {
      content: 'Well said.',
      contextId: 'index.html',
      quote: { exact: 'one' },
      position: { selector: 'p' },
      dueAt: '2026-02-01T00:00:00Z',
    },
  }),
  'comments.deleteResolved': (world) => ({ ...data(world), query: { resolved: 'true', confirm: 'true' } }),
  'comments.get': comment,
  'comments.update': async (world) => ({ ...(await comment(world)), body: { content: 'Better said.', quote: null } }),
  'comments.delete': comment,
  'comments.replies': async (world) => ({ ...(await comment(world)), query: { limit: '5' } }),
  'comments.thread': async (world) => ({ ...(await comment(world)), query: { limit: '5' } }),
  'comments.history': comment,
  'comments.resolve': async (world) => ({ ...(await comment(world)), body: { resolved: true } }),
  'comments.assign': async (world) => ({ ...(await comment(world)), body: { assigneeUserId: world.viewer.userId, dueAt: null } }),
  'comments.react': async (world) => ({ ...(await comment(world)), body: { emoji: '👍' } }),
  'comments.getConfig': data,
  'comments.putConfig': (world) => ({ ...data(world), body: { identityMode: 'named', guestComments: null } }),
  'comments.people': data,
  'comments.unread': data,
  'comments.markRead': (world) => ({ ...data(world), body: { seq: 1 } }),
  'comments.guestStart': async (world) => {
    await letGuests(world);
    return { ...data(world), body: { email: 'gail@example.com', name: 'Gail' } };
  },
  'comments.guestVerify': async (world) => ({ ...data(world), body: { email: 'gail@example.com', code: await guestCode(world) } }),
  'documents.list': data,
  'documents.get': written,
  'documents.write': (world) => ({ params: documentOf(world), body: { ops: [{ op: 'text.append', type: 'content', text: 'Hello' }] } }),
  'documents.delete': written,
  'documents.text': async (world) => ({ ...(await written(world)), query: { type: 'content' } }),
  'documents.state': written,
  'documents.apply': (world) => ({ params: documentOf(world), body: TEXT_UPDATE }),
  'documents.versions': async (world) => ({ ...(await written(world)), query: { limit: '5' } }),
  'documents.makeVersion': async (world) => ({ ...(await written(world)), body: { label: 'first' } }),
  'documents.deleteVersion': async (world) => ({ params: { ...documentOf(world), seq: String(await kept(world)) } }),
  'documents.restore': async (world) => ({ params: documentOf(world), body: { seq: await kept(world) } }),
  'blobs.list': (world) => ({ ...data(world), query: { limit: '5' } }),
  'blobs.create': (world) => ({ ...data(world), ...form('sent in a form') }),
  'blobs.upload': (world) => ({ ...data(world), body: { ...NOTE, size: 4 } }),
  'blobs.put': async (world) => {
    // A page's browser would not let it upload to the store.
    const { tokenId } = await blobUpload(world, { origin: 'http://elsewhere.test' });
    return { params: { artifactId: world.artifactId, tokenId }, body: Buffer.from('sent by token') };
  },
  'blobs.confirm': async (world) => {
    const { tokenId, uploadUrl } = await blobUpload(world, {});
    await fetch(uploadUrl, { method: 'PUT', body: 'sent to the store' });
    return { params: { artifactId: world.artifactId, tokenId } };
  },
  'blobs.storage': data,
  'blobs.get': blob,
  'blobs.delete': blob,
  'blobs.content': blob,
  'blobs.downloadUrl': blob,
  'data.batch': (world) => ({ ...data(world), body: { requests: [{ path: '/json/score' }, { method: 'DELETE', path: '/json/none' }] } }),
  'data.changes': (world) => ({ ...data(world), query: { since: '0', types: 'json,tables' }, headers: { accept: 'application/json' } }),
  'tables.list': data,
  'tables.insert': (world) => ({ ...table(world), query: { onConflict: 'name', merge: 'true' }, body: { rows: [{ name: 'Ada' }] } }),
  'tables.updateMany': async (world) => {
    await row(world);
    return { ...table(world), body: { filter: { visits: { $gte: 1 } }, changes: { visits: 0 } } };
  },
  'tables.deleteMany': async (world) => {
    await row(world);
    return { ...table(world), body: { filter: { name: 'Ada' } } };
  },
  'tables.rows': async (world) => {
    await row(world);
    return {
      ...table(world),
      query: { filter: '{"visits":{"$gte":1}}', sort: '-createdAt,name', fields: 'name', limit: '10', count: 'true' },
    };
  },
  'tables.query': async (world) => {
    await row(world);
    return { ...table(world), body: { filter: { name: 'Ada' }, sort: ['name'], select: ['name', 'visits'], count: true } };
  },
  'tables.count': async (world) => {
    await row(world);
    return { ...table(world), body: { filter: { name: 'Ada' } } };
  },
  'tables.distinct': async (world) => {
    await row(world);
    return { ...table(world), body: { field: 'name' } };
  },
  'tables.aggregate': async (world) => {
    await row(world);
    return { ...table(world), body: { groupBy: ['name'], metrics: [{ fn: 'sum', field: 'visits', as: 'visits' }] } };
  },
  'tables.export': async (world) => {
    await row(world);
    return table(world);
  },
  'tables.import': (world) => ({
    ...table(world),
    body: Buffer.from('name,visits\r\nAda,1\r\n'),
    headers: { 'content-type': 'text/csv' },
  }),
  'tables.getRow': row,
  'tables.patchRow': async (world) => ({ ...(await row(world)), body: { visits: 2 } }),
  'tables.deleteRow': row,
  'tables.getSchema': async (world) => ({ params: (await row(world)).params }),
  'tables.putSchema': async (world) => {
    await row(world);
    return { ...table(world), body: { columns: [{ name: 'name', type: 'string', required: true, indexed: true }] } };
  },
};

function form(text: string): { body: Buffer; headers: Record<string, string> } {
  const head = 'Content-Disposition: form-data; name="file"; filename="note.txt"\r\nContent-Type: text/plain';
  return {
    body: Buffer.from(`--edge\r\n${head}\r\n\r\n${text}\r\n--edge--\r\n`),
    headers: { 'content-type': 'multipart/form-data; boundary=edge' },
  };
}

async function blob({ easel, owner, artifactId }: World): Promise<{ params: { artifactId: string; blobId: string } }> {
  const sent = form('kept');
  const reply = await easel.fetch(`/v1/data/${artifactId}/blobs`, {
    method: 'POST',
    token: owner.token,
    headers: sent.headers,
    body: new Uint8Array(sent.body),
  });
  const made = (await reply.json()) as { data: { id: string } };
  return { params: { artifactId, blobId: made.data.id } };
}

async function blobUpload({ easel, owner, artifactId }: World, headers: Record<string, string>) {
  const reply = await easel.fetch(`/v1/data/${artifactId}/blobs/upload`, {
    method: 'POST',
    token: owner.token,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(NOTE),
  });
  return ((await reply.json()) as { data: { tokenId: string; uploadUrl: string } }).data;
}

/** A comment of the owner. */
async function comment(world: World): Promise<{ params: { artifactId: string; commentId: string } }> {
  const reply = await call(world.easel, world.owner, 'POST', `/v1/data/${world.artifactId}/comments`, { content: 'First.' });
  const { data: made } = (await reply.json()) as { data: { id: string } };
  return { params: { artifactId: world.artifactId, commentId: made.id } };
}

async function letGuests({ easel, owner, artifactId }: World): Promise<void> {
  await call(easel, owner, 'PUT', `/v1/data/${artifactId}/comments/_config`, { guestComments: true });
}

/** The code in the mail that a guest is sent. */
async function guestCode(world: World): Promise<string> {
  const { easel, owner, artifactId } = world;
  await letGuests(world);
  await call(easel, owner, 'POST', `/v1/data/${artifactId}/comments/_guest/start`, { email: 'gail@example.com', name: 'Gail' });
  const [mail] = await easel.sql<{ text_body: string }[]>`select text_body from mail_outbox where artifact_id = ${artifactId}`;
  return mail?.text_body.slice(0, 6) ?? '';
}

const documentOf = ({ artifactId }: World) => ({ artifactId, doc: 'notes' });

/** A document that holds a text. */
async function written(world: World) {
  const { easel, owner, artifactId } = world;
  const body = { ops: [{ op: 'text.insert', type: 'content', index: 0, text: 'Hello' }] };
  await call(easel, owner, 'POST', `/v1/data/${artifactId}/documents/notes`, body);
  return { params: documentOf(world) };
}

/** The seq of a version of it. */
async function kept(world: World): Promise<number> {
  await written(world);
  const reply = await call(world.easel, world.owner, 'POST', `/v1/data/${world.artifactId}/documents/notes/versions`, {});
  return ((await reply.json()) as { data: { seq: number } }).data.seq;
}

const NOTE = { filename: 'note.txt', mimeType: 'text/plain' };

export function pathOf(id: EndpointId, example: ExampleCall): string {
  const path = endpoints[id].path.replace(/\{(\w+)\*?\}/g, (_all, name: string) => encodeURIComponent(example.params?.[name] ?? ''));
  const query = new URLSearchParams(example.query).toString();
  return query === '' ? path : `${path}?${query}`;
}
