/** W5: what is done with another version never touches the one that is live. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { wire } from '../../../support/page-requests.ts';
import { json, patch, post, published } from '../../../support/requests.ts';

let easel: TestEasel;
let user: TestUser;
beforeAll(async () => {
  easel = await startTestEasel();
  user = await easel.newUser('pro');
});
afterAll(() => easel.close());

const page = (content: string) => [{ path: 'index.html', content }];

test('[W5] a preview, a note, a deletion and a restored version leave the live one, its files and its record as they are', async () => {
  const { id, slug, versionId: first } = await published(easel, user, { files: page('<h1>first</h1>'), visibility: 'public' });
  const { versionId: live } = await published(easel, user, { artifact_id: id, files: page('<h1>live</h1>') });
  const { versionId: draft } = await published(easel, user, { artifact_id: id, draft: true, files: page('<h1>draft</h1>') });
  const call = (method: string, path: string, body?: object) =>
    easel.fetch(`/v1/artifacts/${id}${path}`, { token: user.token, ...(body && post(body)), method });
  const ids = async () =>
    (await json(await call('GET', '/versions'))).versions.map((version: { id: string; is_live: boolean }) => [version.id, version.is_live]);
  const served = async () => (await wire(easel.port, new URL(easel.contentUrl(slug)).host, '/')).body.toString('utf8');

  const link = await json(await call('POST', '/preview-links', { version_id: draft }));
  const { host, pathname, search } = new URL(link.url);
  expect((await wire(easel.port, host, pathname + search)).status).toBeLessThan(400);
  await easel.fetch(`/v1/artifacts/${id}/versions/${draft}`, { token: user.token, ...patch({ note: 'look' }) });
  expect(await served()).toContain('live');
  expect(await ids()).toEqual([
    [draft, false],
    [live, true],
    [first, false],
  ]);

  // Restoring moves a pointer: what was live stays a version, whole, and can be live again.
  expect((await call('POST', '/rollback', { version_id: draft })).status).toBe(200);
  expect(await served()).toContain('draft');
  expect(await ids()).toEqual([
    [draft, true],
    [live, false],
    [first, false],
  ]);
  expect((await json(await call('GET', `/versions/${live}`))).files.map((file: { path: string }) => file.path)).toEqual(['index.html']);
  expect((await call('DELETE', `/versions/${draft}`)).status).toBe(409);
  expect((await call('POST', '/rollback', { version_id: live })).status).toBe(200);
  expect(await served()).toContain('live');
  expect((await call('DELETE', `/versions/${draft}`)).status).toBe(200);
  expect(await served()).toContain('live');
  expect(await ids()).toEqual([
    [live, true],
    [first, false],
  ]);
});
