/** What an account may store, what counts, and what makes room again. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TIERS } from '../../../../protocol/business/tiers.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, post, published, refusal } from '../../../support/requests.ts';
import {
  beginUpload,
  draft,
  leaveRoom,
  page,
  remove,
  sendContent,
  shownUsage,
  trueUsage,
  uploadBlob,
  uploadToken,
} from './storage-stage.ts';

const RECORD = LIMITS.versionFileRecordBytes;
const DAY_MS = 24 * 3_600_000;
const { bytesMax, artifactsMax, draftsMax, versionsMax } = TIERS.free;
const FULL = [507, 'STORAGE_LIMIT_EXCEEDED'];

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  let user: TestUser;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    // The sweep of the start, which would correct the counters that these tests set.
    await easel.sweep();
  });
  afterAll(() => easel.close());
  beforeEach(async () => {
    user = await easel.newUser();
  });

  const bytes = async () => (await shownUsage(easel, user)).bytes;
  const code = async (reply: Promise<Response>) => (await refusal(reply)).slice(0, 2);
  const versionsOf = (id: string) => `/v1/artifacts/${id}/versions`;

  test('a content counts once an artifact, each file of each version a record, and a blob its size', async () => {
    expect(await shownUsage(easel, user)).toEqual({ bytes: 0, artifacts: 0 });
    const { id } = await published(easel, user, { files: page('x'.repeat(1000)) });
    expect(await shownUsage(easel, user)).toEqual({ bytes: 1000 + RECORD, artifacts: 1 });
    await draft(easel, user, { artifact_id: id, files: [...page('x'.repeat(1000)), { path: 'copy.html', content: 'x'.repeat(1000) }] });
    expect(await bytes()).toBe(1000 + 3 * RECORD);
    await draft(easel, user, { files: page('x'.repeat(1000)) });
    expect(await shownUsage(easel, user)).toEqual({ bytes: 2000 + 4 * RECORD, artifacts: 2 });
    const blobId = (await json(await uploadBlob(easel, user, id, 'y'.repeat(300)))).data.id;
    await uploadBlob(easel, user, id, 'y'.repeat(300));
    expect(await bytes()).toBe(2600 + 4 * RECORD);
    await remove(easel, user, `/v1/data/${id}/blobs/${blobId}`);
    expect(await bytes()).toBe(2300 + 4 * RECORD);
    expect(await trueUsage(easel, user)).toEqual(await shownUsage(easel, user));
  });

  test('an artifact counts for its owner, whoever writes', async () => {
    const { id } = await published(easel, user, { files: page('mine') });
    const editor = await easel.newUser();
    await easel.sql`insert into collaborator values (${id}, ${editor.userId}, 'editor', 0)`;
    await published(easel, editor, { artifact_id: id, files: page('x'.repeat(5000)) });
    const begun = await beginUpload(easel, editor, 'z'.repeat(700), { artifact_id: id });
    await sendContent(easel, editor, begun.uploadId, 'z'.repeat(700));
    expect((await shownUsage(easel, editor)).bytes).toBe(700);
    expect((await easel.fetch('/v1/publish', { token: editor.token, ...post({ ...begun.body, upload_id: begun.uploadId }) })).status).toBe(
      200,
    );
    await uploadBlob(easel, editor, id, 'y'.repeat(300));
    expect(await shownUsage(easel, editor)).toEqual({ bytes: 0, artifacts: 0 });
    expect(await shownUsage(easel, user)).toEqual({ bytes: 4 + 5000 + 700 + 300 + 3 * RECORD, artifacts: 1 });
  });

  test('what has no room is refused with 507 before anything is stored, and nothing is counted', async () => {
    const { id } = await published(easel, user);
    await leaveRoom(easel, user, 3000, bytesMax);
    const before = await shownUsage(easel, user);
    const stored = async () => (await easel.sql`select count(*)::int as count from stored_object`)[0]?.count;
    const objects = await stored();
    const large = 'large '.repeat(1000);
    const refused = await draft(easel, user, { artifact_id: id, files: page(large) });
    expect([refused.status, await json(refused)]).toMatchObject([
      507,
      {
        code: 'STORAGE_LIMIT_EXCEEDED',
        error: `An account of tier free may store ${bytesMax} bytes and has ${before.bytes}; 6000 more do not fit.`,
        hint: expect.stringContaining('GET /v1/account'),
      },
    ]);
    expect(await code(draft(easel, user, { files: page(large) }))).toEqual(FULL);
    expect(await code(uploadBlob(easel, user, id, large))).toEqual(FULL);
    expect(await code(uploadToken(easel, user, id, 6000))).toEqual(FULL);
    const { uploadId } = await beginUpload(easel, user, large);
    expect(await code(sendContent(easel, user, uploadId, large))).toEqual(FULL);
    expect([await shownUsage(easel, user), await stored()]).toEqual([before, objects]);
    expect((await draft(easel, user, { artifact_id: id, files: page('small') })).status).toBe(200);
  });

  test('a blob beyond what an artifact may have is 413 under the same code', async () => {
    const { id } = await published(easel, user);
    const half = LIMITS.blobsBytesMax / 2;
    for (const blob of ['a', 'b']) {
      await easel.sql`
        insert into blob (artifact_id, id, filename, mime_type, size_bytes, sha256, seq, created_at_ms)
        values (${id}, ${`blob_${blob.repeat(24)}`}, 'f', 'text/plain', ${half}, '\\x00', 0, 0)`;
    }
    expect(await code(uploadBlob(easel, user, id, 'more'))).toEqual([413, 'STORAGE_LIMIT_EXCEEDED']);
  });

  test('an account has at most as many artifacts as its tier allows, the trash included', async () => {
    const { id } = await published(easel, user);
    await easel.sql`update account_usage set artifacts = ${artifactsMax} where account_id = ${user.userId}`;
    expect(await code(draft(easel, user, { files: page('one more') }))).toEqual(FULL);
    expect((await draft(easel, user, { artifact_id: id, files: page('the same') })).status).toBe(200);
    expect((await remove(easel, user, `/v1/artifacts/${id}`)).status).toBe(200);
    expect(await code(draft(easel, user, { files: page('one more') }))).toEqual(FULL);
    await easel.sql`update account set tier = 'pro' where id = ${user.userId}`;
    expect((await draft(easel, user, { files: page('one more') })).status).toBe(200);
  });

  test.each([
    ['drafts', draftsMax, true],
    ['versions', versionsMax, false],
  ] as const)('an artifact has at most as many %s as the tier of its owner allows', async (things, most, isDraft) => {
    const { id } = await published(easel, user);
    await easel.sql`
      insert into artifact_version (id, artifact_id, version_no, entrypoint, is_draft, size_bytes, created_at_ms)
      select 'ver_' || lpad(n::text, 24, 'a') || ${id}, ${id}, n, 'index.html', ${isDraft}, 0, 0 from generate_series(2, ${most}) as n`;
    await easel.sql`update artifact set last_version_no = ${most} where id = ${id}`;
    expect((await draft(easel, user, { artifact_id: id, draft: isDraft, files: page('last') })).status).toBe(isDraft ? 200 : 507);
    const refused = await draft(easel, user, { artifact_id: id, draft: isDraft, files: page('beyond') });
    expect([refused.status, await json(refused)]).toMatchObject([507, { error: expect.stringContaining(`may have ${most} ${things}`) }]);
    expect((await remove(easel, user, `${versionsOf(id)}/${most}`)).status).toBe(200);
    expect((await draft(easel, user, { artifact_id: id, draft: isDraft, files: page('beyond') })).status).toBe(200);
  });

  test('of publishes, blobs and uploads that come together none exceeds the maximum', async () => {
    const { id } = await published(easel, user);
    const size = 4000;
    await leaveRoom(easel, user, 5 * (size + RECORD), bytesMax);
    const uploads = await Promise.all([1, 2, 3].map((n) => beginUpload(easel, user, `${n}`.repeat(size))));
    const replies = await Promise.all([
      ...Array.from({ length: 6 }, (_, n) => draft(easel, user, { artifact_id: id, files: page(`p${n}${'x'.repeat(size - 2)}`) })),
      ...Array.from({ length: 6 }, () => uploadBlob(easel, user, id, 'b'.repeat(size))),
      ...Array.from({ length: 3 }, () => uploadToken(easel, user, id, size)),
      ...uploads.map(({ uploadId }, n) => sendContent(easel, user, uploadId, `${n + 1}`.repeat(size))),
    ]);
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status < 300).length).toBe(5);
    expect(statuses.filter((status) => status === 507).length).toBe(statuses.length - 5);
    expect(await bytes()).toBeLessThanOrEqual(bytesMax);
  });

  test('a deleted version makes room; contents that other versions name stay', async () => {
    const { id } = await published(easel, user, { files: [...page('one'), { path: 'shared.txt', content: 's'.repeat(900) }] });
    await published(easel, user, { artifact_id: id, files: [...page('second'), { path: 'shared.txt', content: 's'.repeat(900) }] });
    expect(await bytes()).toBe(3 + 6 + 900 + 4 * RECORD);
    const reply = await remove(easel, user, `${versionsOf(id)}/1`);
    expect([reply.status, await json(reply)]).toEqual([200, { success: true, deleted: expect.stringMatching(/^ver_/), version_no: 1 }]);
    expect(await bytes()).toBe(6 + 900 + 2 * RECORD);
    expect(await refusal(remove(easel, user, `${versionsOf(id)}/1`))).toEqual([404, 'VERSION_NOT_FOUND', undefined]);
    easel.clock.advance(DAY_MS + 3_600_000);
    await easel.sweep();
    expect(await bytes()).toBe((await trueUsage(easel, user)).bytes);
    const kept = await easel.fetch(`${versionsOf(id)}/2`, { token: user.token });
    expect((await json(kept)).files.map((file: { path: string }) => file.path)).toEqual(['index.html', 'shared.txt']);
    const [old] = await easel.sql`select 1 from stored_object where sha256 = sha256('one'::bytea)`;
    expect(old).toBeUndefined();
    expect(await published(easel, user, { artifact_id: id })).toMatchObject({ answer: { version: { version_no: 3 } } });
  });

  test('the live version, a pinned one and the only one stay, and a condition must hold', async () => {
    const { id, versionId } = await published(easel, user);
    const viewer = await easel.newUser();
    // Before the calls that drop what the caches hold, which do not hear of a statement.
    await easel.sql`insert into collaborator values (${id}, ${viewer.userId}, 'viewer', 0)`;
    const del = (no: number, headers: Record<string, string> = {}) =>
      easel.fetch(`${versionsOf(id)}/${no}`, { method: 'DELETE', token: user.token, headers });
    expect(await code(del(1))).toEqual([409, 'VERSION_IN_USE']);
    await published(easel, user, { artifact_id: id, files: page('second') });
    await easel.fetch(`/v1/artifacts/${id}/pin`, { token: user.token, ...post({ version_id: versionId }) });
    expect(await code(del(1))).toEqual([409, 'VERSION_IN_USE']);
    expect(await code(del(2, { 'if-match': '"other"' }))).toEqual([409, 'VERSION_CONFLICT']);
    const etag = (await easel.fetch(`${versionsOf(id)}/2`, { token: user.token })).headers.get('etag') ?? '';
    expect((await del(2, { 'if-match': etag })).status).toBe(200);
    const { id: draftOnly } = (await json(await draft(easel, user, { files: page('draft') }))).artifact;
    expect(await code(remove(easel, user, `${versionsOf(draftOnly)}/1`))).toEqual([409, 'VERSION_IN_USE']);
    expect(await code(remove(easel, viewer, `${versionsOf(id)}/1`))).toEqual([403, 'FORBIDDEN']);
  });

  test('an artifact of drafts alone is exported with the newest that is left', async () => {
    const { id } = (await json(await draft(easel, user, { files: page('first') }))).artifact;
    await draft(easel, user, { artifact_id: id, files: page('second') });
    expect((await remove(easel, user, `${versionsOf(id)}/2`)).status).toBe(200);
    expect((await easel.fetch(`/v1/artifacts/${id}/export`, { token: user.token })).status).toBe(200);
  });

  test('an upload counts what it holds until it is published or has expired', async () => {
    const content = 'c'.repeat(2000);
    const first = await beginUpload(easel, user, content);
    expect((await sendContent(easel, user, first.uploadId, content)).status).toBe(201);
    expect((await sendContent(easel, user, first.uploadId, content)).status).toBe(201);
    expect(await bytes()).toBe(2000);
    // The second upload takes the content over, which then counts there and only there.
    const second = await beginUpload(easel, user, content);
    expect(await bytes()).toBe(2000);
    const reply = await easel.fetch('/v1/publish', { token: user.token, ...post({ ...second.body, upload_id: second.uploadId }) });
    expect(reply.status).toBe(200);
    expect(await shownUsage(easel, user)).toEqual({ bytes: 2000 + RECORD, artifacts: 1 });
    const third = await beginUpload(easel, user, 'never published');
    await sendContent(easel, user, third.uploadId, 'never published');
    easel.clock.advance(LIMITS.uploadTtlMs);
    await easel.sweep();
    expect(await bytes()).toBe(2000 + RECORD);
  });

  test('an upload token reserves its declared size, until its blob is there or it has expired', async () => {
    const { id } = await published(easel, user);
    const before = await bytes();
    const asked = (await json(await uploadToken(easel, user, id, 1000))).data;
    const unused = (await json(await uploadToken(easel, user, id, 5000))).data;
    const undeclared = (await json(await uploadToken(easel, user, id))).data;
    expect(await bytes()).toBe(before + 6000);
    const put = (url: string, size: number) =>
      easel.fetch(new URL(url).pathname, { method: 'PUT', body: 'x'.repeat(size), headers: { 'content-type': 'text/plain' } });
    expect((await put(asked.uploadUrl, 1000)).status).toBe(201);
    expect((await put(undeclared.uploadUrl, 70)).status).toBe(201);
    expect(await bytes()).toBe(before + 6070);
    expect(unused.tokenId).toMatch(/^upl_/);
    easel.clock.advance(2 * 3_600_000);
    expect(await bytes()).toBe(before + 1070);
    expect(await trueUsage(easel, user)).toEqual(await shownUsage(easel, user));
    await easel.sweep();
    expect(await trueUsage(easel, user)).toEqual(await shownUsage(easel, user));
  });

  test('an artifact has at most as many unused upload tokens as it may have blobs', async () => {
    const { id } = await published(easel, user);
    await easel.sql`
      insert into blob_upload (id, artifact_id, filename, mime_type, direct, created_at_ms, expires_at_ms)
      select ${id} || n, ${id}, 'f', 'text/plain', false, 0, ${easel.clock.nowMs() + 60_000}
      from generate_series(1, ${LIMITS.blobUploadsOpenMax}) as n`;
    expect(await code(uploadToken(easel, user, id, 10))).toEqual([429, 'RATE_LIMITED']);
    expect((await shownUsage(easel, user)).bytes).toBe((await trueUsage(easel, user)).bytes);
    easel.clock.advance(60_000);
    expect((await uploadToken(easel, user, id, 10)).status).toBe(200);
  });

  test('storing and deleting in turn ends at twice the maximum, until the sweep has removed the contents', async () => {
    const { id } = await published(easel, user);
    const hour = easel.clock.nowMs() - (easel.clock.nowMs() % 3_600_000);
    await easel.sql`update account_usage set bytes = bytes + ${2 * bytesMax - 5000} where account_id = ${user.userId}`;
    await easel.sql`insert into storage_release values (${user.userId}, ${hour}, ${2 * bytesMax - 5000})`;
    const cycle = async () => {
      const reply = await uploadBlob(easel, user, id, 'b'.repeat(1500));
      if (reply.status !== 201) return [reply.status, (await json(reply)).error];
      await remove(easel, user, `/v1/data/${id}/blobs/${(await json(reply)).data.id}`);
      return [reply.status];
    };
    expect([await cycle(), await cycle()]).toEqual([[201], [201]]);
    expect(await cycle()).toEqual([507, expect.stringContaining('within the last day')]);
    easel.clock.advance(DAY_MS + 3_600_000);
    expect(await easel.sweep()).toMatchObject({ storageReleases: expect.any(Number) });
    expect(await cycle()).toEqual([201]);
  });

  test('a reservation that nobody ends is ended by the sweep, and counters that differ are corrected', async () => {
    const { id } = await published(easel, user);
    await easel.sweep();
    const before = await bytes();
    await uploadToken(easel, user, id, 4000);
    await easel.sql`update account_usage set bytes = bytes + 77, artifacts = artifacts + 2 where account_id = ${user.userId}`;
    easel.clock.advance(2 * 3_600_000);
    expect(await easel.sweep()).toMatchObject({ correctedAccounts: 1 });
    expect(await shownUsage(easel, user)).toEqual({ bytes: before, artifacts: 1 });
    expect(await easel.sweep()).toMatchObject({ correctedAccounts: 0 });
  });

  test('preview links of an artifact have a maximum', async () => {
    const { id, versionId } = await published(easel, user);
    const create = () => easel.fetch(`/v1/artifacts/${id}/preview-links`, { token: user.token, ...post({ version_id: versionId }) });
    await easel.sql`
      insert into preview_link (id, artifact_id, version_id, secret_sha256, created_at_ms, expires_at_ms)
      select ${id} || n, ${id}, ${versionId}, sha256((${id} || n)::bytea), 0, ${easel.clock.nowMs() + 60_000}
      from generate_series(2, ${LIMITS.previewLinksMax}) as n`;
    expect((await Promise.all([create(), create(), create()])).map(({ status }) => status).sort()).toEqual([201, 507, 507]);
  });
});
