import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { artifact, json, PAGE, post, publish, published, refusal, sha256 } from '../../../support/requests.ts';

let easel: TestEasel;
let user: TestUser;
beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());

async function files(id: string, token: string, query = '') {
  const reply = await easel.fetch(`/v1/artifacts/${id}/files${query}`, { token });
  return (await json(reply)).files as { path: string; mime: string; size_bytes: number; sha256: string }[];
}

describe('publishing', () => {
  beforeAll(async () => {
    user = await easel.newUser();
  });

  test('a page without anything else gets its name from the title and its slug from the name', async () => {
    const { id, slug, answer } = await published(easel, user, {
      files: [{ path: 'index.html', content: '<title>\n Caf&#233; &amp; Bar &#x2764; </title>' }],
    });
    expect(answer).toMatchObject({ version: { version_no: 1 }, deployment: { url: easel.contentUrl(slug) } });
    expect(slug).toBe('cafe-bar');
    expect(await artifact(easel, user, id)).toMatchObject({
      name: 'Café & Bar ❤',
      owner_id: user.userId,
      visibility: 'private',
      live_version_id: answer.version.id,
      live_version_no: 1,
      pinned_version_id: null,
      is_favorite: false,
    });
    const second = await published(easel, user, { files: [{ path: 'index.html', content: '<title>Caf&#233; &amp; Bar</title>' }] });
    expect(second.slug).toMatch(/^cafe-bar-[a-z2-7]{4}$/);
  });

  test('the slug derives from the name and the name from the slug, also with accents and reserved words', async () => {
    expect((await published(easel, user, { name: 'Crème brûlée!' })).slug).toBe('creme-brulee');
    expect((await published(easel, user, { name: 'API' })).slug).toBe('api-page');
    expect((await published(easel, user, { name: '日本' })).slug).toBe('page');
    const { id } = await published(easel, user, { slug: 'only-slug', files: [{ path: 'index.html', content: 'no title' }] });
    expect(await artifact(easel, user, id)).toMatchObject({ name: 'only-slug', slug: 'only-slug' });
  });

  test.each(['www', 'api', 'admin', 'localhost', 'xn--80ak6aa92e', 'ab--cd'])('the slug %s is refused', async (slug) => {
    expect(await refusal(publish(easel, user, { slug }))).toEqual([400, 'INVALID_SLUG', 'slug']);
  });

  test('by artifact_id or by its own slug the next version is pushed; numbers have no gaps', async () => {
    const first = await published(easel, user, { slug: 'pushed', name: 'Pushed' });
    const second = await published(easel, user, { artifact_id: first.id });
    const third = await published(easel, user, { slug: 'pushed' });
    expect([second.id, third.id]).toEqual([first.id, first.id]);
    expect([second, third].map(({ answer }) => answer.version.version_no)).toEqual([2, 3]);
    expect(await artifact(easel, user, first.id)).toMatchObject({ name: 'Pushed', live_version_no: 3, live_version_id: third.versionId });
  });

  test('a publish by id may rename the artifact and change its slug', async () => {
    const { id } = await published(easel, user, { slug: 'before-move', name: 'Before' });
    const moved = await published(easel, user, { artifact_id: id, slug: 'after-move', name: 'After' });
    expect(moved.answer.deployment).toEqual({ slug: 'after-move', url: easel.contentUrl('after-move') });
    expect(await artifact(easel, user, id)).toMatchObject({ slug: 'after-move', name: 'After', live_version_no: 2 });
    await published(easel, user, { slug: 'occupied' });
    expect(await refusal(publish(easel, user, { artifact_id: id, slug: 'occupied' }))).toEqual([409, 'SLUG_TAKEN', 'slug']);
    expect(await artifact(easel, user, id)).toMatchObject({ slug: 'after-move', live_version_no: 2 });
  });

  test('the slug of another owner is taken, and their artifact id is not found', async () => {
    const other = await easel.newUser();
    const theirs = await published(easel, other, { slug: 'theirs' });
    expect(await refusal(publish(easel, user, { slug: 'theirs' }))).toEqual([409, 'SLUG_TAKEN', 'slug']);
    expect(await refusal(publish(easel, user, { artifact_id: theirs.id }))).toEqual([404, 'ARTIFACT_NOT_FOUND', undefined]);
    expect(await refusal(publish(easel, user, { workspace_id: `wsp_${'x'.repeat(24)}` }))).toEqual([403, 'FORBIDDEN', 'workspace_id']);
  });

  test('an editor may push, a viewer may not', async () => {
    const [editor, viewer] = [await easel.newUser(), await easel.newUser()];
    const { id } = await published(easel, user, { slug: 'shared' });
    for (const [who, role] of [
      [editor, 'editor'],
      [viewer, 'viewer'],
    ] as const) {
      await easel.sql`insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${id}, ${who.userId}, ${role}, 0)`;
    }
    expect((await published(easel, editor, { artifact_id: id })).answer.version.version_no).toBe(2);
    expect(await refusal(publish(easel, viewer, { artifact_id: id }))).toEqual([403, 'FORBIDDEN', undefined]);
  });

  test('a stale base_version_no is a conflict', async () => {
    const { id } = await published(easel, user, { slug: 'based', base_version_no: 0 });
    await published(easel, user, { artifact_id: id, base_version_no: 1 });
    const stale = await publish(easel, user, { artifact_id: id, base_version_no: 1 });
    expect(stale.headers.get('etag')).toBe((await artifact(easel, user, id)).etag);
    expect(await refusal(stale)).toEqual([409, 'VERSION_CONFLICT', 'base_version_no']);
    expect(await refusal(publish(easel, user, { slug: 'not-there-yet', base_version_no: 3 }))).toEqual([
      409,
      'VERSION_CONFLICT',
      'base_version_no',
    ]);
  });

  test('a draft does not go live, and a pinned artifact stays on its pin', async () => {
    const { id, versionId } = await published(easel, user, { slug: 'drafted' });
    await published(easel, user, { artifact_id: id, draft: true });
    expect(await artifact(easel, user, id)).toMatchObject({ live_version_no: 1 });
    await easel.fetch(`/v1/artifacts/${id}/pin`, { token: user.token, ...post({ version_id: versionId }) });
    await published(easel, user, { artifact_id: id });
    expect(await artifact(easel, user, id)).toMatchObject({ live_version_no: 1, pinned_version_id: versionId });
    const draftOnly = await published(easel, user, { slug: 'draft-only', draft: true });
    expect(await artifact(easel, user, draftOnly.id)).toMatchObject({ live_version_id: null, live_version_no: null });
    expect(await refusal(easel.fetch(`/v1/artifacts/${draftOnly.id}/files`, { token: user.token }))).toEqual([
      400,
      'NO_VERSION',
      undefined,
    ]);
  });

  test('public is held without a paid tier, and everything else is applied', async () => {
    const held = await publish(easel, user, { slug: 'held', name: 'Held', visibility: 'public' });
    expect(held.status).toBe(202);
    const answer = await json(held);
    expect(answer).toMatchObject({
      code: 'VISIBILITY_HELD',
      visibility: 'private',
      requested_visibility: 'public',
      version: { version_no: 1 },
    });
    expect(await artifact(easel, user, answer.artifact.id)).toMatchObject({ visibility: 'private', name: 'Held', live_version_no: 1 });
    const payer = await easel.newUser('pro');
    const open = await published(easel, payer, { slug: 'open', visibility: 'public' });
    expect(open.answer.code).toBeUndefined();
    expect(await artifact(easel, payer, open.id)).toMatchObject({ visibility: 'public' });
  });

  test('visibility "password" needs a password and stores its hash only; "workspace" needs a workspace', async () => {
    expect(await refusal(publish(easel, user, { visibility: 'password' }))).toEqual([400, 'INVALID_REQUEST', 'password']);
    expect(await refusal(publish(easel, user, { password: 'open sesame' }))).toEqual([400, 'INVALID_REQUEST', 'password']);
    expect(await refusal(publish(easel, user, { visibility: 'workspace' }))).toEqual([400, 'INVALID_REQUEST', 'workspace_id']);
    const { id } = await published(easel, user, { visibility: 'password', password: 'open sesame' });
    const [row] = await easel.sql`select password_hash from artifact where id = ${id}`;
    expect(row?.password_hash).toMatch(/^\$argon2id\$/);
  });
});

describe('files', () => {
  beforeAll(async () => {
    user = await easel.newUser();
  });

  test('are kept byte for byte, with media types by extension where none is given', async () => {
    const bytes = Buffer.from([0, 255, 128, 10, 13]);
    const { id } = await published(easel, user, {
      files: [
        ...PAGE,
        { path: 'a/data.bin', content: bytes.toString('base64'), encoding: 'base64' },
        { path: 'style.css', content: 'p{}' },
        { path: 'x.svg', content: '<svg/>' },
        { path: 'odd', content: '', mime: 'text/x-odd' },
        { path: 'font.woff2', content: '', mime: 'font/woff2' },
      ],
    });
    expect(await files(id, user.token)).toEqual([
      { path: 'a/data.bin', mime: 'application/octet-stream', size_bytes: 5, sha256: sha256(bytes) },
      { path: 'font.woff2', mime: 'font/woff2', size_bytes: 0, sha256: sha256('') },
      { path: 'index.html', mime: 'text/html; charset=utf-8', size_bytes: PAGE[0]?.content.length, sha256: sha256(PAGE[0]?.content ?? '') },
      { path: 'odd', mime: 'text/x-odd; charset=utf-8', size_bytes: 0, sha256: sha256('') },
      { path: 'style.css', mime: 'text/css; charset=utf-8', size_bytes: 3, sha256: sha256('p{}') },
      { path: 'x.svg', mime: 'image/svg+xml', size_bytes: 6, sha256: sha256('<svg/>') },
    ]);
  });

  test.each(['AAA', 'AA==A', 'AAA_', 'A A=', 'AB=='])('%j is not base64', async (content) => {
    const reply = publish(easel, user, { files: [...PAGE, { path: 'x', content, encoding: 'base64' }] });
    expect(await refusal(reply)).toEqual([400, 'INVALID_REQUEST', 'files.1.content']);
  });

  test('one refusal names all wrong paths; a missing entry file is named too', async () => {
    const reply = await publish(easel, user, { files: [...PAGE, { path: '../x', content: '' }, { path: 'a//b', content: '' }] });
    const body = await json(reply);
    expect([reply.status, body.code, body.issues.map((issue: { path: string }) => issue.path)]).toEqual([
      400,
      'INVALID_REQUEST',
      ['files.1.path', 'files.2.path'],
    ]);
    expect(await refusal(publish(easel, user, { entrypoint: 'main.html' }))).toEqual([400, 'INVALID_REQUEST', 'entrypoint']);
  });

  test('a path is found again however its accents were composed', async () => {
    const { id } = await published(easel, user, { entrypoint: 'cafe\u0301.html', files: [{ path: 'caf\u00e9.html', content: 'x' }] });
    expect((await files(id, user.token)).map((file) => file.path)).toEqual(['caf\u00e9.html']);
  });

  test('25 MB a file is the limit, to the byte', async () => {
    const limit = 25 * 1024 * 1024;
    const big = (size: number) => ({ files: [...PAGE, { path: 'big.txt', content: 'x'.repeat(size) }] });
    expect((await published(easel, user, big(limit))).answer.version.version_no).toBe(1);
    const reply = await publish(easel, user, big(limit + 1));
    const body = await json(reply);
    expect([reply.status, body.code, body.param]).toEqual([413, 'FILE_TOO_LARGE', 'files.1']);
    expect(body.error).toContain('big.txt');
  });

  test('100 MB a version is the limit', async () => {
    const quarter = 'x'.repeat(25 * 1024 * 1024);
    const parts = ['a', 'b', 'c', 'd'].map((path) => ({ path, content: quarter }));
    expect(await refusal(publish(easel, user, { entrypoint: 'a', files: [...parts, { path: 'e', content: 'x' }] }))).toEqual([
      413,
      'FILE_TOO_LARGE',
      'files',
    ]);
  });

  test('1000 files are taken, one more is not', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => ({ path: `f${index}.txt`, content: `${index % 7}` }));
    const { id } = await published(easel, user, { entrypoint: 'f0.txt', files: many(1000) });
    expect(await files(id, user.token)).toHaveLength(1000);
    expect(await refusal(publish(easel, user, { entrypoint: 'f0.txt', files: many(1001) }))).toEqual([400, 'INVALID_REQUEST', 'files']);
  });
});

describe('publishing by digest', () => {
  const secret = '<title>Secret</title>';
  const digestOf = (content: string, path = 'index.html') => ({ path, sha256: sha256(content) });
  const put = (who: TestUser, uploadId: string, digest: string, body: string) =>
    easel.fetch(`/v1/publish/uploads/${uploadId}/${digest}`, {
      token: who.token,
      method: 'PUT',
      body,
      headers: { 'content-type': 'application/octet-stream' },
    });
  const byDigest = (who: TestUser, body: object) => easel.fetch('/v1/publish', { token: who.token, ...post(body) });

  beforeAll(async () => {
    user = await easel.newUser();
  });

  test('only missing contents are sent, then the same request publishes', async () => {
    await published(easel, user, { files: [{ path: 'index.html', content: 'old page' }] });
    const request = { slug: 'by-digest', files_digest: [digestOf('old page'), digestOf('new style', 'style.css')] };
    const begun = await json(await byDigest(user, request));
    expect(begun.missing).toEqual([sha256('new style')]);
    expect(await json(await put(user, begun.upload_id, begun.missing[0], 'new style'))).toEqual({
      sha256: begun.missing[0],
      size_bytes: 9,
    });
    const done = await byDigest(user, { ...request, upload_id: begun.upload_id });
    const answer = await json(done);
    expect([done.status, answer]).toMatchObject([200, { version: { version_no: 1 }, deployment: { slug: 'by-digest' } }]);
    expect((await files(answer.artifact.id, user.token)).map((file) => [file.path, file.mime, file.size_bytes])).toEqual([
      ['index.html', 'text/html; charset=utf-8', 8],
      ['style.css', 'text/css; charset=utf-8', 9],
    ]);
    expect(await refusal(byDigest(user, { ...request, upload_id: begun.upload_id }))).toEqual([404, 'UPLOAD_NOT_FOUND', 'upload_id']);
  });

  test('contents that an account sent in an unfinished upload are not asked for again while that upload is open', async () => {
    const request = { files_digest: [digestOf('sent before'), digestOf('not sent', 'style.css')] };
    const first = await json(await byDigest(user, request));
    expect(first.missing).toEqual([sha256('sent before'), sha256('not sent')]);
    await put(user, first.upload_id, sha256('sent before'), 'sent before');
    const second = await json(await byDigest(user, request));
    expect(second.missing).toEqual([sha256('not sent')]);
    await put(user, second.upload_id, sha256('not sent'), 'not sent');
    const done = await byDigest(user, { ...request, upload_id: second.upload_id });
    expect(done.status).toBe(200);
    // This holds for no other account, and not after the upload has expired.
    const stranger = await easel.newUser();
    const unfinished = { files_digest: [digestOf('left behind')] };
    const third = await json(await byDigest(user, unfinished));
    await put(user, third.upload_id, sha256('left behind'), 'left behind');
    expect((await json(await byDigest(stranger, unfinished))).missing).toEqual([sha256('left behind')]);
    easel.clock.advance(3_600_000);
    expect((await json(await byDigest(user, unfinished))).missing).toEqual([sha256('left behind')]);
  });

  test("knowing the digest of somebody's private file does not give the file", async () => {
    await published(easel, user, { files: [{ path: 'index.html', content: secret }] });
    const thief = await easel.newUser();
    const request = { files_digest: [digestOf(secret)] };
    const begun = await json(await byDigest(thief, request));
    expect(begun.missing).toEqual([sha256(secret)]);
    const claimed = { ...request, upload_id: begun.upload_id };
    expect(await refusal(byDigest(thief, claimed))).toEqual([400, 'INVALID_REQUEST', 'files_digest.0.sha256']);
    await put(thief, begun.upload_id, sha256(secret), secret);
    expect((await byDigest(thief, claimed)).status).toBe(200);
  });

  test('bytes must have the digest they are sent under; an upload belongs to its account, for an hour', async () => {
    const begun = await json(await byDigest(user, { files_digest: [digestOf('expiring')] }));
    expect(await refusal(put(user, begun.upload_id, sha256('expiring'), 'other'))).toEqual([400, 'INVALID_REQUEST', 'sha256']);
    const stranger = await easel.newUser();
    expect(await refusal(put(stranger, begun.upload_id, sha256('expiring'), 'expiring'))).toEqual([404, 'UPLOAD_NOT_FOUND', 'upload_id']);
    easel.clock.advance(3_600_000);
    expect(await refusal(put(user, begun.upload_id, sha256('expiring'), 'expiring'))).toEqual([404, 'UPLOAD_NOT_FOUND', 'upload_id']);
  });

  test('60 uploads may be open; one more waits until the oldest expires', async () => {
    const hoarder = await easel.newUser();
    const begin = () => byDigest(hoarder, { files_digest: [digestOf('never sent')] });
    const begun = await Promise.all(Array.from({ length: 63 }, begin));
    expect(begun.map((reply) => reply.status).sort()).toEqual([...Array<number>(60).fill(200), 429, 429, 429]);
    expect((await begin()).headers.get('retry-after')).toBe('3600');
    easel.clock.advance(3_600_000);
    expect((await begin()).status).toBe(200);
  });

  test('a publish that would be refused is refused before contents are sent', async () => {
    const other = await easel.newUser();
    await published(easel, other, { slug: 'taken-by-other' });
    const request = { files_digest: [digestOf('unsent')] };
    expect(await refusal(byDigest(user, { ...request, slug: 'taken-by-other' }))).toEqual([409, 'SLUG_TAKEN', 'slug']);
    expect(await refusal(byDigest(user, { ...request, entrypoint: 'x.html' }))).toEqual([400, 'INVALID_REQUEST', 'entrypoint']);
    expect(await refusal(byDigest(user, { files_digest: [digestOf('a', '%2e%2e/x')] }))).toEqual([
      400,
      'INVALID_REQUEST',
      'files_digest.0.path',
    ]);
  });
});

describe('concurrency and the publish limit', () => {
  test('20 publishes at once to one new slug become 20 versions of one artifact', async () => {
    const publisher = await easel.newUser();
    const answers = await Promise.all(Array.from({ length: 20 }, () => published(easel, publisher, { slug: 'crowded' })));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    const numbers = answers.map(({ answer }) => answer.version.version_no as number).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(await artifact(easel, publisher, answers[0]?.id ?? '')).toMatchObject({ live_version_no: 20 });
  });

  test('20 accounts at once for one slug: one gets it, the others get 409', async () => {
    const crowd = await Promise.all(Array.from({ length: 20 }, () => easel.newUser()));
    const replies = await Promise.all(crowd.map((one) => publish(easel, one, { slug: 'wanted' })));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array<number>(19).fill(409)]);
  });

  test('exactly 60 of 70 concurrent publishes pass, in a sliding hour', async () => {
    const publisher = await easel.newUser();
    await published(easel, publisher, { slug: 'limited' });
    easel.clock.advance(600_000);
    const replies = await Promise.all(Array.from({ length: 69 }, () => publish(easel, publisher, { slug: 'limited' })));
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(59);
    const refused = replies.filter((reply) => reply.status === 429);
    expect(refused).toHaveLength(10);
    expect(['retry-after', 'ratelimit-policy', 'ratelimit'].map((name) => refused[0]?.headers.get(name))).toEqual([
      '3000',
      '"publish";q=60;w=3600',
      '"publish";r=0;t=3000',
    ]);
    expect(await refusal(refused[0] ?? Response.error())).toEqual([429, 'RATE_LIMITED', undefined]);
    const digest = { files_digest: [{ path: 'index.html', sha256: sha256('x') }] };
    expect((await easel.fetch('/v1/publish', { token: publisher.token, ...post(digest) })).status).toBe(429);
    easel.clock.advance(3_000_000 - 1);
    expect((await publish(easel, publisher, { slug: 'limited' })).status).toBe(429);
    easel.clock.advance(1);
    const freed = await publish(easel, publisher, { slug: 'limited' });
    expect([freed.status, freed.headers.get('ratelimit-policy'), freed.headers.get('ratelimit')]).toEqual([
      200,
      '"publish";q=60;w=3600',
      '"publish";r=0;t=600',
    ]);
    expect((await publish(easel, publisher, { slug: 'limited' })).status).toBe(429);
  });
});
