/** Plans and what is paid for them on the command line, against the real service and its embedded payment provider. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, person, workspaceOf } from '../features/workspaces/workspace-stage.ts';
import { startTestEasel, type TestEasel } from '../support/easel.ts';
import { runInProcess } from './in-process.ts';

let easel: TestEasel;
let ada: Person;
let slug: string;
beforeAll(async () => {
  easel = await startTestEasel();
  ada = await person(easel, 'ada');
  ({ slug } = await workspaceOf(easel, ada, 'Maps'));
});
afterAll(() => easel.close());

const env = (by: Person) => ({ HOME: '/nonexistent', EASEL_URL: easel.baseUrl, EASEL_TOKEN: by.token });
const run = (by: Person, ...args: string[]) => runInProcess(['billing', ...args], env(by));
async function told(...args: string[]): Promise<string> {
  const { code, out, err } = await run(ada, ...args);
  expect([code, err]).toEqual([0, '']);
  return out;
}
const json = async (...args: string[]) => JSON.parse(await told(...args, '--json'));

/** Saves a card on the page of the provider, and takes it as the way back does. */
async function saveCard(token: string): Promise<void> {
  const { checkout_id, checkout_url } = await json('card', slug);
  const { pathname, origin } = new URL(checkout_url);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', origin };
  expect((await easel.fetch(pathname, { method: 'POST', headers, body: `card=${token}` })).status).toBe(200);
  const body = JSON.stringify({ checkout_id });
  const taken = { method: 'POST', token: ada.token, headers: { 'content-type': 'application/json' }, body };
  expect((await easel.fetch('/v1/billing/checkout-activate', taken)).status).toBe(200);
}

it('plans with what they cost', async () => {
  expect(await told('plans')).toMatch(/PLAN +PRICE +TRIAL[\s\S]*team_yearly +200\.00 USD a year and seat +14 days +Everything in Pro/);
  expect((await json('plans')).plans).toHaveLength(4);
});

it('from a trial over a card to a paid plan, a smaller one, and the end', async () => {
  expect(await told('show', slug)).toMatch(/has the plan free\.\n {2}storage +\S+ B of 1\.0 GB[\s\S]*Nothing is paid for it\.\n$/);
  expect((await json('show', slug)).subscription).toBeNull();
  expect(await told('methods', slug)).toBe(`No card is saved. Save one: easel billing card ${slug}\n`);
  expect(await told('invoices', slug)).toBe('There are no invoices.\n');

  const begun = await run(ada, 'subscribe', slug, 'team_monthly', '--seats', '3');
  expect(begun.out).toMatch(/^team_monthly, 3 seats: trialing\n {2}trial ends +2026-01-15 [\s\S]*card +none\n$/);
  expect(begun.err).toContain(`easel billing card ${slug}`);
  const page = await run(ada, 'card', slug);
  expect([page.code, page.out]).toEqual([0, expect.stringMatching(/^http:\/\/\S+\/pay\/checkout\/\S+\n$/)]);
  await saveCard('tok_visa');
  expect(await told('methods', slug)).toMatch(/pmt_\S+ +visa 4242 +12\/2034 +yes\n$/);

  // Without a trial the first payment is due at once.
  const now = await run(ada, 'cancel', slug, '--now');
  expect([now.code, now.err]).toEqual([2, expect.stringContaining('--yes')]);
  expect(await told('cancel', slug, '--now', '--yes')).toContain('team_monthly, 3 seats: canceled');
  expect((await json('subscribe', slug, 'team_monthly', '--seats', '3')).status).toBe('active');
  expect(await told('invoices', slug)).toMatch(/EASEL-000001 +paid +60\.00 USD +\S+ \S+ +http:\S+\/pay\/invoices\//);

  const less = await told('change', slug, '--plan', 'pro_monthly', '--seats', '1');
  expect(less).toContain('team_monthly, 3 seats: active');
  expect(less).toMatch(/ {2}becomes +pro_monthly, 1 seat, /);
  expect(await told('resume', slug)).not.toContain('becomes');
  const ending = await run(ada, 'cancel', slug);
  expect([ending.code, ending.out]).toEqual([0, expect.stringMatching(/ {2}ends +\d{4}-/)]);
  expect(ending.err).toContain(`easel billing resume ${slug}`);
  expect((await json('resume', slug)).cancel_at_period_end).toBe(false);
});

it('says what is wrong, and who may', async () => {
  for (const [args, said] of [
    [['subscribe', slug, 'gold'], 'team_yearly'],
    [['change', slug], '--plan'],
    [['change', slug, '--seats', 'many'], 'whole number'],
  ] as const) {
    const { code, err } = await run(ada, ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(said)]);
  }
  const stranger = await person(easel, 'sam');
  expect((await run(stranger, 'invoices', slug)).code).toBe(4);
  const member = await person(easel, 'mia');
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ email: member.email, role: 'member' });
  const added = await easel.fetch(`/v1/workspaces/${slug}/members`, { method: 'POST', token: ada.token, headers, body });
  expect(added.status).toBe(201);
  const refused = await run(member, 'invoices', slug);
  expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('billing manager')]);
});
