/** Collaborators: by address, before and after somebody proves it, one entry a person, and over at once. Source: contract.md §3. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { ok, Visitor } from '../../../support/visitor.ts';
import { moveInto } from '../../../support/workspaces.ts';
import { auditOf, person, stageOf } from '../../workspaces/workspace-stage.ts';
import { pageOf, Sharing } from '../sharing-stage.ts';

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  let sharing: Sharing;
  let addresses = 0;
  beforeAll(async () => {
    easel = await startTestEasel({ database, settings: { TRUST_PROXY: 'true' } });
    sharing = new Sharing(easel);
  });
  afterAll(() => easel.close());
  // Beyond the windows of the limits, so that no test spends another's attempts.
  beforeEach(() => easel.clock.advance(25 * 3_600_000));

  const newAddress = () => {
    addresses += 1;
    return `nobody.${addresses}@example.com`;
  };
  const signIn = (email: string) => new Visitor(easel, { address: `198.51.100.${addresses % 250}` }).signInByCode(email);

  test('added with a role, raised but never lowered by adding, changed and removed; nothing of it works before or after', async () => {
    const page = await pageOf(easel);
    const vic = await person(easel, 'vic');
    expect(await sharing.may(vic, page)).toBe(null);
    expect(await sharing.added(page.owner, page, [vic.email.toUpperCase()])).toEqual([['added', 'viewer']]);
    expect(await sharing.may(vic, page)).toBe('view');
    expect(await sharing.added(page.owner, page, [vic.email], 'editor')).toEqual([['raised', 'editor']]);
    expect(await sharing.added(page.owner, page, [vic.email, vic.email])).toEqual([['unchanged', 'editor']]);
    expect(await sharing.may(vic, page)).toBe('edit');
    const changed = await sharing.change(page.owner, page, vic.email, 'viewer');
    expect([changed.status, await json(changed)]).toEqual([
      200,
      { email: vic.email, user_id: vic.userId, name: 'vic', role: 'viewer', added_at: expect.any(String), pending: false },
    ]);
    expect(await sharing.may(vic, page)).toBe('view');
    expect(await json(await sharing.remove(page.owner, page, vic.email))).toEqual({ success: true, remaining_role: null });
    expect(await sharing.may(vic, page)).toBe(null);
    for (const again of [sharing.remove(page.owner, page, vic.email), sharing.change(page.owner, page, vic.email, 'editor')]) {
      expect(await refusal(again)).toEqual([404, 'USER_NOT_FOUND', 'email']);
    }
  });

  test('the owner manages, editors see the list, viewers only leave, and strangers learn nothing', async () => {
    const page = await pageOf(easel);
    const [ed, vic, sam] = [await person(easel, 'ed'), await person(easel, 'vic'), await person(easel, 'sam')];
    await sharing.added(page.owner, page, [ed.email], 'editor');
    easel.clock.advance(1);
    await sharing.added(page.owner, page, [vic.email]);
    const seen = [
      [vic.email, 'viewer', false],
      [ed.email, 'editor', false],
    ];
    expect([await sharing.listed(page.owner, page), await sharing.listed(ed, page)]).toEqual([seen, seen]);
    const list = `/v1/artifacts/${page.id}/collaborators`;
    const { owner } = await json(await sharing.call(ed, list));
    expect(owner).toEqual({ user_id: page.owner.userId, email: page.owner.email, name: 'olive' });
    expect((await refusal(sharing.call(vic, list)))[0]).toBe(403);
    for (const other of [ed, vic]) {
      expect((await refusal(sharing.add(other, page, [sam.email])))[0]).toBe(403);
      expect((await refusal(sharing.change(other, page, vic.email, 'editor')))[0]).toBe(403);
      expect((await refusal(sharing.call(other, `/v1/artifacts/${page.id}/share`, post({ recipients: [sam.email] }))))[0]).toBe(403);
      expect((await refusal(sharing.transfer(other, page, other.email)))[0]).toBe(403);
      // The same for somebody who is none of them: it tells a viewer of nobody.
      for (const who of [page.owner.email, sam.email]) expect((await refusal(sharing.remove(other, page, who)))[0]).toBe(403);
    }
    expect((await refusal(sharing.remove(vic, page, ed.email)))[0]).toBe(403);
    expect((await refusal(sharing.remove(sam, page, sam.email))).slice(0, 2)).toEqual([404, 'ARTIFACT_NOT_FOUND']);
    expect((await sharing.remove(vic, page, vic.email)).status).toBe(200);
    expect((await sharing.remove(ed, page, ed.userId)).status).toBe(200);
    expect([await sharing.may(vic, page), await sharing.may(ed, page), await sharing.listed(page.owner, page)]).toEqual([null, null, []]);
  });

  test('pages of the list', async () => {
    const page = await pageOf(easel);
    const emails = Array.from({ length: 5 }, newAddress);
    for (const email of emails) {
      await sharing.added(page.owner, page, [email]);
      if (email !== emails[2]) easel.clock.advance(1);
    }
    const seen: string[] = [];
    let cursor = '';
    do {
      const body = await json(await sharing.call(page.owner, `/v1/artifacts/${page.id}/collaborators?limit=2${cursor}`));
      seen.push(...body.collaborators.map(({ email }: { email: string }) => email));
      cursor = body.has_more ? `&cursor=${body.next_cursor}` : '';
    } while (cursor !== '');
    expect([...seen].sort()).toEqual([...emails].sort());
    expect(seen.slice(0, 1)).toEqual(emails.slice(-1));
  });

  test('an address without an account waits, can be changed and removed, and counts when its account proves it', async () => {
    const page = await pageOf(easel);
    const [first, second, third] = [newAddress(), newAddress(), newAddress()];
    expect(await sharing.added(page.owner, page, [first, second, third])).toEqual(Array(3).fill(['pending', 'viewer']));
    expect(await sharing.added(page.owner, page, [second], 'editor')).toEqual([['raised', 'editor']]);
    expect(await sharing.added(page.owner, page, [second])).toEqual([['unchanged', 'editor']]);
    expect((await json(await sharing.change(page.owner, page, third, 'editor'))).pending).toBe(true);
    expect((await json(await sharing.remove(page.owner, page, third))).remaining_role).toBe(null);
    const visitor = new Visitor(easel, { address: '198.51.100.251' });
    await visitor.signInByCode(second);
    const path = `/v1/artifacts/${page.id}`;
    expect((await visitor.fetch(path)).status).toBe(200);
    expect((await visitor.send('PUT', `/v1/data/${page.id}/json/mark`, { by: 'me' })).status).toBe(201);
    await signIn(third);
    expect((await sharing.listed(page.owner, page)).sort()).toEqual(
      [
        [first, 'viewer', true],
        [second, 'editor', false],
      ].sort(),
    );
    // The page is among what is shared with them.
    const { artifacts } = await json(await visitor.fetch('/v1/artifacts'));
    expect(artifacts.map(({ id }: { id: string }) => id)).toEqual([page.id]);
  });

  test('[I1] [I2] an account that only says an address, or has not proved it yet, gets nothing', async () => {
    const page = await pageOf(easel);
    const email = newAddress();
    await sharing.added(page.owner, page, [email], 'editor');
    const headless = await easel.newUser();
    await sharing.call(headless, '/v1/auth/profile', patch({ name: email, metadata: { email } }));
    const visitor = new Visitor(easel, { address: '198.51.100.252' });
    await ok(visitor.post('/v1/auth/password/sign-up', { email, password: 'seven quiet rivers' }), 202);
    await ok(sharing.call(headless, '/v1/auth/link-email/start', post({ email })));
    // An identity provider that has not verified it.
    const claimed = await easel.newUser();
    await easel.sql`
      insert into sign_in (account_id, provider, issuer, subject, email, email_proved, linked_at_ms, last_used_at_ms)
      values (${claimed.userId}, 'corp', 'https://corp.example', ${claimed.userId}, ${email}, false, 0, 0)`;
    for (const user of [headless, claimed]) expect(await sharing.may(user, page)).toBe(null);
    expect(await sharing.listed(page.owner, page)).toEqual([[email, 'editor', true]]);
  });

  test('whichever way proves an address first: a password, a code, a link; and each only once', async () => {
    const page = await pageOf(easel);
    const [byPassword, byLink] = [newAddress(), newAddress()];
    await sharing.added(page.owner, page, [byPassword, byLink], 'editor');
    await new Visitor(easel, { address: '198.51.100.253' }).signUp(byPassword, 'seven quiet rivers');
    const headless = await easel.newUser();
    // Its access is cached before.
    expect(await sharing.may(headless, page)).toBe(null);
    await sharing.prove(headless, byLink);
    expect(await sharing.may(headless, page)).toBe('edit');
    await ok(sharing.remove(page.owner, page, byLink));
    // A removed one does not come back with the next proof.
    await signIn(byLink);
    expect(await sharing.may(headless, page)).toBe(null);
    expect(await sharing.listed(page.owner, page)).toEqual([[byPassword, 'editor', false]]);
  });

  test('linked accounts are one person: one entry, and whichever address is removed, the access is over', async () => {
    const page = await pageOf(easel);
    const [ann, anna] = [await person(easel, 'ann'), await person(easel, 'anna')];
    await sharing.link(ann, anna);
    expect(await sharing.added(page.owner, page, [ann.email, anna.email])).toEqual([
      ['added', 'viewer'],
      ['unchanged', 'viewer'],
    ]);
    expect(await sharing.listed(page.owner, page)).toEqual([[ann.email, 'viewer', false]]);
    await ok(sharing.change(page.owner, page, anna.email, 'editor'));
    expect([await sharing.may(ann, page), await sharing.may(anna, page)]).toEqual(['edit', 'edit']);
    expect((await json(await sharing.remove(page.owner, page, anna.email))).remaining_role).toBe(null);
    expect([await sharing.may(ann, page), await sharing.may(anna, page), await sharing.listed(page.owner, page)]).toEqual([null, null, []]);
  });

  test('two people who become one have one entry with the better role, and both rows end together', async () => {
    const page = await pageOf(easel);
    const email = newAddress();
    const one = new Visitor(easel, { address: '198.51.100.254' });
    await one.signInByCode(email);
    const headless = await easel.newUser();
    await sharing.added(page.owner, page, [email]);
    await easel.sql`
      insert into collaborator (artifact_id, user_id, role, added_at_ms) values (${page.id}, ${headless.userId}, 'editor', ${easel.clock.nowMs() + 5})`;
    await sharing.prove(headless, email);
    expect(await sharing.listed(page.owner, page)).toEqual([[email, 'editor', false]]);
    await ok(sharing.remove(page.owner, page, email));
    expect(await sharing.may(headless, page)).toBe(null);
    const rows = await easel.sql`select 1 from collaborator where artifact_id = ${page.id}`;
    expect(rows).toHaveLength(0);
  });

  test('the owner is none of them, by no linked account, and cannot be removed', async () => {
    const page = await pageOf(easel);
    const twin = await person(easel, 'twin');
    await sharing.link(page.owner, twin);
    expect(await sharing.added(page.owner, page, [page.owner.email, twin.email], 'viewer')).toEqual(Array(2).fill(['owner', 'owner']));
    for (const who of [page.owner.email, twin.email, page.owner.userId]) {
      expect(await refusal(sharing.remove(page.owner, page, who))).toEqual([400, 'CANNOT_REMOVE_OWNER', 'email']);
      expect(await refusal(sharing.change(page.owner, page, who, 'viewer'))).toEqual([400, 'CANNOT_REMOVE_OWNER', 'email']);
    }
    // An own address that is proved later changes nothing either.
    const email = newAddress();
    const headless = await pageOf(easel, { ...(await easel.newUser()), email: '' });
    await sharing.added(headless.owner, headless, [email], 'viewer');
    await sharing.prove(headless.owner, email);
    expect([await sharing.listed(headless.owner, headless), await sharing.may(headless.owner, headless)]).toEqual([[], 'edit']);
  });

  test('what remains after a removal is told: of a public page, and by a workspace', async () => {
    const { id, owner, member } = await stageOf(easel, `Remains ${database}`);
    const page = await pageOf(easel, owner);
    await moveInto(easel, owner, page.id, id);
    await sharing.added(owner, page, [member.email], 'editor');
    expect((await json(await sharing.remove(owner, page, member.email))).remaining_role).toBe('viewer');
    expect(await sharing.may(member, page)).toBe('view');
    await easel.sql`update account set tier = 'pro' where id = ${owner.userId}`;
    const open = await pageOf(easel, owner);
    const [vic] = [await person(easel, 'vic')];
    await ok(sharing.call(owner, `/v1/artifacts/${open.id}`, patch({ visibility: 'public' })));
    await sharing.added(owner, open, [vic.email], 'editor');
    expect((await json(await sharing.remove(owner, open, vic.email))).remaining_role).toBe('viewer');
  });

  test('in a workspace: its owners and admins share what it owns, its policy bounds with whom, and its record tells', async () => {
    const { id, owner, admin, member } = await stageOf(easel, `Policy ${database}`);
    const page = await pageOf(easel, owner);
    await moveInto(easel, owner, page.id, id, { isOwned: true, visibility: 'private' });
    const policy = { allowed_domains: ['inside.example'], allowed_emails: [], auto_join: false };
    await ok(sharing.call(owner, `/v1/workspaces/${id}/access-policy`, { ...post(policy), method: 'PUT' }));
    const out = newAddress();
    expect(await refusal(sharing.add(admin, page, [member.email, out]))).toEqual([403, 'ADDRESS_NOT_ALLOWED', undefined]);
    // One address that is refused refuses all.
    expect(await sharing.listed(admin, page)).toEqual([]);
    expect((await refusal(sharing.add(member, page, [member.email])))[0]).toBe(404);
    expect(await sharing.added(admin, page, [member.email, 'new@inside.example'], 'editor')).toEqual([
      ['added', 'editor'],
      ['pending', 'editor'],
    ]);
    await ok(sharing.change(admin, page, member.email, 'viewer'));
    await ok(sharing.remove(member, page, member.email));
    await ok(sharing.remove(admin, page, 'new@inside.example'));
    const told = (await auditOf(easel, id)).filter(([action]) => action.startsWith('collaborator.'));
    expect(told.map(([action, by]) => [action, by])).toEqual([
      ['collaborator.add', 'adam'],
      ['collaborator.add', 'adam'],
      ['collaborator.update', 'adam'],
      ['collaborator.leave', 'mia'],
      ['collaborator.remove', 'adam'],
    ]);
  });

  test('addresses that are none, too many at once, too many in all, and too many in an hour', async () => {
    const page = await pageOf(easel);
    expect(await refusal(sharing.add(page.owner, page, ['not an address']))).toEqual([400, 'INVALID_REQUEST', 'emails.0']);
    expect(await refusal(sharing.add(page.owner, page, []))).toEqual([400, 'INVALID_REQUEST', 'emails']);
    const many = (count: number) => Array.from({ length: count }, newAddress);
    expect((await refusal(sharing.add(page.owner, page, many(LIMITS.collaboratorsAtOnceMax + 1))))[2]).toBe('emails');
    await easel.sql`
      insert into pending_collaborator (artifact_id, email, role, added_at_ms)
      select ${page.id}, n || '@full.example', 'viewer', 0 from generate_series(1, ${LIMITS.collaboratorsMax - 1}) as n`;
    expect(await refusal(sharing.add(page.owner, page, many(2)))).toEqual([409, 'COLLABORATOR_LIMIT_EXCEEDED', undefined]);
    expect(await sharing.added(page.owner, page, many(1))).toEqual([['pending', 'viewer']]);
    const other = await pageOf(easel, page.owner);
    let left = LIMITS.collaboratorsPerHour;
    const statuses: number[] = [];
    while (left > 0) {
      statuses.push((await sharing.add(page.owner, other, many(LIMITS.collaboratorsAtOnceMax))).status);
      left -= LIMITS.collaboratorsAtOnceMax;
    }
    expect(statuses.at(-1)).toBe(429);
    easel.clock.advance(3_600_001);
    expect((await sharing.add(page.owner, other, many(1))).status).toBe(200);
  });

  test('an address that is proved while it is added is never left waiting', async () => {
    for (let round = 0; round < 4; round += 1) {
      easel.clock.advance(3_600_001);
      const page = await pageOf(easel);
      const email = newAddress();
      const visitor = new Visitor(easel, { address: `198.51.101.${round}` });
      await Promise.all([visitor.signInByCode(email), sharing.added(page.owner, page, [email])]);
      expect(await sharing.listed(page.owner, page)).toEqual([[email, 'viewer', false]]);
      expect((await visitor.fetch(`/v1/artifacts/${page.id}`)).status).toBe(200);
    }
  });
});
