/** The review state of an artifact, and that whoever may review approves, assigns and resolves. Source: spec.md "Review state", contract.md §2. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post, publish, refusal } from '../../../support/requests.ts';
import { ok, Visitor } from '../../../support/visitor.ts';
import { moveInto } from '../../../support/workspaces.ts';
import { type Page, pageOf, Sharing } from '../../sharing/sharing-stage.ts';
import { type Person, person, stageOf } from '../../workspaces/workspace-stage.ts';

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  let sharing: Sharing;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    sharing = new Sharing(easel);
  });
  afterAll(() => easel.close());
  beforeEach(() => easel.clock.advance(2 * 3_600_000));

  const review = (who: Pick<Person, 'token'>, { id }: Pick<Page, 'id'>) => sharing.call(who, `/v1/home/review?artifactId=${id}`);
  const state = async (who: Pick<Person, 'token'>, page: Page) => json(await ok(review(who, page)));
  const approve = (who: Person, { id }: Page, version: number) =>
    sharing.call(who, `/v1/artifacts/${id}/versions/${version}/approve`, post({}));
  const withdraw = (who: Person, { id }: Page, version: number) =>
    sharing.call(who, `/v1/artifacts/${id}/versions/${version}/approve`, { method: 'DELETE' });

  test('exactly the five fields, with own approvals by any linked account', async () => {
    const page = await pageOf(easel);
    const [ed, eda, vic] = [await person(easel, 'ed'), await person(easel, 'eda'), await person(easel, 'vic')];
    await sharing.link(ed, eda);
    await sharing.added(page.owner, page, [ed.email], 'editor');
    await sharing.added(page.owner, page, [vic.email]);
    const empty = await state(page.owner, page);
    expect(empty).toEqual({
      live_version_id: expect.stringMatching(/^ver_/),
      live_version_no: 1,
      can_review: true,
      approvals: [],
      my_approvals: [],
    });
    await ok(approve(ed, page, 1));
    const versionId = empty.live_version_id;
    const approval = {
      version_id: versionId,
      version_no: 1,
      user_id: ed.userId,
      name: 'ed',
      email: ed.email,
      created_at: expect.any(String),
    };
    expect(await state(page.owner, page)).toEqual({ ...empty, approvals: [approval] });
    expect(await state(eda, page)).toEqual({ ...empty, approvals: [approval], my_approvals: [versionId] });
    // Who may only see it is told neither who approves nor their addresses.
    expect(await state(vic, page)).toEqual({ ...empty, can_review: false });
    expect((await refusal(approve(vic, page, 1)))[0]).toBe(403);
    await ok(withdraw(eda, page, 1));
    expect(await state(ed, page)).toEqual(empty);
  });

  test('with the cookie of a session or a token; the artifact must be named, and nobody without access learns of it', async () => {
    const visitor = new Visitor(easel);
    await visitor.signInByCode(`reviewer.${database}@example.com`);
    const page = await pageOf(easel);
    await sharing.added(page.owner, page, [`reviewer.${database}@example.com`], 'editor');
    const read = await visitor.fetch(`/v1/home/review?artifactId=${page.id}`);
    expect([read.status, (await json(read)).can_review]).toEqual([200, true]);
    expect(await refusal(sharing.call(page.owner, '/v1/home/review'))).toEqual([400, 'INVALID_REQUEST', 'artifactId']);
    expect(await refusal(sharing.call(page.owner, '/v1/home/review?artifactId=nonsense'))).toEqual([400, 'INVALID_REQUEST', 'artifactId']);
    expect((await easel.fetch(`/v1/home/review?artifactId=${page.id}`)).status).toBe(401);
    const sam = await person(easel, 'sam');
    for (const id of [page.id, 'art_k3vq7m2xw5tz4ndh6b2crpyf']) {
      expect(await refusal(review(sam, { id }))).toEqual([404, 'ARTIFACT_NOT_FOUND', 'artifactId']);
    }
    const etag = (await review(page.owner, page)).headers.get('etag') ?? '';
    const again = await sharing.call(page.owner, `/v1/home/review?artifactId=${page.id}`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    await ok(sharing.call(page.owner, `/v1/artifacts/${page.id}`, { method: 'DELETE' }));
    expect((await refusal(review(page.owner, page)))[0]).toBe(404);
  });

  test('in a workspace those who run it review: they decide what waits, and assign and resolve comments on pages of members', async () => {
    const { id, owner, admin, member } = await stageOf(easel, `Review ${database}`);
    const other = await person(easel, 'otto');
    await ok(sharing.call(owner, `/v1/workspaces/${id}/members`, post({ email: other.email, role: 'member' })), 201);
    const page = await pageOf(easel, member);
    await moveInto(easel, member, page.id, id);
    await ok(sharing.call(owner, `/v1/workspaces/${id}/publish-policy`, patch({ policy: 'require_approval', approvals_required: 1 })));
    await ok(publish(easel, member, { artifact_id: page.id }));
    const can = async (who: Person) => (await state(who, page)).can_review;
    expect([await can(owner), await can(admin), await can(member), await can(other)]).toEqual([true, true, false, false]);
    const before = await state(admin, page);
    expect(before.live_version_no).toBe(1);
    expect((await json(await ok(approve(admin, page, 2)))).live_version_no).toBe(2);
    // Whose page it is learns who has approved.
    expect((await state(member, page)).approvals).toMatchObject([{ version_no: 2, user_id: admin.userId }]);
    expect((await state(other, page)).approvals).toEqual([]);
    const comments = `/v1/data/${page.id}/comments`;
    const said = (await json(await ok(sharing.call(member, comments, post({ content: 'Is this right?' })), 201))).data;
    const assign = (who: Person, userId: string | null) =>
      sharing.call(who, `${comments}/${said.id}/assign`, patch({ assigneeUserId: userId }));
    const resolve = (who: Person) => sharing.call(who, `${comments}/${said.id}/resolve`, patch({ resolved: true }));
    for (const refused of [assign(other, member.userId), assign(other, 'usr_k3vq7m2xw5tz4ndh6b2crpyf'), resolve(other)]) {
      expect((await refusal(refused)).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
    }
    expect((await json(await ok(assign(admin, member.userId)))).data.assigneeUserId).toBe(member.userId);
    const given = await sharing.call(admin, comments, post({ content: 'And this', assigneeUserId: member.userId }));
    expect(given.status).toBe(201);
    expect((await json(await ok(resolve(admin)))).data).toMatchObject({ resolved: true, resolvedBy: admin.userId });
    // What says something in the name of others stays with its author, the owner and editors.
    expect((await refusal(sharing.call(admin, `${comments}/${said.id}`, { method: 'DELETE' })))[0]).toBe(403);
    // Over with the role.
    await ok(sharing.call(owner, `/v1/workspaces/${id}/members/${admin.userId}`, patch({ role: 'member' })));
    expect(await can(admin)).toBe(false);
    expect((await refusal(resolve(admin)))[0]).toBe(403);
  });
});
