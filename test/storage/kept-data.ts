/** Fills an installation with data of every kind, and reads all of it back through the API. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { WireAnswer } from '../support/page-requests.ts';
import type { ApiCall, Installation } from './installation.ts';

/** What is needed to read the data back. It is stored with the data and read by later versions of these tests, so members are only added. */
export const keptData = z.object({
  /** Unix ms after the last change. */
  nowMs: z.number(),
  tokens: z.object({ admin: z.string(), owner: z.string(), editor: z.string(), revoked: z.string(), guest: z.string() }),
  site: z.object({ id: z.string(), slug: z.string(), previewUrl: z.string() }),
  locked: z.object({ id: z.string(), slug: z.string(), password: z.string() }),
  imported: z.string(),
  trashed: z.string(),
  blob: z.string(),
  thread: z.string(),
  /** A call that was made with an idempotency key. */
  repeated: z.object({ key: z.string(), body: z.unknown(), answer: z.unknown() }),
});
export type KeptData = z.output<typeof keptData>;

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const STYLE = `p { color: teal }\n${'/* enough of it to be worth compressing */\n'.repeat(100)}`;
const index = (text: string) => ({
  path: 'index.html',
  content: `<!doctype html><title>Kept</title><link rel="stylesheet" href="style.css"><p>${text}`,
});

export async function fill(easel: Installation): Promise<KeptData> {
  const must = mustFrom(easel);
  const admin = easel.adminToken ?? '';
  const [owner, editor] = [await must('/v1/auth/create-account', {}), await must('/v1/auth/create-account', {})];
  const token: string = owner.token;
  await must('/v1/auth/profile', { method: 'PATCH', token, body: { username: 'keeper', name: 'Kéeper 🗝', metadata: { theme: 'dark' } } });
  const revoked = await must('/v1/me/tokens', { token, body: { name: 'revoked' } });
  await must(`/v1/me/tokens/${(await tokenNamed(must, token, 'revoked')).id}`, { method: 'DELETE', token });
  const repeated = { key: 'kept-idempotency-key', body: { name: 'once' } };
  const answer = await must('/v1/me/tokens', { token, body: repeated.body, headers: { 'idempotency-key': repeated.key } });

  const site = await publishSite(must, token);
  await easel.sql`
    insert into collaborator (artifact_id, user_id, role, added_at_ms)
    values (${site.id}, ${(await must('/v1/me', { token: editor.token })).user?.id ?? owner.id}, 'editor', ${easel.clock.nowMs()})`;
  const locked = await must('/v1/publish', {
    token,
    body: { name: 'Locked', slug: 'kept-locked', visibility: 'password', password: 'open sesame', files: [index('treasure')] },
  });
  easel.clock.advance(1000);
  await fillJson(easel, must, site.id, token);
  await fillTables(must, site.id, token);
  const blob = await fillBlobs(easel, site.id, token);
  easel.clock.advance(1000);
  await fillDocuments(must, site.id, token);
  const { thread, guest } = await fillComments(easel, must, site.id, token, editor.token);
  easel.clock.advance(1000);

  const archive = await easel.api(`/v1/artifacts/${site.id}/export`, { token });
  const imported = await must('/v1/artifacts/import', {
    token,
    body: new Uint8Array(await archive.arrayBuffer()),
    headers: { 'content-type': 'application/zip' },
  });
  const trashed = await must('/v1/publish', { token, body: { name: 'Trashed', files: [index('gone')] } });
  await must(`/v1/artifacts/${trashed.artifact.id}`, { method: 'DELETE', token });
  easel.clock.advance(60_000);
  return {
    nowMs: easel.clock.nowMs(),
    tokens: { admin, owner: token, editor: editor.token, revoked: revoked.token, guest },
    site,
    locked: { id: locked.artifact.id, slug: locked.deployment.slug, password: 'open sesame' },
    imported: imported.artifact?.id ?? imported.id,
    trashed: trashed.artifact.id,
    blob,
    thread,
    repeated: { ...repeated, answer },
  };
}

/** Publishes two versions, the second of which is live, and a draft with a preview link; adds a label and a favourite. */
async function publishSite(must: Must, token: string): Promise<KeptData['site']> {
  const files = [
    { path: 'style.css', content: STYLE },
    { path: 'dot.png', content: PNG.toString('base64'), encoding: 'base64' },
  ];
  const first = await must('/v1/publish', {
    token,
    body: { name: 'Kept', slug: 'kept', visibility: 'public', files: [index('one'), ...files] },
  });
  const id: string = first.artifact.id;
  await must('/v1/publish', { token, body: { artifact_id: id, files: [index('two'), ...files] } });
  const draft = await must('/v1/publish', { token, body: { artifact_id: id, draft: true, files: [index('draft'), ...files] } });
  await must(`/v1/artifacts/${id}/versions/1`, { method: 'PATCH', token, body: { label: 'first', note: 'the very first' } });
  await must(`/v1/artifacts/${id}/favorite`, { method: 'POST', token });
  const link = await must(`/v1/artifacts/${id}/preview-links`, { token, body: { version_id: draft.version.id } });
  return { id, slug: first.deployment.slug, previewUrl: link.url };
}

async function fillJson(easel: Installation, must: Must, id: string, token: string): Promise<void> {
  const put = (key: string, body: unknown) => must(`/v1/data/${id}/json/${key}`, { method: 'PUT', token, body });
  await put('plain', { text: 'ü 🎨', list: [1, null, { deep: true }] });
  await put('changed', 1);
  await put('changed', 2);
  await put('gone', 'soon');
  await must(`/v1/data/${id}/json/gone`, { method: 'DELETE', token });
  const exact = { method: 'PUT', token, headers: { 'content-type': 'application/json' } };
  // Sent as text, because JavaScript cannot hold these numbers.
  const reply = await easel.api(`/v1/data/${id}/json/exact`, { ...exact, body: Buffer.from('{"n":12345678901234567890,"big":1e400}') });
  if (reply.status !== 201) throw new Error(`PUT exact answered ${reply.status}: ${await reply.text()}`);
}

async function fillTables(must: Must, id: string, token: string): Promise<void> {
  const tables = `/v1/data/${id}/tables`;
  const columns = [
    { name: 'email', type: 'string', unique: true, required: true },
    { name: 'age', type: 'integer', indexed: true },
    { name: 'vip', type: 'boolean', indexed: true },
  ];
  await must(`${tables}/people/_schema`, { method: 'PUT', token, body: { columns } });
  const people = [
    { email: 'ada@example.com', age: 36, vip: true, note: { free: ['field'] } },
    { email: 'ben@example.com', age: 20 },
    { email: 'cleo@example.com', vip: false },
  ];
  await must(`${tables}/people`, { token, body: people });
  await must(`${tables}/people`, { method: 'PATCH', token, body: { filter: { email: 'ben@example.com' }, changes: { age: 21 } } });
  await must(`${tables}/free`, { token, body: [{ anything: 1.5 }, { goes: 'here' }] });
  await must(`${tables}/dropped`, { token, body: [{ a: 1 }, { a: 2 }] });
  await must(`${tables}/dropped?confirm=true`, { method: 'DELETE', token });
}

async function fillBlobs(easel: Installation, id: string, token: string): Promise<string> {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(PNG)], 'dot.png', { type: 'image/png' }));
  const { body, contentType } = await encoded(form);
  const reply = await easel.api(`/v1/data/${id}/blobs`, { method: 'POST', token, body, headers: { 'content-type': contentType } });
  const answer = await reply.json();
  if (!reply.ok) throw new Error(`the blob was refused: ${JSON.stringify(answer)}`);
  return answer.data.id;
}

async function encoded(form: FormData): Promise<{ body: Uint8Array; contentType: string }> {
  const reply = new Response(form);
  const contentType = reply.headers.get('content-type') ?? '';
  return { body: new Uint8Array(await reply.arrayBuffer()), contentType };
}

async function fillDocuments(must: Must, id: string, token: string): Promise<void> {
  const write = (...ops: unknown[]) => must(`/v1/data/${id}/documents/page`, { token, body: { ops } });
  await write({ op: 'text.append', type: 'text', text: 'first' });
  await write({ op: 'map.set', type: 'meta', key: 'by', value: { who: 'keeper' } }, { op: 'array.push', type: 'list', values: [1, null] });
  await must(`/v1/data/${id}/documents/page/versions`, { token, body: { label: 'kept version' } });
  await write({ op: 'text.append', type: 'text', text: ' second 🎨' });
}

/** Writes a thread with an edit, a reaction and a reply, a resolved comment, and one of a guest. */
async function fillComments(easel: Installation, must: Must, id: string, token: string, editorToken: string) {
  const comments = `/v1/data/${id}/comments`;
  await must(`${comments}/_config`, { method: 'PUT', token, body: { guestComments: true } });
  const { data: first } = await must(comments, { token, body: { content: 'first draft' } });
  await must(`${comments}/${first.id}`, { method: 'PATCH', token, body: { content: 'first, edited' } });
  await must(comments, { token: editorToken, body: { content: 'a reply', parentId: first.id } });
  await must(`${comments}/${first.id}/reactions`, { token: editorToken, body: { emoji: '🎉' } });
  const { data: done } = await must(comments, { token, body: { content: 'done' } });
  await must(`${comments}/${done.id}/resolve`, { method: 'PATCH', token, body: { resolved: true } });
  await must(`${comments}/_guest/start`, { body: { email: 'guest@example.com', name: 'Gail' } });
  const [mail] = await easel.sql<{ text_body: string }[]>`select text_body from mail_outbox where recipient = 'guest@example.com'`;
  const { data: proved } = await must(`${comments}/_guest/verify`, {
    body: { email: 'guest@example.com', code: mail?.text_body.slice(0, 6) },
  });
  await must(comments, { token: proved.guestToken, body: { content: 'from a guest' } });
  return { thread: first.id as string, guest: proved.guestToken as string };
}

// biome-ignore lint/suspicious/noExplicitAny: the answers are those of the API, and the tests of each endpoint check them.
type Must = (path: string, call: ApiCall) => Promise<any>;

/** Calls the API, with POST by default, and answers the JSON; throws at a refusal. */
function mustFrom(easel: Installation): Must {
  return async (path, call) => {
    const reply = await easel.api(path, { method: call.body === undefined && call.token !== undefined ? 'GET' : 'POST', ...call });
    const body: unknown = await reply.json();
    if (!reply.ok) throw new Error(`${call.method ?? ''} ${path} answered ${reply.status}: ${JSON.stringify(body)}`);
    return body;
  };
}

async function tokenNamed(must: Must, token: string, name: string): Promise<{ readonly id: string }> {
  const { tokens } = await must('/v1/me/tokens', { token });
  return tokens.find((each: { readonly name: string | null }) => each.name === name);
}

/** Status and content of everything that can be read, by a name. */
export async function readBack(easel: Installation, kept: KeptData): Promise<Record<string, unknown>> {
  const { owner, editor, admin, guest, revoked } = kept.tokens;
  const { id, slug } = kept.site;
  const data = `/v1/data/${id}`;
  const reads: readonly (readonly [path: string, token?: string])[] = [
    ['/v1/auth/profile', owner],
    ['/v1/me', owner],
    ['/v1/me', editor],
    ['/v1/me', admin],
    ['/v1/me', revoked],
    ['/v1/me/tokens', owner],
    ['/v1/artifacts', owner],
    ['/v1/artifacts', editor],
    ['/v1/artifacts/deleted', owner],
    ...['', '/versions', '/versions/3', '/versions/1/diff/2', '/files'].map((path) => [`/v1/artifacts/${id}${path}`, owner] as const),
    ...['/json', '/json/plain', '/json/exact', '/json/changed', '/json/gone'].map((path) => [`${data}${path}`, owner] as const),
    ...['', '/people/_schema', '/people/rows', '/people/rows?sort=-age', '/free/rows', '/dropped/rows'].map(
      (path) => [`${data}/tables${path}`, owner] as const,
    ),
    [`${data}/tables/people/rows?filter=${encodeURIComponent('{"age":{"$gte":21}}')}&sort=email`, owner],
    ...['', `/${kept.blob}`, `/${kept.blob}/content`].map((path) => [`${data}/blobs${path}`, owner] as const),
    ...['', '/page', '/page/text', '/page/versions'].map((path) => [`${data}/documents${path}`, owner] as const),
    ...['', `/${kept.thread}/thread`, `/${kept.thread}/history`, '/_config', '/_unread'].map(
      (path) => [`${data}/comments${path}`, owner] as const,
    ),
    [`${data}/comments/_people`, guest],
    [`${data}/changes?since=0`, owner],
    [`/v1/data/${kept.imported}/documents/page/text`, owner],
    [`/v1/data/${kept.imported}/tables/people/rows`, owner],
  ];
  const seen: Record<string, unknown> = {};
  for (const [path, token] of reads) {
    const who = Object.entries(kept.tokens).find(([, each]) => each === token)?.[0] ?? 'nobody';
    seen[`${path} by ${who}`] = await seenOf(await easel.api(path, { token, headers: { accept: 'application/json, */*;q=0.5' } }));
  }
  for (const path of ['/', '/style.css', '/dot.png']) seen[`page ${path}`] = pageSeen(await easel.page(slug, path));
  seen['page of the draft'] = await throughPreview(easel, kept);
  seen['locked page'] = await throughPassword(easel, kept);
  return seen;
}

/** Keeps only the code of a refusal, because texts and hints may change between releases. */
async function seenOf(reply: Response): Promise<unknown> {
  const { status } = reply;
  const type = reply.headers.get('content-type') ?? '';
  const bytes = Buffer.from(await reply.arrayBuffer());
  if (type.includes('json')) {
    const body = withoutWhatChanges(bytes.toString());
    return status < 400 ? { status, body } : { status, code: (body as { readonly code: unknown }).code };
  }
  return type.startsWith('text/') ? { status, text: bytes.toString() } : { status, sha256: sha256(bytes) };
}

/**
 * Removes what differs between two reads: when a token was last used, the request id, the port, and the bytes of a document, which differ
 * while the document is open. Numbers that JavaScript cannot hold become texts.
 */
function withoutWhatChanges(json: string): unknown {
  const exact = json.replace(/:\s*(-?\d{16,}|1e400)(?=[,}\]])/g, ':"$1"').replace(/https?:\/\/([^/"]*?):\d+/g, 'http://$1');
  return JSON.parse(exact, (name, value) => {
    if (name === 'documents') return value.map(({ sizeBytes: _, ...document }: { readonly sizeBytes: unknown }) => document);
    return name === 'request_id' || name === 'last_used_at' ? undefined : value;
  });
}

/** Keeps only the first paragraph of a page, because the server may add to the rest. */
function pageSeen({ status, body, headers }: WireAnswer): unknown {
  if (!String(headers['content-type']).startsWith('text/html')) return { status, sha256: sha256(body) };
  return { status, text: /<p>([^<]*)/.exec(body.toString())?.[1] ?? null };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function throughPreview(easel: Installation, { site }: KeptData): Promise<unknown> {
  const link = new URL(site.previewUrl);
  const entered = await easel.page(site.slug, `${link.pathname}${link.search}`);
  return withCookie(easel, site.slug, entered.headers['set-cookie']);
}

async function throughPassword(easel: Installation, { locked }: KeptData): Promise<unknown> {
  const form = new URLSearchParams({ password: locked.password, to: '/' }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const opened = await easel.page(locked.slug, '/_easel/unlock', { method: 'POST', headers, body: form });
  return withCookie(easel, locked.slug, opened.headers['set-cookie']);
}

async function withCookie(easel: Installation, slug: string, set: string | readonly string[] | undefined): Promise<unknown> {
  const cookie = String(set ?? '').split(';')[0] ?? '';
  return pageSeen(await easel.page(slug, '/', { headers: { cookie } }));
}
