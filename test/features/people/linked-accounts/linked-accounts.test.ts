/** Linked accounts are one person: what belongs to one of them belongs to the person. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { json, post, published, refusal } from '../../../support/requests.ts';
import { codeFor, mailsTo, ok, Visitor } from '../../../support/visitor.ts';

describe.each(databaseKinds())('over %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database, settings: { TRUST_PROXY: 'true' } });
  });
  afterAll(() => easel.close());

  let hosts = 0;
  /** Each caller at an address of its own, so that the limits of one network do not meet. */
  function nextAddress(): string {
    hosts += 1;
    return `198.51.${hosts >> 8}.${hosts & 255}`;
  }
  const visitor = () => new Visitor(easel, { address: nextAddress() });
  const withToken = (user: Pick<TestUser, 'token'>) => ({
    'x-forwarded-for': nextAddress(),
    authorization: `Bearer ${user.token}`,
  });
  const send = (user: Pick<TestUser, 'token'>, path: string, body: object) =>
    easel.fetch(path, { ...post(body), headers: { 'content-type': 'application/json', ...withToken(user) } });

  /** Links an address to the account of a token, which has no other sign-in. */
  async function linkEmail(user: Pick<TestUser, 'token'>, email: string): Promise<Response> {
    easel.clock.advance(1);
    await ok(send(user, '/v1/auth/link-email/start', { email }));
    return send(user, '/v1/auth/link-email/verify', { email, code: await codeFor(easel, email) });
  }
  async function linkFrom(session: Visitor, email: string): Promise<Response> {
    await ok(session.post('/v1/auth/link-email/start', { email }));
    return session.post('/v1/auth/link-email/verify', { email, code: await codeFor(easel, email) });
  }
  const accounts = async (who: Visitor) => (await json(await ok(who.fetch('/v1/auth/linked-accounts')))).accounts;
  const ids = async (who: Visitor) => (await accounts(who)).map(({ id }: { id: string }) => id).sort();
  const unlink = (who: Visitor, id: string) => who.fetch(`/v1/auth/linked-accounts/${id}`, { method: 'DELETE' });

  test('an account that only has tokens gets the address as its sign-in', async () => {
    const user = await easel.newUser();
    expect(await json(await ok(linkEmail(user, 'headless@example.com')))).toEqual({ success: true, email: 'headless@example.com' });
    expect((await mailsTo(easel, 'headless@example.com'))[0]?.kind).toBe('link_code');
    const ada = visitor();
    expect(await ada.signInByCode('headless@example.com')).toBe(user.userId);
    expect((await json(await ok(easel.fetch('/v1/me', user)))).user.email).toBe('headless@example.com');
  });

  test('two headless accounts are merged by one address: ids, slugs and tokens stay', async () => {
    const [one, two] = [await easel.newUser(), await easel.newUser()];
    const [first, second] = [await published(easel, one), await published(easel, two)];
    await ok(linkEmail(one, 'merged@example.com'));
    await ok(linkEmail(two, 'merged@example.com'));
    for (const user of [one, two]) {
      for (const page of [first, second]) {
        const found = await json(await ok(easel.fetch(`/v1/artifacts/${page.id}`, user)));
        expect([found.id, found.slug]).toEqual([page.id, page.slug]);
      }
      const { artifacts } = await json(await ok(easel.fetch('/v1/artifacts', user)));
      expect(artifacts.map(({ id }: { id: string }) => id).sort()).toEqual([first.id, second.id].sort());
      expect((await json(await ok(easel.fetch('/v1/me', user)))).user.id).toBe(user.userId);
    }
  });

  test('the code of one account links nothing to another', async () => {
    const [ada, eve] = [await easel.newUser(), await easel.newUser()];
    await ok(send(ada, '/v1/auth/link-email/start', { email: 'mine@example.com' }));
    const code = await codeFor(easel, 'mine@example.com');
    expect(await refusal(send(eve, '/v1/auth/link-email/verify', { email: 'mine@example.com', code }))).toEqual([
      400,
      'CODE_INVALID',
      'code',
    ]);
    await ok(send(ada, '/v1/auth/link-email/verify', { email: 'mine@example.com', code }));
  });

  test('a person who can sign in links and unlinks from a session, not with a token', async () => {
    const user = await easel.newUser();
    await ok(linkEmail(user, 'leaked@example.com'));
    expect(await refusal(send(user, '/v1/auth/link-email/start', { email: 'thief@example.com' }))).toEqual([403, 'FORBIDDEN', undefined]);
    const path = `/v1/auth/linked-accounts/${user.userId}`;
    expect(await refusal(easel.fetch(path, { method: 'DELETE', token: user.token }))).toEqual([403, 'FORBIDDEN', undefined]);
    const ada = visitor();
    await ada.signInByCode('leaked@example.com');
    await ok(linkFrom(ada, 'more@example.com'));
    expect((await accounts(ada)).map(({ email }: { email: string }) => email)).toEqual(['leaked@example.com', 'more@example.com']);
    expect((await ids(ada)).length).toBe(2);
  });

  test('the last sign-in never leaves, and accounts of others are not there', async () => {
    const ada = visitor();
    const id = await ada.signInByCode('last@example.com');
    expect(await refusal(unlink(ada, id))).toEqual([400, 'LAST_SIGN_IN', undefined]);
    const stranger = await easel.newUser();
    expect(await refusal(unlink(ada, stranger.userId))).toEqual([404, 'USER_NOT_FOUND', undefined]);
    // An account that only has tokens does not count: nobody could sign in any more.
    const headless = await easel.newUser();
    await ok(linkEmail(headless, 'last@example.com'));
    expect((await ids(ada)).length).toBe(2);
    expect(await refusal(unlink(ada, id))).toEqual([400, 'LAST_SIGN_IN', undefined]);
    await ok(unlink(ada, headless.userId));
    expect(await ids(ada)).toEqual([id]);
  });

  test('of two unlinks at once that would leave nothing, one is refused', async () => {
    const ada = visitor();
    await ada.signInByCode('race-a@example.com');
    await ok(linkFrom(ada, 'race-b@example.com'));
    const both = await ids(ada);
    const replies = await Promise.all(both.map((id: string) => unlink(ada, id)));
    // The other finds itself alone, or the account gone from its person.
    expect(replies.filter(({ status }) => status === 200).length).toBe(1);
    expect((await ids(ada)).length).toBe(1);
  });

  interface Twin {
    readonly email: string;
    readonly id: string;
    readonly browser: Visitor;
    readonly token: string;
    /** Private. */
    readonly page: string;
    /** In the model: accounts with the same number are one person. */
    person: number;
  }
  let persons = 0;

  async function newTwin(): Promise<Twin> {
    persons += 1;
    const email = `union-${persons}@example.com`;
    const browser = visitor();
    const id = await browser.signInByCode(email);
    const { token } = await json(await ok(browser.post('/v1/me/tokens'), 201));
    return { email, id, browser, token, page: (await published(easel, { token })).id, person: persons };
  }

  async function link(all: readonly Twin[], who: Twin, other: Twin): Promise<void> {
    await ok(linkFrom(who.browser, other.email));
    const joined = other.person;
    for (const twin of all) if (twin.person === joined) twin.person = who.person;
  }

  async function leave(all: readonly Twin[], who: Twin, other: Twin): Promise<void> {
    const { status } = await unlink(who.browser, other.id);
    if (who.person !== other.person) expect(status).toBe(404);
    else if (all.filter(({ person }) => person === who.person).length === 1) expect(status).toBe(400);
    else {
      expect(status).toBe(200);
      persons += 1;
      other.person = persons;
    }
  }

  async function expectUnion(all: readonly Twin[]): Promise<void> {
    for (const twin of all) {
      const linked = all.filter(({ person }) => person === twin.person);
      expect(await ids(twin.browser)).toEqual(linked.map(({ id }) => id).sort());
      for (const other of all) {
        const path = `/v1/artifacts/${other.page}`;
        const [byToken, bySession] = await Promise.all([easel.fetch(path, twin), twin.browser.fetch(path)]);
        const expected = linked.includes(other) ? 200 : 404;
        expect([byToken.status, bySession.status]).toEqual([expected, expected]);
      }
    }
  }

  test('whatever is linked and unlinked, access is that of the union', { timeout: 240_000 }, async () => {
    const step = fc.record({ act: fc.constantFrom(link, leave), who: fc.nat(3), other: fc.nat(3) });
    const sequence = fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const all = [await newTwin(), await newTwin(), await newTwin(), await newTwin()];
      for (const { act, who, other } of steps) await act(all, all[who] as Twin, all[other] as Twin);
      await expectUnion(all);
    });
    await fc.assert(sequence, { numRuns: 12, seed: 20_261_122 });
  });
});
