/** How versions of a workspace's artifacts go live: at once, never, or when owners and admins have approved them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SCOPES } from '../../../../protocol/core/endpoint.ts';
import { newId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { wire } from '../../../support/page-requests.ts';
import { json, patch, post, published, refusal, sha256 } from '../../../support/requests.ts';
import { moveInto, newAgent, workspaceOf } from '../../../support/workspaces.ts';

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  let [owner, admin, twin, member, other] = [] as unknown as [TestUser, TestUser, TestUser, TestUser, TestUser];
  let id: string;
  /** Of the member, public, with version 1 live. */
  let page: { id: string; slug: string; versionId: string };
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    const users = [];
    for (let made = 0; made < 5; made += 1) users.push(await easel.newUser('pro'));
    [owner, admin, twin, member, other] = users as typeof users & [TestUser, TestUser, TestUser, TestUser, TestUser];
    // `twin` is a second account of the admin.
    await easel.sql`update account set person_id = (select person_id from account where id = ${admin.userId}) where id = ${twin.userId}`;
    id = await workspaceOf(easel, [
      [owner, 'owner'],
      [admin, 'admin'],
      [member, 'member'],
      [other, 'member'],
    ]);
  });
  afterAll(() => easel.close());

  const call = (user: TestUser, path: string, init: RequestInit = {}) => easel.fetch(path, { token: user.token, ...init });
  const setPolicy = async (policy: object) => {
    const reply = await call(owner, `/v1/workspaces/${id}/publish-policy`, patch(policy));
    expect([reply.status, await json(reply)]).toEqual([200, { approvals_required: expect.any(Number), ...policy }]);
  };
  const push = (user: TestUser, content: string, more: object = {}) =>
    call(user, '/v1/publish', post({ artifact_id: page.id, files: [{ path: 'index.html', content }], ...more }));
  const pushed = async (user: TestUser, content: string, more: object = {}) => {
    const reply = await push(user, content, more);
    const answer = await json(reply);
    expect([reply.status, answer.code]).toEqual([200, undefined]);
    return answer;
  };
  const shown = async () => {
    const reply = await wire(easel.port, new URL(easel.contentUrl(page.slug)).host, '/');
    return reply.body.toString();
  };
  const approve = (user: TestUser, version: number, body: object = {}) =>
    call(user, `/v1/artifacts/${page.id}/versions/${version}/approve`, post(body));
  const waiting = async (user: TestUser) =>
    (await json(await call(user, `/v1/workspaces/${id}/publish-approvals`))).waiting
      .filter(({ artifact }: { artifact: { id: string } }) => artifact.id === page.id)
      .map(({ version_no }: { version_no: number }) => version_no);

  beforeEach(async () => {
    await setPolicy({ policy: 'allow', approvals_required: 1 });
    page = await published(easel, member, { visibility: 'public', files: [{ path: 'index.html', content: 'version one' }] });
    await moveInto(easel, member, page.id, id, { visibility: 'public' });
    await easel.clock.advance(3_600_000);
  });

  test('a version that waits is served to nobody, and its approval makes it live', async () => {
    await setPolicy({ policy: 'require_approval', approvals_required: 1 });
    const answer = await pushed(member, 'version two');
    expect([answer.held, answer.notice, answer.version.version_no]).toEqual(['REVIEW_REQUIRED', expect.stringContaining('approved'), 2]);
    expect(await shown()).toContain('version one');
    const at = `/v1/artifacts/${page.id}`;
    for (const path of [`${at}/versions/2`, `${at}/files?version=2`, `${at}/versions/1/diff/2`]) {
      expect([path, ...(await refusal(call(other, path)))]).toEqual([path, 404, 'VERSION_NOT_FOUND', undefined]);
      for (const seer of [member, owner, twin]) expect([path, (await call(seer, path)).status]).toEqual([path, 200]);
    }
    const numbers = async (user: TestUser) =>
      (await json(await call(user, `${at}/versions`))).versions.map(({ version_no }: { version_no: number }) => version_no);
    expect([await numbers(other), await numbers(owner)]).toEqual([[1], [2, 1]]);
    expect([await waiting(owner), await waiting(member), await waiting(other)]).toEqual([[2], [2], []]);
    // Its author cannot show it around, nor make it live in another way.
    const preview = post({ version_id: answer.version.id });
    expect((await refusal(call(member, `${at}/preview-links`, preview))).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
    for (const [way, body] of [
      ['rollback', { version_no: 2 }],
      ['pin', { version_id: answer.version.id }],
    ] as const) {
      expect((await refusal(call(member, `${at}/${way}`, post(body)))).slice(0, 2)).toEqual([409, 'REVIEW_REQUIRED']);
    }
    expect((await json(await call(member, `${at}/pin`, post({ version_id: null })))).live_version_no).toBe(1);
    for (const nobody of [member, other]) expect((await refusal(approve(nobody, 2))).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
    const state = await json(await approve(admin, 2));
    expect(state).toMatchObject({
      live_version_no: 2,
      live_version_id: answer.version.id,
      can_review: true,
      approvals: [{ version_id: answer.version.id, version_no: 2, user_id: admin.userId, created_at: expect.any(String) }],
      my_approvals: [answer.version.id],
    });
    expect(await shown()).toContain('version two');
    expect(await waiting(owner)).toEqual([]);
    expect((await refusal(call(admin, `${at}/versions/2/approve`, { method: 'DELETE' }))).slice(0, 2)).toEqual([409, 'ALREADY_PUBLISHED']);
  });

  test('an agent sees its own version that waits, in the list and by id, and other agents do not; none makes it live', async () => {
    const [builder, stranger] = [await newAgent(easel, id as WorkspaceId, SCOPES), await newAgent(easel, id as WorkspaceId, SCOPES)];
    const made = await published(easel, builder, {
      workspace_id: id,
      visibility: 'workspace',
      files: [{ path: 'index.html', content: 'agent one' }],
    });
    await setPolicy({ policy: 'require_approval', approvals_required: 1 });
    await easel.clock.advance(1000);
    const next = { artifact_id: made.id, files: [{ path: 'index.html', content: 'agent two' }] };
    const answer = await json(await easel.fetch('/v1/publish', { token: builder.token, ...post(next) }));
    expect([answer.held, answer.version.version_no]).toEqual(['REVIEW_REQUIRED', 2]);
    const at = `/v1/artifacts/${made.id}`;
    const as = ({ token }: { token: string }, path: string, init: RequestInit = {}) => easel.fetch(`${at}${path}`, { ...init, token });
    const list = async (who: { token: string }) =>
      (await json(await as(who, '/versions?count=true'))) as {
        total: number;
        versions: { version_no: number; waiting_since: string | null }[];
      };
    const seen = await list(builder);
    expect([seen.total, seen.versions.map((each) => [each.version_no, each.waiting_since !== null])]).toEqual([
      2,
      [
        [2, true],
        [1, false],
      ],
    ]);
    const hidden = await list(stranger);
    expect([hidden.total, hidden.versions.map((each) => each.version_no)]).toEqual([1, [1]]);
    for (const ref of [2, answer.version.id]) {
      expect(await json(await as(builder, `/versions/${ref}`))).toMatchObject({ id: answer.version.id, is_draft: true, is_live: false });
      expect((await refusal(as(stranger, `/versions/${ref}`))).slice(0, 2)).toEqual([404, 'VERSION_NOT_FOUND']);
      expect((await refusal(as(member, `/versions/${ref}`))).slice(0, 2)).toEqual([404, 'VERSION_NOT_FOUND']);
    }
    // It has the same agent's right after its token was made anew.
    const renewed = `sot_${'7'.repeat(64)}`;
    await easel.sql`
      insert into agent_token (id, principal_id, scopes, token_sha256, created_at_ms)
      values (${newId('token')}, ${builder.agentId}, ${[...SCOPES]}, ${Buffer.from(sha256(renewed), 'hex')}, 0)`;
    expect((await list({ token: renewed })).total).toBe(2);
    const ways = [
      ['/rollback', { version_no: 2 }],
      ['/pin', { version_id: answer.version.id }],
    ] as const;
    for (const [way, body] of ways) {
      for (const [who, refused] of [
        [builder, [409, 'REVIEW_REQUIRED']],
        [stranger, [404, 'VERSION_NOT_FOUND']],
      ] as const) {
        expect([way, (await refusal(as(who, way, post(body)))).slice(0, 2)]).toEqual([way, refused]);
      }
    }
    for (const [path, body] of [
      ['/versions/2/approve', {}],
      ['/preview-links', { version_id: answer.version.id }],
    ] as const) {
      expect([path, (await refusal(as(builder, path, post(body))))[0]]).toEqual([path, 403]);
    }
    expect((await json(await as(builder, ''))).live_version_no).toBe(1);
    expect((await json(await as(owner, '/versions/2/approve', post({})))).live_version_no).toBe(2);
    expect((await list(stranger)).total).toBe(2);
  });

  test('two approvals are those of two people, whichever linked account they use, and one can be taken back before the last', async () => {
    await setPolicy({ policy: 'require_approval', approvals_required: 2 });
    await pushed(member, 'version two');
    expect((await json(await approve(admin, 2))).live_version_no).toBe(1);
    const again = await json(await approve(twin, 2));
    expect([again.live_version_no, again.approvals.length, again.my_approvals.length]).toEqual([1, 1, 1]);
    const back = await json(await call(twin, `/v1/artifacts/${page.id}/versions/2/approve`, { method: 'DELETE' }));
    expect([back.approvals, back.my_approvals]).toEqual([[], []]);
    expect((await json(await approve(owner, 2))).live_version_no).toBe(1);
    expect((await json(await approve(twin, 2))).live_version_no).toBe(2);
    expect(await shown()).toContain('version two');
  });

  test('approvals of somebody who does not run the workspace any more do not count', async () => {
    await setPolicy({ policy: 'require_approval', approvals_required: 2 });
    const third = await easel.newUser();
    await easel.sql`insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${id}, ${third.userId}, 'admin', 0)`;
    await pushed(member, 'version two');
    expect((await approve(third, 2)).status).toBe(200);
    await easel.sql`update workspace_member set role = 'member' where user_id = ${third.userId}`;
    expect((await json(await approve(admin, 2))).live_version_no).toBe(1);
    expect((await json(await approve(owner, 2))).live_version_no).toBe(2);
  });

  test('nobody approves their own version; an owner or admin needs no approval', async () => {
    await setPolicy({ policy: 'require_approval', approvals_required: 1 });
    await pushed(member, 'version two');
    await easel.sql`update account set person_id = (select person_id from account where id = ${admin.userId}) where id = ${member.userId}`;
    try {
      expect((await refusal(approve(admin, 2))).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
    } finally {
      await easel.sql`update account set person_id = ${`per_${member.userId.slice(4)}`} where id = ${member.userId}`;
    }
    // An admin edits what the workspace owns.
    await moveInto(easel, member, page.id, id, { visibility: 'public', isOwned: true });
    const own = await pushed(admin, 'version three');
    expect([own.held, await shown()]).toEqual([undefined, expect.stringContaining('version three')]);
  });

  test('of several that wait a newer one that is live stays, unless the reviewer asks for the older', async () => {
    await setPolicy({ policy: 'require_approval', approvals_required: 1 });
    for (const text of ['version two', 'version three', 'version four']) {
      await easel.clock.advance(1000);
      await pushed(member, text);
    }
    expect(await waiting(owner)).toEqual([4, 3, 2]);
    expect((await json(await approve(owner, 3))).live_version_no).toBe(3);
    expect((await json(await approve(owner, 2))).live_version_no).toBe(3);
    expect(await shown()).toContain('version three');
    expect((await json(await approve(owner, 4))).live_version_no).toBe(4);
    await pushed(member, 'version five');
    await pushed(member, 'version six');
    expect((await json(await approve(owner, 6))).live_version_no).toBe(6);
    expect((await json(await approve(owner, 5, { make_live: true }))).live_version_no).toBe(5);
    expect(await shown()).toContain('version five');
  });

  test('where publishing is prohibited members keep drafts, which owners and admins of the workspace do not need', async () => {
    await setPolicy({ policy: 'prohibit', approvals_required: 1 });
    expect((await refusal(push(member, 'version two'))).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
    const draft = await pushed(member, 'a draft', { draft: true });
    expect(draft.held).toBe(undefined);
    expect((await refusal(call(member, `/v1/artifacts/${page.id}/rollback`, post({ version_no: 2 })))).slice(0, 2)).toEqual([
      403,
      'FORBIDDEN',
    ]);
    expect(await shown()).toContain('version one');
  });

  test('nor is moving a page in: a member may not, where the policy would have been asked; an admin may, and drafts may', async () => {
    const moveIn = (user: TestUser, moved: string) => call(user, `/v1/artifacts/${moved}`, patch({ workspace_id: id }));
    for (const policy of ['prohibit', 'require_approval']) {
      await setPolicy({ policy, approvals_required: 1 });
      const own = await published(easel, member);
      expect([policy, ...(await refusal(moveIn(member, own.id)))]).toEqual([policy, 403, 'FORBIDDEN', undefined]);
      expect((await json(await call(member, `/v1/artifacts/${own.id}`))).workspace_id).toBe(null);
      const unseen = await published(easel, member, { draft: true });
      expect([policy, (await moveIn(member, unseen.id)).status]).toEqual([policy, 200]);
      const ofAdmin = await published(easel, admin);
      expect([policy, (await moveIn(admin, ofAdmin.id)).status]).toEqual([policy, 200]);
    }
  });

  test('a draft does not become a way around an approval', async () => {
    await setPolicy({ policy: 'require_approval', approvals_required: 1 });
    await pushed(member, 'a draft', { draft: true });
    expect((await refusal(call(member, `/v1/artifacts/${page.id}/rollback`, post({ version_no: 2 })))).slice(0, 2)).toEqual([
      409,
      'REVIEW_REQUIRED',
    ]);
  });

  test('a new artifact whose first version waits has no page; its author withdraws it by deleting the version', async () => {
    await setPolicy({ policy: 'require_approval', approvals_required: 1 });
    await pushed(member, 'version two');
    const gone = await call(member, `/v1/artifacts/${page.id}/versions/2`, { method: 'DELETE' });
    expect([gone.status, await waiting(owner)]).toEqual([200, []]);
    expect((await refusal(approve(owner, 2))).slice(0, 2)).toEqual([404, 'VERSION_NOT_FOUND']);
  });

  test('the policy is changed by owners and admins, read by members, and asks for no more approvals than there are people', async () => {
    const path = `/v1/workspaces/${id}/publish-policy`;
    expect(await refusal(call(member, path, patch({ policy: 'allow' })))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await json(await call(member, path))).toEqual({ policy: 'allow', approvals_required: 1 });
    expect(await refusal(call(owner, path, patch({ policy: 'require_approval', approvals_required: 9 })))).toEqual([
      400,
      'INVALID_REQUEST',
      'approvals_required',
    ]);
    const { headers } = await call(owner, path);
    await setPolicy({ policy: 'prohibit', approvals_required: 1 });
    const stale = await call(owner, path, patch({ policy: 'allow' }, { 'if-match': headers.get('etag') ?? '' }));
    expect([stale.status, (await json(stale)).code]).toEqual([409, 'VERSION_CONFLICT']);
    const [row] = await easel.sql`
      select actor_id, detail from audit_entry where workspace_id = ${id} and action = 'publish_policy.update' order by at_ms desc, id desc limit 1`;
    expect(row).toMatchObject({ actor_id: owner.userId });
  });
});
