/** JSON keys through the whole service: guarantees that need the edge and the actor together. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ArtifactId, newId } from '../../../../protocol/core/ids.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';

describe('JSON keys over HTTP', () => {
  let easel: TestEasel;
  let owner: TestUser;
  beforeAll(async () => {
    easel = await startTestEasel();
    owner = await easel.newUser();
  });
  afterAll(() => easel.close());

  async function newArtifact(): Promise<{ id: ArtifactId; data: (path: string, init?: RequestInit) => Promise<Response> }> {
    const id = newId('artifact');
    await easel.sql`
      insert into artifact (id, owner_id, name, slug, visibility, created_at_ms, updated_at_ms)
      values (${id}, ${owner.userId}, 'n', ${id.replace('_', '-')}, 'private', 0, 0)`;
    return { id, data: (path, init) => easel.fetch(`/v1/data/${id}/json${path}`, { token: owner.token, ...init }) };
  }

  const json = (method: string, body: string, headers: Record<string, string> = {}): RequestInit => ({
    method,
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });

  it('[round trip] a value with its ETag, time and conditions', async () => {
    const { data } = await newArtifact();
    const created = await data('/k', json('PUT', '{ "a": 1.0 }'));
    expect([created.status, created.headers.get('etag')]).toEqual([201, '"1"']);
    const { data: written } = (await created.json()) as { data: { updatedAt: string } };
    const got = await data('/k');
    expect(await got.text()).toBe(`{"success":true,"data":{"key":"k","value":{ "a": 1.0 },"updatedAt":"${written.updatedAt}"}}`);
    expect((await data('/k', { headers: { 'if-none-match': '"1"' } })).status).toBe(304);
    const patched = await data(
      '/k',
      json('PATCH', '{"b":2}', { 'content-type': 'application/merge-patch+json', 'if-match': written.updatedAt }),
    );
    expect([patched.status, patched.headers.get('etag')]).toEqual([200, '"2"']);
    const stale = await data('/k', json('PUT', '0', { 'if-match': '"1"' }));
    expect([stale.status, stale.headers.get('etag'), ((await stale.json()) as { code: string }).code]).toEqual([
      409,
      '"2"',
      'VERSION_CONFLICT',
    ]);
    expect((await data('/k', { method: 'DELETE' })).status).toBe(200);
    expect((await data('/k')).status).toBe(404);
  });

  it('[exact] of 1100 concurrent calls 1000 are accepted; 304 is free; a minute later calls are accepted again', async () => {
    const { data } = await newArtifact();
    await data('/k', json('PUT', '1'));
    const unchanged = await Promise.all(Array.from({ length: 50 }, () => data('/k', { headers: { 'if-none-match': '"1"' } })));
    expect(new Set(unchanged.map(({ status }) => status))).toEqual(new Set([304]));
    const statuses: number[] = [];
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        for (let call = 0; call < 22; call += 1) {
          const response = await data('/k');
          await response.arrayBuffer();
          statuses.push(response.status);
        }
      }),
    );
    expect([200, 429].map((wanted) => statuses.filter((status) => status === wanted).length)).toEqual([999, 101]);
    const refused = await data('/k');
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('ratelimit')]).toEqual([429, '61', '"data";r=0;t=61']);
    easel.clock.advance(61_000);
    expect((await data('/k')).status).toBe(200);
  });

  it('[trash] the data of a trashed artifact is hidden at once and back after the restore', async () => {
    const { id, data } = await newArtifact();
    await data('/k', json('PUT', '1'));
    const trashed = await easel.fetch(`/v1/artifacts/${id}`, { method: 'DELETE', token: owner.token });
    expect(trashed.status).toBe(200);
    expect((await data('/k')).status).toBe(404);
    const restored = await easel.fetch(`/v1/artifacts/${id}/restore`, { method: 'POST', token: owner.token });
    expect(restored.status).toBe(200);
    expect(await (await data('/k')).text()).toContain('"value":1,');
    expect((await data('/k', json('PUT', '2'))).status).toBe(200);
  });
});
