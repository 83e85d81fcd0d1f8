import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { artifact, json, patch, publish, published, refusal } from '../../../support/requests.ts';

let easel: TestEasel;
let user: TestUser;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());
beforeEach(async () => {
  user = await easel.newUser();
});

const change = (who: TestUser, id: string, body: object, headers: Record<string, string> = {}) =>
  easel.fetch(`/v1/artifacts/${id}`, { token: who.token, ...patch(body, headers) });
const remove = (who: TestUser, id: string, headers: Record<string, string> = {}) =>
  easel.fetch(`/v1/artifacts/${id}`, { token: who.token, method: 'DELETE', headers });
const restore = (who: TestUser, id: string) => easel.fetch(`/v1/artifacts/${id}/restore`, { token: who.token, method: 'POST' });
const DAY_MS = 24 * 3_600_000;

async function listIds(who: TestUser, query = ''): Promise<string[]> {
  const body = await json(await easel.fetch(`/v1/artifacts${query}`, { token: who.token }));
  return body.artifacts.map((row: { id: string }) => row.id);
}

async function share(id: string, who: TestUser, role: 'editor' | 'viewer'): Promise<void> {
  await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${id}, ${who.userId}, ${role}, 0)`;
}

describe('changing an artifact', () => {
  test('changes every field that is sent and no other', async () => {
    const { id } = await published(easel, user);
    const body = {
      name: 'New name',
      allow_anon_write: true,
      allow_anon_collab: true,
      social_title: 'T',
      social_description: null,
      social_image_url: 'https://example.org/x.png',
    };
    const before = await artifact(easel, user, id);
    const reply = await change(user, id, body);
    expect([reply.status, await json(reply)]).toMatchObject([200, body]);
    const after = await artifact(easel, user, id);
    expect(after).toMatchObject({ ...body, slug: before.slug, allow_anon_email: false, visibility: 'private' });
    expect(after.updated_at > before.updated_at).toBe(true);
    expect(after.etag).not.toBe(before.etag);
  });

  test('a new slug frees the old one', async () => {
    const { id } = await published(easel, user, { slug: 'old-slug' });
    expect(await json(await change(user, id, { slug: 'new-slug' }))).toMatchObject({ slug: 'new-slug', url: easel.contentUrl('new-slug') });
    const other = await easel.newUser();
    expect((await published(easel, other, { slug: 'old-slug' })).id).not.toBe(id);
    expect(await refusal(change(user, id, { slug: 'old-slug' }))).toEqual([409, 'SLUG_TAKEN', 'slug']);
    expect(await refusal(change(user, id, { slug: 'admin' }))).toEqual([400, 'INVALID_SLUG', 'slug']);
    expect(await artifact(easel, user, id)).toMatchObject({ slug: 'new-slug' });
  });

  test('If-Match takes the ETag or updated_at; anything else is a conflict that names the current ETag', async () => {
    const { id } = await published(easel, user);
    const first = await artifact(easel, user, id);
    expect((await change(user, id, { name: 'one' }, { 'if-match': first.etag })).status).toBe(200);
    const stale = await change(user, id, { name: 'two' }, { 'if-match': first.etag });
    const second = await artifact(easel, user, id);
    expect([stale.headers.get('etag'), second.name]).toEqual([second.etag, 'one']);
    expect(await refusal(stale)).toEqual([409, 'VERSION_CONFLICT', undefined]);
    expect((await change(user, id, { name: 'three' }, { 'if-match': second.updated_at })).status).toBe(200);
    expect(await refusal(remove(user, id, { 'if-match': second.etag }))).toEqual([409, 'VERSION_CONFLICT', undefined]);
    const unchanged = await easel.fetch(`/v1/artifacts/${id}`, {
      token: user.token,
      headers: { 'if-none-match': (await artifact(easel, user, id)).etag },
    });
    expect(unchanged.status).toBe(304);
  });

  test('20 conditional changes at once: one wins', async () => {
    const { id } = await published(easel, user);
    const { etag } = await artifact(easel, user, id);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => change(user, id, { name: `n${index}` }, { 'if-match': etag })),
    );
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array<number>(19).fill(409)]);
  });

  test('public without a paid tier is held, and the rest is applied', async () => {
    const { id } = await published(easel, user);
    const reply = await change(user, id, { visibility: 'public', name: 'Still renamed' });
    expect([reply.status, await json(reply)]).toMatchObject([
      202,
      { code: 'VISIBILITY_HELD', visibility: 'private', requested_visibility: 'public', name: 'Still renamed' },
    ]);
    await easel.sql`update account set tier = 'pro' where id = ${user.userId}`;
    const open = await change(user, id, { visibility: 'public' });
    expect([open.status, (await json(open)).visibility]).toEqual([200, 'public']);
    await easel.sql`update account set tier = 'free' where id = ${user.userId}`;
    expect((await change(user, id, { visibility: 'public', name: 'No news' })).status).toBe(200);
  });

  test('a password is set and removed together with its visibility', async () => {
    const { id } = await published(easel, user);
    expect(await refusal(change(user, id, { visibility: 'password' }))).toEqual([400, 'INVALID_REQUEST', 'password']);
    expect(await json(await change(user, id, { visibility: 'password', password: 'open sesame' }))).toMatchObject({
      visibility: 'password',
    });
    expect((await change(user, id, { password: 'another one' })).status).toBe(200);
    expect((await change(user, id, { visibility: 'private' })).status).toBe(200);
    const [row] = await easel.sql`select password_hash from artifact where id = ${id}`;
    expect(row?.password_hash).toBeNull();
    expect(await refusal(change(user, id, { visibility: 'workspace' }))).toEqual([400, 'INVALID_REQUEST', 'workspace_id']);
  });

  test('strangers see nothing, viewers may not change, editors may, owners alone delete', async () => {
    const { id } = await published(easel, user);
    const [stranger, viewer, editor] = [await easel.newUser(), await easel.newUser(), await easel.newUser()];
    await share(id, viewer, 'viewer');
    await share(id, editor, 'editor');
    expect(await refusal(change(stranger, id, { name: 'x' }))).toEqual([404, 'ARTIFACT_NOT_FOUND', undefined]);
    expect(await refusal(change(viewer, id, { name: 'x' }))).toEqual([403, 'FORBIDDEN', undefined]);
    expect((await change(editor, id, { name: 'edited' })).status).toBe(200);
    expect(await refusal(remove(editor, id))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await artifact(easel, viewer, id)).toMatchObject({ name: 'edited' });
  });
});

describe('listing', () => {
  test('own and shared artifacts, last changed first, in pages without gaps and repetitions', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      ids.push((await published(easel, user)).id);
      if (index % 2 === 1) easel.clock.advance(1000);
    }
    const other = await easel.newUser();
    const shared = (await published(easel, other)).id;
    await published(easel, other);
    await share(shared, user, 'viewer');
    expect((await listIds(user)).sort()).toEqual([...ids, shared].sort());
    const paged: string[] = [];
    for (let query = '?limit=2&count=true'; ; ) {
      const page = await json(await easel.fetch(`/v1/artifacts${query}`, { token: user.token }));
      expect(page.total).toBe(6);
      paged.push(...page.artifacts.map((row: { id: string }) => row.id));
      if (!page.has_more) break;
      query = `?limit=2&count=true&cursor=${page.next_cursor}`;
    }
    expect(paged).toEqual(await listIds(user));
    easel.clock.advance(1000);
    await change(user, ids[0] ?? '', { name: 'touched' });
    expect((await listIds(user))[0]).toBe(ids[0]);
    expect(await refusal(easel.fetch(`/v1/artifacts?workspace_id=wsp_${'x'.repeat(24)}`, { token: user.token }))).toEqual([
      403,
      'FORBIDDEN',
      'workspace_id',
    ]);
    expect((await easel.fetch('/v1/artifacts?limit=101', { token: user.token })).status).toBe(400);
  });

  test('favourites are the caller’s own mark, also on public artifacts of others', async () => {
    const payer = await easel.newUser('team');
    const [open, mine] = [await published(easel, payer, { visibility: 'public' }), await published(easel, user)];
    const mark = (id: string, method: string, who?: TestUser) =>
      easel.fetch(`/v1/artifacts/${id}/favorite`, who === undefined ? { method } : { method, token: who.token });
    expect(await json(await mark(open.id, 'POST', user))).toEqual({ success: true, artifact_id: open.id, favorited: true });
    const before = await artifact(easel, user, mine.id);
    expect((await mark(mine.id, 'POST', user)).status).toBe(200);
    expect((await mark(mine.id, 'POST', user)).status).toBe(200);
    expect((await listIds(user, '?favorites=true')).sort()).toEqual([open.id, mine.id].sort());
    expect(await listIds(payer, '?favorites=true')).toEqual([]);
    const marked = await artifact(easel, user, mine.id);
    expect([marked.is_favorite, marked.updated_at, marked.etag === before.etag]).toEqual([true, before.updated_at, false]);
    expect((await change(user, mine.id, { name: 'x' }, { 'if-match': marked.etag })).status).toBe(200);
    expect((await artifact(easel, payer, open.id)).is_favorite).toBe(false);
    expect(await json(await mark(open.id, 'DELETE', user))).toMatchObject({ favorited: false });
    expect(await listIds(user, '?favorites=true')).toEqual([mine.id]);
    expect(await refusal(mark(open.id, 'POST'))).toEqual([401, 'UNAUTHORIZED', undefined]);
    expect(await refusal(mark(mine.id, 'POST', payer))).toEqual([404, 'ARTIFACT_NOT_FOUND', undefined]);
  });
});

describe('the trash', () => {
  test('hides an artifact everywhere, and restores it', async () => {
    const { id, slug } = await published(easel, user, { slug: 'thrown-away' });
    const reply = await json(await remove(user, id));
    const now = easel.clock.nowMs();
    expect(reply).toMatchObject({
      success: true,
      deleted: id,
      deleted_at: new Date(now).toISOString(),
      recoverable_until: new Date(now + 30 * DAY_MS).toISOString(),
      retention_days: 30,
    });
    expect(new URL(reply.restore_url).pathname).toBe(`/v1/artifacts/${id}/restore`);
    expect((await artifact(easel, user, id)).code).toBe('ARTIFACT_NOT_FOUND');
    expect(await listIds(user)).toEqual([]);
    expect(await refusal(publish(easel, user, { artifact_id: id }))).toEqual([404, 'ARTIFACT_NOT_FOUND', undefined]);
    const trash = await json(await easel.fetch('/v1/artifacts/deleted?count=true', { token: user.token }));
    expect(trash).toMatchObject({
      total: 1,
      artifacts: [{ id, deleted_at: reply.deleted_at, recoverable_until: reply.recoverable_until }],
    });
    const stranger = await easel.newUser();
    expect(await refusal(restore(stranger, id))).toEqual([404, 'ARTIFACT_NOT_FOUND', undefined]);
    expect(await json(await restore(user, id))).toMatchObject({ id, slug, live_version_no: 1 });
    expect(await refusal(restore(user, id))).toEqual([400, 'NOT_DELETED', undefined]);
    expect(await listIds(user)).toEqual([id]);
  });

  test('frees the slug: an artifact restored later gets another', async () => {
    const { id } = await published(easel, user, { slug: 'contested' });
    await remove(user, id);
    const other = await easel.newUser();
    await published(easel, other, { slug: 'contested' });
    expect((await json(await restore(user, id))).slug).toMatch(/^contested-[a-z2-7]{4}$/);
  });

  /** From now on a restore to a slug that `pattern` matches finds it taken between the check and the update. */
  async function takenMeanwhile(pattern: string): Promise<void> {
    await easel.sql.unsafe(`
      create or replace function slug_is_taken() returns trigger language plpgsql as $$ begin
        if old.deleted_at_ms is not null and new.deleted_at_ms is null and new.slug ~ '${pattern}' then
          raise exception 'taken' using errcode = '23505', constraint = 'artifact_slug';
        end if;
        return new;
      end $$;
      create or replace trigger slug_is_taken before update on artifact for each row execute function slug_is_taken()`);
    onTestFinished(async () => void (await easel.sql.unsafe('drop trigger slug_is_taken on artifact')));
  }

  test('restores under another slug when its own is taken at every attempt', async () => {
    const { id } = await published(easel, user, { slug: 'sought-after' });
    await remove(user, id);
    await takenMeanwhile('^sought-after$');
    const reply = await restore(user, id);
    expect([reply.status, (await json(reply)).slug]).toEqual([200, expect.stringMatching(/^sought-after-[a-z2-7]{4}$/)]);
  });

  test('stays in the trash and answers 409 when every slug is taken', async () => {
    const { id } = await published(easel, user, { slug: 'always-late' });
    await remove(user, id);
    await takenMeanwhile('^always-late');
    expect(await refusal(restore(user, id))).toEqual([409, 'SLUG_TAKEN', undefined]);
    expect((await json(await easel.fetch('/v1/artifacts/deleted', { token: user.token }))).artifacts).toMatchObject([{ id }]);
  });

  test('keeps an artifact for exactly 30 days', async () => {
    const { id } = await published(easel, user);
    await remove(user, id);
    easel.clock.advance(30 * DAY_MS - 1);
    expect((await restore(user, id)).status).toBe(200);
    await remove(user, id);
    easel.clock.advance(30 * DAY_MS);
    expect(await refusal(restore(user, id))).toEqual([404, 'ARTIFACT_NOT_FOUND', undefined]);
    expect((await json(await easel.fetch('/v1/artifacts/deleted', { token: user.token }))).artifacts).toEqual([]);
  });
});
