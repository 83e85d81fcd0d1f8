import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, post, published, refusal } from '../../../support/requests.ts';

let easel: TestEasel;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

test('the list has every link that has not ended, newest first, page by page and without secrets', async () => {
  const owner = await easel.newUser('pro');
  const { id, versionId } = await published(easel, owner);
  const other = await published(easel, owner);
  const url = `/v1/artifacts/${id}/preview-links`;
  const make = async (expires_in: number, path = url, version_id = versionId) => {
    const made = await json(await easel.fetch(path, { token: owner.token, ...post({ version_id, expires_in }) }));
    easel.clock.advance(1000);
    return made;
  };
  const list = async (query = '') => json(await easel.fetch(`${url}${query}`, { token: owner.token }));

  const empty = { links: [], has_more: false, next_cursor: null };
  expect([await list(), await list('?count=true')]).toEqual([empty, { ...empty, total: 0 }]);
  const firstMs = easel.clock.nowMs();
  const kept = [await make(3600), await make(7200), await make(3600)];
  await make(3600, `/v1/artifacts/${other.id}/preview-links`, other.versionId);
  await make(60);
  const ended = await make(3600);
  await easel.fetch(`${url}/${ended.id}`, { token: owner.token, method: 'DELETE' });
  easel.clock.advance(60_000);

  const expected = kept.map((link, at) => ({
    id: link.id,
    version_id: versionId,
    expires_at: link.expires_at,
    created_at: new Date(firstMs + at * 1000).toISOString(),
  }));
  expected.reverse();
  const all = await list('?count=true');
  expect(all).toEqual({ links: expected, has_more: false, next_cursor: null, total: 3 });
  const page = await list('?limit=2');
  const rest = await list(`?limit=2&cursor=${page.next_cursor}`);
  expect([page.links, page.has_more, rest]).toEqual([
    expected.slice(0, 2),
    true,
    { links: expected.slice(2), has_more: false, next_cursor: null },
  ]);
});

test('links of one millisecond are each on one page', async () => {
  const owner = await easel.newUser('pro');
  const { id, versionId } = await published(easel, owner);
  const url = `/v1/artifacts/${id}/preview-links`;
  const made = await Promise.all(
    Array.from({ length: 5 }, async () => json(await easel.fetch(url, { token: owner.token, ...post({ version_id: versionId }) }))),
  );
  const seen: string[] = [];
  for (let query = '?limit=2'; ; ) {
    const page = await json(await easel.fetch(`${url}${query}`, { token: owner.token }));
    seen.push(...page.links.map((link: { id: string }) => link.id));
    if (!page.has_more) break;
    query = `?limit=2&cursor=${page.next_cursor}`;
  }
  expect(seen.toSorted()).toEqual(made.map((link) => link.id).toSorted());
});

test('callers who may not make links may not list them', async () => {
  const [owner, visitor] = [await easel.newUser('pro'), await easel.newUser()];
  const { id } = await published(easel, owner, { visibility: 'public' });
  const url = `/v1/artifacts/${id}/preview-links`;
  expect(await refusal(easel.fetch(url, { token: visitor.token }))).toEqual([403, 'FORBIDDEN', undefined]);
  expect((await easel.fetch(url)).status).toBe(401);
});
