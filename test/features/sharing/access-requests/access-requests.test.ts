/** Requests for access: asked once, decided once by whoever owns the page, and ended by any other way in. Source: spec.md "Access requests". */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { ok } from '../../../support/visitor.ts';
import { moveInto } from '../../../support/workspaces.ts';
import { auditOf, person, stageOf } from '../../workspaces/workspace-stage.ts';
import { type Page, pageOf, Sharing } from '../sharing-stage.ts';

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  let sharing: Sharing;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
    sharing = new Sharing(easel);
  });
  afterAll(() => easel.close());
  beforeEach(() => easel.clock.advance(25 * 3_600_000));

  type User = Pick<TestUser, 'token'>;
  const ask = (who: User, body: object) => sharing.call(who, '/v1/access-requests', post(body));
  const asked = async (who: User, { slug }: Page): Promise<string> => (await json(await ok(ask(who, { slug })))).id;
  const incoming = async (who: User) => (await json(await ok(sharing.call(who, '/v1/access-requests/incoming')))).requests;
  const outgoing = async (who: User) => (await json(await ok(sharing.call(who, '/v1/access-requests/outgoing')))).requests;
  const statuses = async (who: User) => (await outgoing(who)).map(({ status }: { status: string }) => status);
  const decide = (who: User, id: string, action: string) => sharing.call(who, `/v1/access-requests/${id}`, post({ action }));

  test('one pending each, shown to the owner with who asks, and approved: a viewer, who is told', async () => {
    const page = await pageOf(easel);
    const ray = await person(easel, 'ray');
    const first = await json(await ok(ask(ray, { slug: page.slug, message: ' May I? ' })));
    expect(first).toEqual({ ok: true, status: 'created', id: expect.stringMatching(/^req_/) });
    expect(await json(await ok(ask(ray, { artifact_id: page.id })))).toEqual({ ok: true, status: 'pending', id: first.id });
    const shown = {
      id: first.id,
      artifact_id: page.id,
      artifact_name: expect.stringContaining('The map'),
      artifact_slug: page.slug,
      requester_email: ray.email,
      requester_name: 'ray',
      message: 'May I?',
      status: 'pending',
      created_at: expect.any(String),
    };
    expect(await incoming(page.owner)).toEqual([shown]);
    expect(await json(await ok(sharing.call(page.owner, `/v1/access-requests/${first.id}`)))).toEqual(shown);
    expect(await incoming(ray)).toEqual([]);
    // Who asks does not learn what the page is called.
    expect(await outgoing(ray)).toEqual([
      {
        id: first.id,
        artifact_id: page.id,
        artifact_slug: page.slug,
        message: 'May I?',
        status: 'pending',
        created_at: shown.created_at,
        decided_at: null,
      },
    ]);
    const approved = await decide(page.owner, first.id, 'approve');
    expect([approved.status, await json(approved)]).toEqual([200, { ok: true, action: 'approve' }]);
    expect([await sharing.may(ray, page), await sharing.listed(page.owner, page)]).toEqual(['view', [[ray.email, 'viewer', false]]]);
    expect([await incoming(page.owner), await statuses(ray)]).toEqual([[], ['approved']]);
    const [told] = await sharing.mails(ray.email, 'access_granted');
    expect([told?.subject, told?.text.includes(`http://${page.slug}.`)]).toEqual([
      expect.stringContaining('You have access to "The map'),
      true,
    ]);
    for (const action of ['approve', 'deny']) {
      expect((await refusal(decide(page.owner, first.id, action))).slice(0, 2)).toEqual([409, 'ALREADY_DECIDED']);
    }
    expect(await refusal(ask(ray, { slug: page.slug }))).toEqual([409, 'ALREADY_HAS_ACCESS', undefined]);
  });

  test('denied: no access, told without the name of the page, and may ask again', async () => {
    const page = await pageOf(easel);
    const ray = await person(easel, 'ray');
    const id = await asked(ray, page);
    await ok(decide(page.owner, id, 'deny'));
    expect([await sharing.may(ray, page), await statuses(ray)]).toEqual([null, ['denied']]);
    const [told] = await sharing.mails(ray.email, 'access_denied');
    expect(told?.text).toContain(page.slug);
    expect(`${told?.subject}${told?.text}`).not.toContain('The map');
    easel.clock.advance(1);
    expect((await json(await ask(ray, { slug: page.slug }))).status).toBe('created');
    expect(await statuses(ray)).toEqual(['pending', 'denied']);
  });

  test('the mail to the owner has two buttons, and opening them decides nothing', async () => {
    const page = await pageOf(easel);
    const ray = await person(easel, 'ray');
    const id = await asked(ray, page);
    const [mail] = await sharing.mails(page.owner.email, 'access_requested');
    const links = [...(mail?.html ?? '').matchAll(/class="button" href="([^"]*)"/g)].map(
      ([, href]) => new URL((href ?? '').replaceAll('&#38;', '&')),
    );
    expect(links.map(({ pathname, search }) => pathname + search)).toEqual([
      `/access-requests/${id}?action=approve`,
      `/access-requests/${id}?action=deny`,
    ]);
    for (const { pathname, search } of links) await easel.fetch(pathname + search);
    expect(await statuses(ray)).toEqual(['pending']);
  });

  test('404 for what does not exist or is in the trash; told to whoever has access already', async () => {
    const page = await pageOf(easel);
    const ray = await person(easel, 'ray');
    expect(await refusal(ask(ray, { slug: 'no-such-page-at-all' }))).toEqual([404, 'ARTIFACT_NOT_FOUND', 'slug']);
    expect(await refusal(ask(ray, { artifact_id: 'art_k3vq7m2xw5tz4ndh6b2crpyf' }))).toEqual([404, 'ARTIFACT_NOT_FOUND', 'artifact_id']);
    for (const body of [{}, { slug: page.slug, artifact_id: page.id }]) {
      expect((await refusal(ask(ray, body))).slice(0, 2)).toEqual([400, 'INVALID_REQUEST']);
    }
    const twin = await easel.newUser();
    await sharing.link(page.owner, twin);
    for (const who of [page.owner, twin]) expect((await refusal(ask(who, { slug: page.slug })))[1]).toBe('ALREADY_HAS_ACCESS');
    const id = await asked(ray, page);
    await ok(sharing.call(page.owner, `/v1/artifacts/${page.id}`, { method: 'DELETE' }));
    expect(await refusal(ask(ray, { artifact_id: page.id }))).toEqual([404, 'ARTIFACT_NOT_FOUND', 'artifact_id']);
    expect([await incoming(page.owner), (await refusal(decide(page.owner, id, 'approve')))[0]]).toEqual([[], 404]);
    await ok(sharing.call(page.owner, `/v1/artifacts/${page.id}/restore`, { method: 'POST' }));
    expect((await incoming(page.owner)).length).toBe(1);
    await ok(sharing.call(page.owner, `/v1/artifacts/${page.id}`, { method: 'DELETE' }));
    easel.clock.advance((LIMITS.trashRetentionDays + 1) * 24 * 3_600_000);
    await easel.sweep();
    expect(await outgoing(ray)).toEqual([]);
  });

  test('decided by the owner alone, by whichever linked account; others who know of it are refused, strangers learn nothing', async () => {
    const page = await pageOf(easel);
    const [ray, ed, sam, twin] = [await person(easel, 'ray'), await person(easel, 'ed'), await person(easel, 'sam'), await easel.newUser()];
    await sharing.link(page.owner, twin);
    await sharing.added(page.owner, page, [ed.email], 'editor');
    const id = await asked(ray, page);
    for (const who of [ray, ed]) {
      expect((await refusal(decide(who, id, 'approve'))).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
      expect((await refusal(sharing.call(who, `/v1/access-requests/${id}`)))[0]).toBe(403);
    }
    for (const path of [id, 'req_k3vq7m2xw5tz4ndh6b2crpyf', 'nonsense']) {
      expect((await refusal(decide(sam, path, 'deny'))).slice(0, 2)).toEqual([404, 'ACCESS_REQUEST_NOT_FOUND']);
    }
    expect((await easel.fetch(`/v1/access-requests/${id}`, post({ action: 'approve' }))).status).toBe(401);
    expect((await refusal(decide(page.owner, id, 'perhaps')))[2]).toBe('action');
    expect((await incoming(twin)).length).toBe(1);
    await ok(decide(twin, id, 'approve'));
    expect(await sharing.may(ray, page)).toBe('view');
  });

  test('of a workspace: its owners and admins get the mail, one for each person and so many, and decide; its record tells', async () => {
    const { id: workspaceId, owner, admin, member, stranger } = await stageOf(easel, `Asked ${database}`);
    const page = await pageOf(easel, owner);
    await moveInto(easel, owner, page.id, workspaceId, { isOwned: true, visibility: 'private' });
    const twin = await person(easel, 'twin');
    await sharing.link(admin, twin);
    await easel.sql`
      insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${workspaceId}, ${twin.userId}, 'admin', 0)`;
    const id = await asked(stranger, page);
    const mailed = async (who: { email: string }) => (await sharing.mails(who.email, 'access_requested')).length;
    expect([await mailed(owner), (await mailed(admin)) + (await mailed(twin)), await mailed(member)]).toEqual([1, 1, 0]);
    // A member who does not see the page may ask for it too.
    const other = await asked(member, page);
    expect((await refusal(decide(member, id, 'approve')))[0]).toBe(404);
    expect((await incoming(admin)).map((one: { id: string }) => one.id).sort()).toEqual([id, other].sort());
    await ok(decide(admin, id, 'approve'));
    expect(await sharing.may(stranger, page)).toBe('view');
    await ok(decide(owner, other, 'deny'));
    const told = (await auditOf(easel, workspaceId)).filter(([action]) => /^(?:access_request|collaborator)\./.test(action));
    expect(told.map(([action, by]) => [action, by])).toEqual([
      ['access_request.create', 'sam'],
      ['access_request.create', 'mia'],
      ['access_request.approve', 'adam'],
      ['collaborator.add', 'adam'],
      ['access_request.deny', 'olive'],
    ]);
  });

  test('ends when access is given otherwise: by name, by a transfer, by the workspace, or because everybody sees the page', async () => {
    const [named, given, opened] = [await pageOf(easel), await pageOf(easel), await pageOf(easel)];
    const ray = await person(easel, 'ray');
    const id = await asked(ray, named);
    await sharing.added(named.owner, named, [ray.email], 'editor');
    expect(await statuses(ray)).toEqual(['ended']);
    expect((await refusal(decide(named.owner, id, 'deny'))).slice(0, 2)).toEqual([409, 'ALREADY_DECIDED']);
    expect(await sharing.may(ray, named)).toBe('edit');
    easel.clock.advance(1);
    await asked(ray, given);
    await ok(sharing.transfer(given.owner, given, ray.email));
    expect(await statuses(ray)).toEqual(['ended', 'ended']);
    easel.clock.advance(1);
    await easel.sql`update account set tier = 'pro' where id = ${opened.owner.userId}`;
    await asked(ray, opened);
    await ok(sharing.call(opened.owner, `/v1/artifacts/${opened.id}`, patch({ visibility: 'public' })));
    expect(await incoming(opened.owner)).toEqual([]);
    await easel.sweep();
    expect(await statuses(ray)).toEqual(['ended', 'ended', 'ended']);
    const { id: workspaceId, owner } = await stageOf(easel, `Joined ${database}`);
    const ours = await pageOf(easel, owner);
    await moveInto(easel, owner, ours.id, workspaceId);
    easel.clock.advance(1);
    await asked(ray, ours);
    await easel.sweep();
    expect((await statuses(ray))[0]).toBe('pending');
    await ok(sharing.call(owner, `/v1/workspaces/${workspaceId}/members`, post({ email: ray.email, role: 'member' })), 201);
    await easel.sweep();
    expect((await statuses(ray))[0]).toBe('ended');
  });

  test('linked accounts ask once; a request of an account without an address is approved like any other', async () => {
    const page = await pageOf(easel);
    const [one, two] = [await easel.newUser(), await easel.newUser()];
    await sharing.link(one, two);
    const replies = await Promise.all([one, two, one, two].map((who) => ask(who, { slug: page.slug })));
    const said = await Promise.all(replies.map(json));
    expect(said.map(({ status }) => status).sort()).toEqual(['created', 'pending', 'pending', 'pending']);
    expect(await incoming(page.owner)).toMatchObject([{ requester_email: null, requester_name: null }]);
    await ok(decide(page.owner, said[0].id, 'approve'));
    expect([await sharing.may(one, page), await sharing.may(two, page)]).toEqual(['view', 'view']);
  });

  test('several decisions at once are one', async () => {
    const page = await pageOf(easel);
    const ray = await person(easel, 'ray');
    const id = await asked(ray, page);
    const replies = await Promise.all(['approve', 'deny', 'approve', 'deny'].map((action) => decide(page.owner, id, action)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const { action } = await json(replies.find(({ status }) => status === 200) as Response);
    expect(await sharing.may(ray, page)).toBe(action === 'approve' ? 'view' : null);
  });

  test('limited for a person, for a person and a page, and for a page; what is refused costs the owner no mail', async () => {
    const page = await pageOf(easel);
    const ray = await person(easel, 'ray');
    for (let time = 0; time < LIMITS.accessRequestsAgainPerDay; time += 1) await ok(decide(page.owner, await asked(ray, page), 'deny'));
    expect((await refusal(ask(ray, { slug: page.slug }))).slice(0, 2)).toEqual([429, 'RATE_LIMITED']);
    expect(await sharing.mails(page.owner.email, 'access_requested')).toHaveLength(LIMITS.accessRequestsAgainPerDay);
    for (let left = LIMITS.accessRequestsPerHour; left > 0; left -= 1) await ask(ray, { slug: 'no-such-page-at-all' });
    expect((await ask(ray, { slug: 'no-such-page-at-all' })).status).toBe(429);
    const crowd = [];
    for (let at = LIMITS.accessRequestsAgainPerDay; at < LIMITS.accessRequestsOfArtifactPerHour; at += 1) crowd.push(await easel.newUser());
    for (const who of crowd) await ok(ask(who, { slug: page.slug }));
    expect((await refusal(ask(await easel.newUser(), { slug: page.slug })))[0]).toBe(429);
  });

  test('pages of the lists, and what is old is forgotten', async () => {
    const owner = await person(easel, 'olive');
    const ray = await person(easel, 'ray');
    for (let at = 0; at < 3; at += 1) {
      await asked(ray, await pageOf(easel, owner));
      easel.clock.advance(1);
    }
    for (const [who, list] of [
      [owner, 'incoming'],
      [ray, 'outgoing'],
    ] as const) {
      const first = await json(await sharing.call(who, `/v1/access-requests/${list}?limit=2&count=true`));
      const second = await json(await sharing.call(who, `/v1/access-requests/${list}?limit=2&cursor=${first.next_cursor}`));
      expect([first.total, first.requests.length, first.has_more, second.requests.length, second.has_more]).toEqual([3, 2, true, 1, false]);
      const ids = [...first.requests, ...second.requests].map(({ id }) => id);
      expect(new Set(ids).size).toBe(3);
    }
    easel.clock.advance((LIMITS.accessRequestsKeptDays + 1) * 24 * 3_600_000);
    await easel.sweep();
    expect(await outgoing(ray)).toEqual([]);
  });
});
