/** An artifact is given away: who owns it, what it counts for, and what the former owner keeps. Source: contract.md §3. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, publish, refusal } from '../../../support/requests.ts';
import { ok } from '../../../support/visitor.ts';
import { moveInto } from '../../../support/workspaces.ts';
import { auditOf, person, stageOf } from '../../workspaces/workspace-stage.ts';
import { pageOf, Sharing } from '../sharing-stage.ts';

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  let sharing: Sharing;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    sharing = new Sharing(easel);
  });
  afterAll(() => easel.close());
  beforeEach(() => easel.clock.advance(25 * 3_600_000));

  const artifact = async (user: Pick<TestUser, 'token'>, id: string) => json(await sharing.call(user, `/v1/artifacts/${id}`));
  const usage = async (user: Pick<TestUser, 'token'>) => {
    const { bytes, artifacts } = (await json(await sharing.call(user, '/v1/account'))).usage;
    return { bytes, artifacts };
  };

  test('the new owner may do everything, the former one what was kept, and the slug pushes for the new one', async () => {
    const page = await pageOf(easel);
    const [ned, vic] = [await person(easel, 'ned'), await person(easel, 'vic')];
    await sharing.added(page.owner, page, [ned.email, vic.email]);
    const given = await sharing.transfer(page.owner, page, ned.email);
    expect([given.status, await json(given)]).toEqual([200, { success: true, new_owner: ned.userId }]);
    expect((await artifact(ned, page.id)).owner_id).toBe(ned.userId);
    expect((await sharing.listed(ned, page)).sort()).toEqual(
      [
        [page.owner.email, 'editor', false],
        [vic.email, 'viewer', false],
      ].sort(),
    );
    expect((await publish(easel, ned, { slug: page.slug })).status).toBe(200);
    expect((await refusal(publish(easel, page.owner, { slug: page.slug }))).slice(0, 2)).toEqual([409, 'SLUG_TAKEN']);
    expect((await publish(easel, page.owner, { artifact_id: page.id })).status).toBe(200);
    expect((await refusal(sharing.transfer(page.owner, page, vic.email)))[0]).toBe(403);
    expect((await refusal(sharing.call(page.owner, `/v1/artifacts/${page.id}`, { method: 'DELETE' })))[0]).toBe(403);
    const [mail] = await sharing.mails(ned.email, 'access_granted');
    expect(mail?.text).toContain('olive lets you manage "The map');
    await ok(sharing.transfer(ned, page, vic.email, { keep_as: 'none' }));
    expect([await sharing.may(ned, page), await sharing.may(vic, page)]).toEqual([null, 'edit']);
    await ok(sharing.transfer(vic, page, ned.email, { keep_as: 'viewer' }));
    expect([await sharing.may(vic, page), await sharing.may(page.owner, page)]).toEqual(['view', 'edit']);
  });

  test('needs a confirmation, an account that has proved the address, and somebody else', async () => {
    const page = await pageOf(easel);
    const twin = await person(easel, 'twin');
    await sharing.link(page.owner, twin);
    const ned = await person(easel, 'ned');
    const path = `/v1/artifacts/${page.id}/transfer-ownership`;
    for (const body of [{ email: ned.email }, { email: ned.email, confirm: false }]) {
      expect(await refusal(sharing.call(page.owner, path, post(body)))).toEqual([400, 'INVALID_REQUEST', 'confirm']);
    }
    await sharing.added(page.owner, page, ['waits@example.com']);
    for (const email of ['nobody@example.com', 'waits@example.com']) {
      expect(await refusal(sharing.transfer(page.owner, page, email))).toEqual([404, 'USER_NOT_FOUND', 'email']);
    }
    for (const { email } of [page.owner, twin]) {
      expect(await refusal(sharing.transfer(page.owner, page, email))).toEqual([400, 'INVALID_REQUEST', 'email']);
    }
    expect((await refusal(sharing.transfer(ned, page, ned.email))).slice(0, 2)).toEqual([404, 'ARTIFACT_NOT_FOUND']);
  });

  test('what it stores counts for the new owner, who must have room, and nothing of that is told', async () => {
    const page = await pageOf(easel);
    const form = new FormData();
    form.set('file', new Blob([Buffer.alloc(10_000, 'x')], { type: 'text/plain' }), 'note.txt');
    await ok(sharing.call(page.owner, `/v1/data/${page.id}/blobs`, { method: 'POST', body: form }), 201);
    const ned = await person(easel, 'ned');
    const before = await usage(page.owner);
    expect([before.artifacts, before.bytes > 10_000, await usage(ned)]).toEqual([1, true, { bytes: 0, artifacts: 0 }]);
    await ok(sharing.transfer(page.owner, page, ned.email));
    expect([await usage(page.owner), await usage(ned)]).toEqual([{ bytes: 0, artifacts: 0 }, before]);
    // The sweep that counts again finds nothing to correct.
    expect((await easel.sweep()).correctedAccounts).toBe(0);
    const full = await person(easel, 'finn');
    await easel.sql`insert into account_usage (account_id, artifacts) values (${full.userId}, 1000000)`;
    const refused = await sharing.transfer(ned, page, full.email);
    const body = await json(refused);
    expect([refused.status, body.code, body.error]).toEqual([
      507,
      'STORAGE_LIMIT_EXCEEDED',
      'Their account has no room for this artifact.',
    ]);
    expect((await artifact(ned, page.id)).owner_id).toBe(ned.userId);
    await easel.sql`delete from account_usage where account_id = ${full.userId}`;
  });

  test('two who give each other their artifacts at once do not wait for each other', async () => {
    const [one, two] = [await person(easel, 'one'), await person(easel, 'two')];
    const [of1, of2] = [await pageOf(easel, one), await pageOf(easel, two)];
    const replies = await Promise.all([sharing.transfer(one, of1, two.email), sharing.transfer(two, of2, one.email)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect([(await usage(one)).artifacts, (await usage(two)).artifacts]).toEqual([1, 1]);
  });

  test('a public page goes to whoever may have one', async () => {
    const owner = await person(easel, 'olive');
    await easel.sql`update account set tier = 'pro' where id = ${owner.userId}`;
    const page = await pageOf(easel, owner, { visibility: 'public' });
    const [free, paid] = [await person(easel, 'fred'), await person(easel, 'paula')];
    await easel.sql`update account set tier = 'pro' where id = ${paid.userId}`;
    expect(await refusal(sharing.transfer(owner, page, free.email))).toEqual([402, 'PLAN_REQUIRED', 'email']);
    await ok(sharing.transfer(owner, page, paid.email));
    await ok(sharing.call(paid, `/v1/artifacts/${page.id}`, patch({ visibility: 'private' })));
    await ok(sharing.transfer(paid, page, free.email));
  });

  test('it leaves the personal folder of its owner, and stays in that of a workspace', async () => {
    const { id, owner, admin } = await stageOf(easel, `Filed ${database}`);
    const ned = await person(easel, 'ned');
    const page = await pageOf(easel, owner);
    const folder = await json(await ok(sharing.call(owner, '/v1/folders', post({ name: 'Mine' })), 201));
    await ok(sharing.call(owner, `/v1/artifacts/${page.id}/folder`, post({ folder_id: folder.id })));
    await ok(sharing.transfer(owner, page, ned.email));
    expect((await artifact(ned, page.id)).folder_id).toBe(null);
    const team = await json(await ok(sharing.call(owner, `/v1/workspaces/${id}/folders`, post({ name: 'Ours' })), 201));
    const shared = await pageOf(easel, owner, { workspace_id: id, folder_id: team.id, visibility: 'workspace' });
    await ok(sharing.transfer(owner, shared, admin.email));
    expect(await artifact(admin, shared.id)).toMatchObject({ owner_id: admin.userId, folder_id: team.id, workspace_id: id });
  });

  test('in a workspace it goes to members only; what the workspace owns, its owners and admins give to one of them', async () => {
    const { id, owner, admin, member, stranger } = await stageOf(easel, `Given ${database}`);
    const page = await pageOf(easel, member);
    await moveInto(easel, member, page.id, id);
    expect(await refusal(sharing.transfer(member, page, stranger.email))).toEqual([403, 'ADDRESS_NOT_ALLOWED', 'email']);
    expect((await refusal(sharing.transfer(admin, page, admin.email)))[0]).toBe(403);
    await ok(sharing.transfer(member, page, admin.email));
    const ours = await pageOf(easel, owner);
    await moveInto(easel, owner, ours.id, id, { isOwned: true });
    await easel.sql`delete from account_usage`;
    await easel.sql`insert into account_usage (account_id, artifacts) values (${id}, 1)`;
    expect((await refusal(sharing.transfer(member, ours, member.email)))[0]).toBe(403);
    await ok(sharing.transfer(admin, ours, member.email, { keep_as: 'viewer' }));
    expect(await sharing.listed(member, ours)).toEqual([[admin.email, 'viewer', false]]);
    const counted = await easel.sql<{ artifacts: number }[]>`
      select artifacts from account_usage where account_id in (${id}, ${member.userId}) order by artifacts`;
    expect(counted.map(({ artifacts }) => artifacts)).toEqual([0, 1]);
    const told = (await auditOf(easel, id)).filter(([action]) => action === 'artifact.transfer');
    expect(told.map(([, by]) => by)).toEqual(['mia', 'adam']);
    await easel.sql`delete from account_usage`;
  });

  test('so many in an hour', async () => {
    const page = await pageOf(easel);
    const statuses = [];
    for (let at = 0; at <= LIMITS.transfersPerHour; at += 1) {
      statuses.push((await sharing.transfer(page.owner, page, 'nobody@example.com')).status);
    }
    expect(statuses.slice(-2)).toEqual([404, 429]);
  });
});
