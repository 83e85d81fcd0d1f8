import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { artifact, json, patch, post, published, refusal } from '../../../support/requests.ts';
import { describeWith } from '../../../support/services.ts';

let easel: TestEasel;
let user: TestUser;
let id: string;
let versionIds: string[];

beforeAll(async () => {
  easel = await startTestEasel();
});
afterAll(() => easel.close());
/** Version 1, version 2 and the draft 3. */
beforeEach(async () => {
  user = await easel.newUser('pro');
  const page = (content: string) => ({ path: 'index.html', content });
  const first = await published(easel, user, {
    files: [page('one\ntwo\nthree\n'), { path: 'gone.css', content: '' }],
    visibility: 'public',
  });
  id = first.id;
  const second = await published(easel, user, { artifact_id: id, files: [page('one\nTWO\nthree\n'), { path: 'new.js', content: '' }] });
  const third = await published(easel, user, { artifact_id: id, draft: true, label: 'try', note: 'just an idea' });
  versionIds = [first.versionId, second.versionId, third.versionId];
});

const get = (path: string, who: TestUser | null = user) =>
  easel.fetch(`/v1/artifacts/${id}${path}`, who === null ? {} : { token: who.token });
const send = (path: string, body: object) => easel.fetch(`/v1/artifacts/${id}${path}`, { token: user.token, ...post(body) });

test('the list starts with the newest; only editors see drafts', async () => {
  const { versions, total } = await json(await get('/versions?count=true'));
  expect(total).toBe(3);
  expect(
    versions.map((row: { version_no: number; is_live: boolean; is_draft: boolean }) => [row.version_no, row.is_live, row.is_draft]),
  ).toEqual([
    [3, false, true],
    [2, true, false],
    [1, false, false],
  ]);
  expect(versions[0]).toMatchObject({
    id: versionIds[2],
    author_id: user.userId,
    label: 'try',
    note: 'just an idea',
    entrypoint: 'index.html',
  });
  const stranger = await easel.newUser();
  expect((await json(await get('/versions?count=true', stranger))).total).toBe(2);
  expect(await refusal(get('/versions/3', stranger))).toEqual([404, 'VERSION_NOT_FOUND', undefined]);
  expect(await refusal(get(`/versions/1/diff/${versionIds[2]}`, null))).toEqual([404, 'VERSION_NOT_FOUND', undefined]);
  const page = await json(await get('/versions?limit=2'));
  const rest = await json(await get(`/versions?limit=2&cursor=${page.next_cursor}`));
  expect([...page.versions, ...rest.versions].map((row) => row.version_no)).toEqual([3, 2, 1]);
  expect([page.has_more, rest.has_more, rest.next_cursor]).toEqual([true, false, null]);
});

test('one version by number or id, with its files; label and note change, nothing else does', async () => {
  const byNumber = await json(await get('/versions/1'));
  expect(byNumber).toEqual(await json(await get(`/versions/${versionIds[0]}`)));
  expect(byNumber.files.map((file: { path: string }) => file.path)).toEqual(['gone.css', 'index.html']);
  expect(await refusal(get('/versions/9'))).toEqual([404, 'VERSION_NOT_FOUND', undefined]);
  const other = await published(easel, user);
  expect(await refusal(get(`/versions/${other.versionId}`))).toEqual([404, 'VERSION_NOT_FOUND', undefined]);
  const changed = await easel.fetch(`/v1/artifacts/${id}/versions/3`, { token: user.token, ...patch({ label: null }) });
  expect(await json(changed)).toMatchObject({ version_no: 3, label: null, note: 'just an idea' });
  expect(await json(await get('/versions/3'))).toMatchObject({ label: null, note: 'just an idea' });
});

describeWith('postgresUrl')('two changes of a version at once', () => {
  test('that name different fields do not undo each other', async () => {
    const change = (body: object) => easel.fetch(`/v1/artifacts/${id}/versions/1`, { token: user.token, ...patch(body) });
    let replies: Promise<Response[]> | undefined;
    await easel.sql.begin(async (tx) => {
      await tx`select 1 from artifact_version where id = ${versionIds[0] ?? ''} for update`;
      replies = Promise.all([change({ label: 'a label' }), change({ note: 'a note' })]);
      // Both requests have read the version and wait for the lock.
      for (let waiting = 0; waiting < 2; ) {
        const [row] = await tx<{ count: number }[]>`
          select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        waiting = row?.count ?? 0;
      }
    });
    expect((await replies)?.map(({ status }) => status)).toEqual([200, 200]);
    expect(await json(await get('/versions/1'))).toMatchObject({ label: 'a label', note: 'a note' });
  });
});

test('the diff names what was added, removed and changed, line by line', async () => {
  const diff = await json(await get('/versions/1/diff/2'));
  expect([diff.added, diff.removed, diff.modified.map((file: { path: string }) => file.path)]).toEqual([
    ['new.js'],
    ['gone.css'],
    ['index.html'],
  ]);
  expect(diff.modified[0].unified).toContain('@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n');
  expect(await json(await get('/versions/1/diff/1'))).toEqual({ added: [], removed: [], modified: [] });
});

test('binary and large files are named without lines, and a diff of unlike texts is bounded in time', async () => {
  const content = (bytes: Buffer) => ({ content: bytes.toString('base64'), encoding: 'base64' });
  const noise = (seed: number) => Array.from({ length: 12_000 }, (_, line) => `${(line * seed) % 10_007}`).join('\n');
  const push = (bin: number, big: string, unlike: string) =>
    published(easel, user, {
      artifact_id: id,
      entrypoint: 'bin',
      files: [
        { path: 'bin', ...content(Buffer.from([bin, 0, 1])) },
        { path: 'big', content: big },
        { path: 'unlike', content: unlike },
      ],
    });
  await push(1, 'x'.repeat(256 * 1024 + 1), noise(7919));
  await push(2, 'y', noise(104_729));
  const diff = await json(await get('/versions/4/diff/5'));
  expect(diff.modified).toEqual([{ path: 'big' }, { path: 'bin' }, { path: 'unlike' }]);
});

test('a rollback moves the pointer without a new version, and publishes a draft', async () => {
  const reply = await send('/rollback', { version_no: 1 });
  expect([reply.status, await json(reply)]).toMatchObject([
    200,
    { live_version_no: 1, live_version_id: versionIds[0], pinned_version_id: null },
  ]);
  expect((await json(await get('/versions'))).versions).toHaveLength(3);
  expect(await json(await send('/rollback', { version_id: versionIds[2] }))).toMatchObject({ live_version_no: 3 });
  expect(await json(await get('/versions/3'))).toMatchObject({ is_draft: false, is_live: true });
  expect(await refusal(send('/rollback', { version_no: 7 }))).toEqual([404, 'VERSION_NOT_FOUND', undefined]);
  expect((await send('/rollback', { version_no: 1, version_id: versionIds[0] })).status).toBe(400);
  await published(easel, user, { artifact_id: id });
  expect(await artifact(easel, user, id)).toMatchObject({ live_version_no: 4 });
});

test('a pinned version stays live; unpinned, the newest published version is live again', async () => {
  expect(await json(await send('/pin', { version_id: versionIds[0] }))).toMatchObject({
    live_version_no: 1,
    pinned_version_id: versionIds[0],
  });
  await published(easel, user, { artifact_id: id });
  await published(easel, user, { artifact_id: id, draft: true });
  expect(await artifact(easel, user, id)).toMatchObject({ live_version_no: 1 });
  expect(await json(await send('/rollback', { version_no: 2 }))).toMatchObject({ live_version_no: 2, pinned_version_id: versionIds[1] });
  expect(await json(await send('/pin', { version_id: null }))).toMatchObject({ live_version_no: 4, pinned_version_id: null });
  expect(await refusal(send('/pin', { version_id: `ver_${'a'.repeat(24)}` }))).toEqual([404, 'VERSION_NOT_FOUND', undefined]);
});

test('files are those of the live version, or of the one asked for', async () => {
  expect(await json(await get('/files'))).toMatchObject({
    version_id: versionIds[1],
    version_no: 2,
    files: [{ path: 'index.html' }, { path: 'new.js' }],
  });
  expect(await json(await get('/files?version=1'))).toMatchObject({ version_no: 1, files: [{ path: 'gone.css' }, { path: 'index.html' }] });
  expect((await get('/files', null)).status).toBe(200);
});
