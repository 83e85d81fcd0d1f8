import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { artifact, json, PAGE, patch, post, published, refusal, sha256 } from '../../../support/requests.ts';
import { pictureOf } from './picture-stage.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

const NONE = [404, 'THUMBNAIL_NOT_FOUND', undefined];
const HIDDEN = [404, 'ARTIFACT_NOT_FOUND', undefined];
const pathOf = (id: string) => `/v1/artifacts/${id}/thumbnail`;
const look = (id: string, token?: string, headers: Record<string, string> = {}) =>
  easel.fetch(pathOf(id), { headers, ...(token !== undefined && { token }) });

/** A page with a picture: its content is stored as that of another page, and named as the queue does. */
async function pictured(owner: TestUser, body: object = {}) {
  const page = await published(easel, owner, body);
  const picture = pictureOf(page.id);
  const files = [...PAGE, { path: 'picture.webp', content: picture.toString('base64'), encoding: 'base64' }];
  const other = await published(easel, owner, { files });
  await easel.sql`
    insert into thumbnail (artifact_id, version_id, holder, asked_at_ms, attempts, sha256)
    values (${page.id}, ${page.versionId}, ${owner.userId}, 0, 1, decode(${sha256(picture)}, 'hex'))`;
  return { ...page, picture, other: other.id };
}

test('the picture has a type of its own, is for no shared cache, and is not sent again while it is the same', async () => {
  const owner = await easel.newUser();
  const { id, versionId, picture } = await pictured(owner);
  const reply = await look(id, owner.token);
  const etag = reply.headers.get('etag') ?? '';
  expect([reply.status, reply.headers.get('content-type'), reply.headers.get('cache-control')]).toEqual([
    200,
    'image/webp',
    'private, no-cache',
  ]);
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  expect(Buffer.from(await reply.arrayBuffer())).toEqual(picture);
  const again = await look(id, owner.token, { 'if-none-match': etag });
  expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([304, 0]);
  expect((await artifact(easel, owner, id)).thumbnail_url).toBe(`http://localhost:${easel.port}${pathOf(id)}?version=${versionId}`);
});

test('who may see the artifact may see its picture, and nobody else, with the code that tells nothing', async () => {
  const [owner, editor, stranger] = await Promise.all([easel.newUser('pro'), easel.newUser(), easel.newUser()]);
  const { id } = await pictured(owner);
  expect(await refusal(look(id, stranger.token))).toEqual(HIDDEN);
  expect(await refusal(look(id, editor.token))).toEqual(HIDDEN);
  expect((await look(id)).status).toBe(404);
  await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${id}, ${editor.userId}, 'viewer', 0)`;
  await easel.fetch(`/v1/artifacts/${id}`, { token: owner.token, ...patch({ name: 'Shared' }) });
  expect((await look(id, editor.token)).status).toBe(200);
  const removed = await easel.fetch(`/v1/artifacts/${id}/collaborators/${editor.userId}`, { method: 'DELETE', token: owner.token });
  expect(removed.status).toBe(200);
  expect(await refusal(look(id, editor.token))).toEqual(HIDDEN);
  await easel.fetch(`/v1/artifacts/${id}`, { token: owner.token, ...patch({ visibility: 'public' }) });
  expect([(await look(id, stranger.token)).status, (await look(id)).status]).toEqual([200, 200]);
  await easel.fetch(`/v1/artifacts/${id}`, { token: owner.token, ...patch({ visibility: 'password', password: 'eight loud waterfalls' }) });
  expect(await refusal(look(id, stranger.token))).toEqual(HIDDEN);
  await easel.fetch(`/v1/artifacts/${id}`, { method: 'DELETE', token: owner.token });
  expect(await refusal(look(id, owner.token))).toEqual(HIDDEN);
});

test('a picture is of the live version alone', async () => {
  const owner = await easel.newUser();
  const { id, versionId } = await pictured(owner);
  expect((await easel.fetch(`${pathOf(id)}?version=${versionId}`, { token: owner.token })).status).toBe(200);
  const before = await artifact(easel, owner, id);
  await published(easel, owner, { artifact_id: id, draft: true });
  expect((await look(id, owner.token)).status).toBe(200);
  const next = await published(easel, owner, { artifact_id: id });
  expect(await refusal(look(id, owner.token))).toEqual(NONE);
  const { artifacts } = await json(await easel.fetch('/v1/artifacts', { token: owner.token }));
  expect(artifacts.find((one: { id: string }) => one.id === id).thumbnail_url).toBeNull();
  const back = await easel.fetch(`/v1/artifacts/${id}/rollback`, { token: owner.token, ...post({ version_no: 1 }) });
  expect(back.status).toBe(200);
  expect((await artifact(easel, owner, id)).thumbnail_url).toBe(before.thumbnail_url);
  expect((await easel.fetch(`${pathOf(id)}?version=${next.versionId}`, { token: owner.token })).status).toBe(404);
});

test('that a picture was made changes the ETag of the artifact for readers, and no condition of a write', async () => {
  const owner = await easel.newUser();
  const page = await published(easel, owner);
  const before = await artifact(easel, owner, page.id);
  await easel.sql`
    insert into thumbnail (artifact_id, version_id, holder, asked_at_ms, attempts, sha256)
    values (${page.id}, ${page.versionId}, ${owner.userId}, 0, 1, ${Buffer.alloc(32)})`;
  const after = await artifact(easel, owner, page.id);
  expect(after.etag).not.toBe(before.etag);
  const written = await easel.fetch(`/v1/artifacts/${page.id}`, {
    token: owner.token,
    ...patch({ name: 'Renamed' }, { 'if-match': before.etag }),
  });
  expect(written.status).toBe(200);
  await easel.sql`delete from thumbnail where artifact_id = ${page.id}`;
});

test('the sweep keeps the content of a picture for as long as its page exists', async () => {
  const owner = await easel.newUser();
  const { id, other, picture } = await pictured(owner);
  const isStored = async () => (await easel.sql`select 1 from stored_object where sha256 = decode(${sha256(picture)}, 'hex')`).length > 0;
  await easel.fetch(`/v1/artifacts/${other}`, { method: 'DELETE', token: owner.token });
  easel.clock.advance(32 * 24 * 3_600_000);
  await easel.sweep();
  expect([(await look(id, owner.token)).status, await isStored()]).toEqual([200, true]);
  await easel.fetch(`/v1/artifacts/${id}`, { method: 'DELETE', token: owner.token });
  easel.clock.advance(32 * 24 * 3_600_000);
  await easel.sweep();
  expect([await isStored(), (await easel.sql`select 1 from thumbnail where artifact_id = ${id}`).length]).toEqual([false, 0]);
});
