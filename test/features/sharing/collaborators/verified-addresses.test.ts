/** What waits for an address, and identity providers: a verified address gets it, one that the provider only says gets nothing. Source: anchors.md I1. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { atProvider } from '../../../support/at-provider.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { type Person as Known, startProvider, type TestProvider } from '../../../support/oidc.ts';
import { json } from '../../../support/requests.ts';
import { ok, Visitor } from '../../../support/visitor.ts';
import { pageOf, Sharing } from '../sharing-stage.ts';

const people = new Map<string, Known>([
  ['verified', { sub: 've-1', email: 'Vera@Example.com', email_verified: true }],
  ['unverified', { sub: 'un-1', email: 'vera@example.com', email_verified: false }],
  ['silent', { sub: 'si-1', email: 'vera@example.com' }],
  ['moves', { sub: 'mo-1', email: 'old@example.com', email_verified: true }],
  ['linked', { sub: 'li-1', email: 'linked@example.com', email_verified: true }],
]);

let provider: TestProvider;
let easel: TestEasel;
let sharing: Sharing;
beforeAll(async () => {
  provider = await startProvider(people);
  easel = await startTestEasel({ settings: provider.settings('corp') });
  provider.allow('corp', home());
  sharing = new Sharing(easel);
});
afterAll(async () => {
  await easel.close();
  await provider.close();
});

const home = () => `http://localhost:${easel.port}`;

/** Signs in at the provider, or links what is there to the session of `who`. */
async function arrive(login: string, who = new Visitor(easel, { baseUrl: home() }), query = ''): Promise<Visitor> {
  const headers = { 'sec-fetch-site': 'same-origin' };
  const start = await ok(who.fetch(`/v1/auth/oidc/corp/start${query}`, { headers }), 302);
  const back = await atProvider(start.headers.get('location') ?? '', login);
  await ok(who.fetch(back.slice(home().length)), 302);
  return who;
}

const statusFor = async (who: Visitor, id: string) => (await who.fetch(`/v1/artifacts/${id}`)).status;

test('[I1] only a verified address makes a collaborator', async () => {
  const page = await pageOf(easel);
  await sharing.added(page.owner, page, ['vera@example.com'], 'editor');
  for (const login of ['unverified', 'silent']) expect([login, await statusFor(await arrive(login), page.id)]).toEqual([login, 404]);
  expect(await sharing.listed(page.owner, page)).toEqual([['vera@example.com', 'editor', true]]);
  expect(await statusFor(await arrive('verified'), page.id)).toBe(200);
  expect(await sharing.listed(page.owner, page)).toEqual([['vera@example.com', 'editor', false]]);
});

test('an address that the provider verifies later, and one that is linked to a session, count from then on', async () => {
  const page = await pageOf(easel);
  const mover = await arrive('moves');
  await sharing.added(page.owner, page, ['new@example.com', 'linked@example.com']);
  people.set('moves', { sub: 'mo-1', email: 'new@example.com', email_verified: true });
  expect(await statusFor(mover, page.id)).toBe(404);
  await arrive('moves');
  expect(await statusFor(mover, page.id)).toBe(200);
  const linker = new Visitor(easel, { baseUrl: home() });
  easel.clock.advance(1);
  await linker.signInByCode('somebody@example.com');
  expect(await statusFor(linker, page.id)).toBe(404);
  await arrive('linked', linker, '?link=1');
  expect(await statusFor(linker, page.id)).toBe(200);
  const { user } = await json(await ok(linker.fetch('/v1/me')));
  expect(user.email).toBe('somebody@example.com');
});
