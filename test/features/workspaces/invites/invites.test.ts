/** Invitations: sent, sent again, revoked and claimed, and never by somebody else. Source: contract.md §11, §14; anchors.md I7. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { json, patch, post, refusal } from '../../../support/requests.ts';
import { auditOf, codeFor, type Person, person, stageOf } from '../workspace-stage.ts';

describe.each<DatabaseKind>(databaseKinds())('%s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  const call = (user: Pick<Person, 'token'>, path: string, init: RequestInit = {}) => easel.fetch(path, { token: user.token, ...init });
  const invite = (by: Person, id: string, emails: string[], role = 'member') =>
    call(by, `/v1/workspaces/${id}/members/invite`, post({ emails, role }));
  const claim = (who: Person, code: string) => call(who, '/v1/invites/claim', post({ code }));
  const listed = async (by: Person, id: string, query = '') =>
    (await json(await call(by, `/v1/workspaces/${id}/invites${query}`))).invites.map(
      ({ email, status }: { email: string; status: string }) => [email, status],
    );

  test('each address has an outcome of its own, and only those that are new get a mail', async () => {
    const { id, admin, member } = await stageOf(easel, `Lines ${database}`);
    const emails = [`New.${database}@Example.com`, 'not an address', member.email, `new.${database}@example.com`];
    const first = await json(await invite(admin, id, emails));
    expect(first.results.map(({ email, status }: { email: string; status: string }) => [email, status])).toEqual([
      [`new.${database}@example.com`, 'invited'],
      ['not an address', 'invalid'],
      [member.email, 'already_member'],
      [`new.${database}@example.com`, 'already_invited'],
    ]);
    expect([first.sent, first.results[1].error]).toEqual([1, 'This is not an e-mail address.']);
    expect(await listed(admin, id)).toEqual([[`new.${database}@example.com`, 'pending']]);
    const mails = await easel.sql<{ subject: string; text_body: string; html_body: string }[]>`
      select subject, text_body, html_body from mail_outbox where recipient = ${`new.${database}@example.com`}`;
    expect(mails.map(({ subject }) => subject)).toEqual([`adam invited you to Lines ${database}`]);
    expect(mails[0]?.text_body).toMatch(new RegExp(`http://localhost:${easel.port}/invite/([a-z2-9]{5}-){3}[a-z2-9]{5}`));
    expect(mails[0]?.html_body).toContain('lang="en"');
    expect(await refusal(invite(member, id, ['x@example.com']))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(await refusal(invite(admin, id, ['x@example.com'], 'owner'))).toEqual([403, 'FORBIDDEN', undefined]);
    const tooMany = Array.from({ length: LIMITS.invitesAtOnceMax + 1 }, (_, n) => `${n}@example.com`);
    expect(await refusal(invite(admin, id, tooMany))).toEqual([400, 'INVALID_REQUEST', 'emails']);
  });

  test('a mail is in the language of its recipient, else in that of the workspace', async () => {
    const { id, owner } = await stageOf(easel, `Language ${database}`);
    await call(owner, `/v1/workspaces/${id}`, patch({ locale: 'es' }));
    const english = await person(easel, 'eve');
    await call(english, '/v1/auth/profile', patch({ metadata: { locale: 'en-GB' } }));
    await invite(owner, id, [english.email, `nadie.${database}@example.com`]);
    const subjectFor = async (email: string) =>
      (await easel.sql<{ subject: string }[]>`select subject from mail_outbox where recipient = ${email} and kind = 'invite'`)[0]?.subject;
    expect(await subjectFor(english.email)).toContain('invited you');
    expect(await subjectFor(`nadie.${database}@example.com`)).toContain('te invita');
  });

  test('claimed by code as typed or by the whole link, once', async () => {
    const { id, slug, owner } = await stageOf(easel, `Claimed ${database}`);
    for (const form of [(code: string) => code.toUpperCase().replaceAll('-', ' '), (code: string) => `${easel.baseUrl}/invite/${code}`]) {
      const guest = await person(easel, 'gus');
      await invite(owner, id, [guest.email], 'admin');
      const code = await codeFor(easel, guest.email);
      // Looking at it changes nothing, as the scanners of mail servers do.
      await easel.fetch(`/invite/${code}`);
      expect((await call(guest, `/v1/workspaces/${id}`)).status).toBe(404);
      const joined = await claim(guest, form(code));
      expect([joined.status, await json(joined)]).toEqual([200, expect.objectContaining({ id, slug, role: 'admin' })]);
      expect((await call(guest, `/v1/workspaces/${id}/invites`)).status).toBe(200);
      expect(await refusal(claim(guest, code))).toEqual([400, 'INVITE_CLOSED', undefined]);
      expect(await refusal(invite(guest, id, ['y@example.com'], 'owner'))).toEqual([403, 'FORBIDDEN', undefined]);
    }
    expect((await auditOf(easel, id)).slice(3, 5)).toEqual([
      ['invite.create', 'olive', expect.stringContaining('gus.')],
      ['invite.claim', 'gus', expect.stringContaining('gus.')],
    ]);
  });

  test('I7: forwarded to another account, tampered with, or claimed without a proved address, it opens nothing', async () => {
    const { id, owner, stranger } = await stageOf(easel, `Forwarded ${database}`);
    const guest = await person(easel, 'gil');
    await invite(owner, id, [guest.email]);
    const code = await codeFor(easel, guest.email);
    const headless: Person = { ...(await easel.newUser()), email: '' };
    for (const other of [stranger, headless]) {
      expect(await refusal(claim(other, code))).toEqual([403, 'INVITE_FOR_ANOTHER', 'code']);
      expect((await call(other, `/v1/workspaces/${id}`)).status).toBe(404);
    }
    const swapped = code.replace(/^./, (first) => (first === 'a' ? 'b' : 'a'));
    expect(await refusal(claim(guest, swapped))).toEqual([404, 'INVITE_NOT_FOUND', undefined]);
    expect(await refusal(claim(guest, ''))).toEqual([400, 'INVALID_REQUEST', 'code']);
    expect((await easel.fetch('/v1/invites/claim', post({ code }))).status).toBe(401);
    // The address may be that of a linked account: both are the same person.
    const twin: Person = { ...(await easel.newUser()), email: '' };
    await easel.sql`update account set person_id = (select person_id from account where id = ${guest.userId}) where id = ${twin.userId}`;
    const joined = await json(await claim(twin, code));
    expect(joined.role).toBe('member');
    const [row] = await easel.sql<{ user_id: string }[]>`
      select user_id from workspace_member where workspace_id = ${id} and user_id in (${guest.userId}, ${twin.userId})`;
    expect(row?.user_id).toBe(guest.userId);
    // Who has learned the code later learns nothing about what became of it.
    expect(await refusal(claim(stranger, code))).toEqual([403, 'INVITE_FOR_ANOTHER', 'code']);
  });

  test('sent again with a new code that voids the old one; revoked; expired after 14 days and open again for a new one', async () => {
    const { id, owner, admin } = await stageOf(easel, `Again ${database}`);
    const guest = await person(easel, 'gwen');
    const [{ invite: made }] = (await json(await invite(owner, id, [guest.email]))).results;
    const path = `/v1/workspaces/${id}/invites/${made.id}`;
    const old = await codeFor(easel, guest.email);
    easel.clock.advance(1000);
    const resent = await json(await call(admin, `${path}/resend`, { method: 'POST' }));
    expect(Date.parse(resent.expires_at) - easel.clock.nowMs()).toBe(LIMITS.inviteTtlMs);
    const fresh = await codeFor(easel, guest.email);
    expect(fresh).not.toBe(old);
    expect(await refusal(claim(guest, old))).toEqual([404, 'INVITE_NOT_FOUND', undefined]);
    expect((await call(admin, path, { method: 'DELETE' })).status).toBe(200);
    expect(await refusal(claim(guest, fresh))).toEqual([400, 'INVITE_CLOSED', undefined]);
    expect(await refusal(call(admin, path, { method: 'DELETE' }))).toEqual([400, 'INVITE_CLOSED', undefined]);
    expect(await refusal(call(admin, `${path}/resend`, { method: 'POST' }))).toEqual([400, 'INVITE_CLOSED', undefined]);
    easel.clock.advance(1000);
    await invite(owner, id, [guest.email]);
    const third = await codeFor(easel, guest.email);
    easel.clock.advance(LIMITS.inviteTtlMs);
    expect(await refusal(claim(guest, third))).toEqual([400, 'INVITE_CLOSED', undefined]);
    expect(await listed(owner, id, '?status=expired')).toEqual([[guest.email, 'expired']]);
    expect((await json(await invite(owner, id, [guest.email]))).sent).toBe(1);
    expect((await claim(guest, await codeFor(easel, guest.email))).status).toBe(200);
    expect((await listed(owner, id)).map(([, status]: [string, string]) => status)).toEqual(['accepted', 'revoked', 'revoked']);
  });

  test('several claims of one code at once make one member', async () => {
    const { id, owner } = await stageOf(easel, `Once ${database}`);
    const guest = await person(easel, 'gaby');
    await invite(owner, id, [guest.email]);
    const code = await codeFor(easel, guest.email);
    const statuses = (await Promise.all(Array.from({ length: 5 }, () => claim(guest, code)))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect((await json(await call(guest, `/v1/workspaces/${id}`))).member_count).toBe(4);
  });

  describe('the access policy', () => {
    test('says who may be invited and added, and who may join by themselves', async () => {
      const { id, slug, owner, admin, member } = await stageOf(easel, `Policy ${database}`);
      const path = `/v1/workspaces/${id}/access-policy`;
      const put = (policy: object) => call(admin, path, { ...post(policy), method: 'PUT' });
      const outsider = await person(easel, 'otto');
      const friend = await person(easel, 'fay');
      expect(await refusal(call(member, path))).toEqual([403, 'FORBIDDEN', undefined]);
      expect(await refusal(put({ allowed_domains: ['no domain'] }))).toEqual([400, 'INVALID_REQUEST', 'allowed_domains.0']);
      const policy = { allowed_domains: ['maps.example'], allowed_emails: [friend.email.toUpperCase()], auto_join: false };
      expect(await json(await put(policy))).toEqual({ ...policy, allowed_emails: [friend.email] });
      const { results } = await json(await invite(owner, id, [outsider.email, 'ada@maps.example', 'ada@evil-maps.example']));
      expect(results.map(({ status }: { status: string }) => status)).toEqual(['not_allowed', 'invited', 'not_allowed']);
      const add = (email: string) => call(owner, `/v1/workspaces/${id}/members`, post({ email }));
      expect(await refusal(add(outsider.email))).toEqual([403, 'ADDRESS_NOT_ALLOWED', 'email']);
      const unknown = await add('grace@maps.example');
      expect([unknown.status, (await json(unknown)).status]).toEqual([202, 'pending']);
      const join = (who: Person) => call(who, `/v1/workspaces/${slug}/join`, { method: 'POST' });
      // Without auto_join nobody learns that the workspace exists.
      for (const who of [friend, outsider]) expect((await join(who)).status).toBe(404);
      await put({ ...policy, auto_join: true });
      expect((await json(await join(friend))).role).toBe('member');
      expect((await join(outsider)).status).toBe(404);
      expect(await refusal(join(friend))).toEqual([409, 'ALREADY_MEMBER', undefined]);
      expect((await call(member, `/v1/workspaces/${id}`)).status).toBe(200);
      // Without names nobody is excluded from invitations, and nobody joins alone.
      await put({ auto_join: true });
      expect((await json(await invite(owner, id, [outsider.email]))).sent).toBe(1);
      expect((await join(outsider)).status).toBe(404);
    });
  });
});
