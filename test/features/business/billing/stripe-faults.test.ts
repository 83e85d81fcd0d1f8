/** Stripe that is away, loses answers, or sends thousands of events; what somebody changes there; and what stays unknown. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../../../support/database.ts';
import type { TestEasel } from '../../../support/easel.ts';
import type { FakeStripe } from '../../../support/fake-stripe.ts';
import { Random } from '../../../support/random.ts';
import { DAY_MS, Paying, type Stage, startStage } from './paying.ts';

const MINUTE_MS = 60_000;

describe.each(databaseKinds())('faults of Stripe on %s', (database) => {
  let stage: Stage;
  let easel: TestEasel;
  let fake: FakeStripe;
  beforeAll(async () => {
    stage = await startStage(database, 'stripe');
    easel = stage.easel;
    if (stage.fake === null) throw new Error('the stage has no Stripe');
    fake = stage.fake;
  });
  afterAll(() => stage.close());

  /** A subscription that waits for its first payment. */
  async function unpaid(): Promise<Paying> {
    const paying = await Paying.make(stage);
    await paying.subscribe('pro_monthly');
    await paying.cancel('now');
    expect((await paying.subscribe('pro_monthly')).body.status).toBe('incomplete');
    return paying;
  }

  const operations = (paying: Paying) => easel.sql<{ state: string; failure: string | null; kind: string }[]>`
    select state, failure, kind from billing_operation where workspace_id = ${paying.workspaceId} order by created_at_ms, id`;

  test('away for an hour: a clear answer, nothing happens twice, and it goes on when Stripe is back', async () => {
    const [paying, other, quiet] = [await unpaid(), await Paying.make(stage), await Paying.make(stage)];
    await quiet.subscribe('team_monthly');
    fake.isUp = false;
    const before = fake.turnedAway;
    for (let time = 0; time < 2; time += 1) {
      const refused = await paying.card('tok_visa');
      expect([refused.status, refused.body.code]).toEqual([503, 'BILLING_UNAVAILABLE']);
      expect(refused.body.error).toBe('The payment provider does not answer. Nothing has changed here yet.');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await other.subscribe('pro_monthly')).status).toBe(503);
    // Another change waits for the first; what is there can be read all the time.
    expect((await paying.cancel('now')).body.code).toBe('BILLING_IN_PROGRESS');
    expect(await quiet.subscription()).toMatchObject({ status: 'trialing', plan: 'team_monthly' });
    for (let minute = 0; minute < 60; minute += 1) await paying.pass(MINUTE_MS, () => Promise.resolve(true));
    expect((await operations(paying)).filter(({ state }) => state === 'open')).toHaveLength(1);
    expect(await paying.subscription()).toMatchObject({ status: 'incomplete', has_card: false });
    // Each pass of the loop stops at the first call that fails.
    expect(fake.turnedAway - before).toBeLessThan(5 * 62);
    fake.isUp = true;
    await paying.passUntil(MINUTE_MS, 'active');
    await other.pass(MINUTE_MS, async () => (await operations(other)).every(({ state }) => state === 'done'));
    expect(await other.subscription()).toMatchObject({ status: 'trialing' });
    expect(await paying.charges()).toEqual([1200]);
    expect(fake.books.subscriptionsOf(await other.customerRef())).toHaveLength(1);
  });

  test.each([
    ['that saves a card', /attach$/],
    ['that makes it the default', /customers\/\w+$/],
    ['that pays', /pay$/],
  ])('the answer to the call %s is lost: it is repeated with its key, and nothing happens again', async (_what, path) => {
    const paying = await unpaid();
    let lost = 0;
    fake.loses = (asked) => {
      if (asked.method !== 'POST' || !path.test(asked.path)) return false;
      lost += 1;
      return true;
    };
    expect((await paying.card('tok_visa')).status).toBe(503);
    // The client of Stripe tries once more by itself where a connection breaks.
    expect(lost).toBe(2);
    fake.loses = null;
    await paying.pass(MINUTE_MS, async () => (await operations(paying)).every(({ state }) => state === 'done'));
    expect(await paying.subscription()).toMatchObject({ status: 'active', has_card: true });
    expect(await paying.charges()).toEqual([1200]);
    expect(fake.books.methodsOf(await paying.customerRef())).toHaveLength(1);
  });

  test('thousands of events, doubled and in any order, are few looks, and end in what Stripe has', async () => {
    const paying = await Paying.make(stage);
    await paying.active('team_monthly');
    const customerRef = await paying.customerRef();
    const [one] = fake.books.subscriptionsOf(customerRef);
    const first = fake.events.length;
    for (let at = 0; at < 700; at += 1) fake.books.update(one?.id ?? '', { metadata: { note: String(at) } });
    fake.books.update(one?.id ?? '', { cancelAtPeriodEnd: true });
    const events = fake.events.slice(first);
    const random = new Random(20_261_126);
    const queue = [...events, ...events, ...events].map((event) => [random.next(), event] as const).sort(([a], [b]) => a - b);
    const looksBefore = fake.calls.filter(({ path }) => path === '/v1/subscriptions').length;
    const statuses = new Map<number, number>();
    const send = async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const status = await fake.send(easel.baseUrl, next[1]);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        // As Stripe does: what was not taken comes again.
        if (status !== 200) queue.unshift(next);
      }
    };
    // More at once than have room: those are refused, and come again.
    await Promise.all(queue.splice(0, 300).map(async (one) => ((await fake.send(easel.baseUrl, one[1])) === 200 ? null : queue.push(one))));
    await Promise.all(Array.from({ length: 100 }, send));
    expect(queue).toEqual([]);
    expect([...statuses.keys()].every((status) => status === 200 || status === 503)).toBe(true);
    const looks = fake.calls.filter(({ path }) => path === '/v1/subscriptions').length - looksBefore;
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThan(events.length);
    await paying.pass(MINUTE_MS, async () => (await paying.subscription()).cancel_at_period_end);
    const [taken] = await easel.sql<{ count: number }[]>`
      select count(*)::int as count from billing_event where id = any(${events.map(({ id }) => id)}::text[])`;
    expect(taken?.count).toBe(events.length);
  });

  test('a disputed payment is told once, and what is deleted at Stripe is over here', async () => {
    const paying = await Paying.make(stage);
    await paying.active('pro_monthly');
    const charge = fake.books.charges.at(-1);
    const dispute = fake.dispute(charge?.id ?? '');
    for (let time = 0; time < 3; time += 1) expect(await fake.send(easel.baseUrl, dispute)).toBe(200);
    expect(await paying.notices()).toEqual(['billing.dispute']);
    expect(await fake.send(easel.baseUrl, dispute, 'whsec_of_somebody')).toBe(400);
    fake.books.deleteCustomer(await paying.customerRef());
    const gone = fake.events.findLast(({ type }) => type === 'customer.deleted');
    if (gone === undefined) throw new Error('the customer is there');
    expect(await fake.send(easel.baseUrl, gone)).toBe(200);
    expect(await paying.subscription()).toMatchObject({ status: 'canceled' });
    expect(await paying.plan()).toEqual({ tier: 'free', status: 'canceled' });
    // It may begin anew, as another customer.
    const before = await paying.customerRef();
    expect((await paying.subscribe('pro_monthly')).body.status).toBe('incomplete');
    await paying.card('tok_visa');
    expect(await paying.subscription()).toMatchObject({ status: 'active' });
    expect(await paying.customerRef()).not.toBe(before);
  });

  test('what stays open for most of a day is settled as unknown and never repeated; then the workspace goes on', async () => {
    const paying = await unpaid();
    // Stripe makes the second subscription and takes the money, and then is away until it has forgotten the key.
    await paying.card('tok_visa');
    await paying.cancel('now');
    expect(await paying.charges()).toEqual([1200]);
    fake.loses = ({ method, path }) => method === 'POST' && /pay$/.test(path);
    expect((await paying.subscribe('pro_monthly')).status).toBe(503);
    expect(await paying.charges()).toEqual([1200, 1200]);
    fake.loses = null;
    fake.isUp = false;
    await paying.pass(20 * 3_600_000, async () => (await operations(paying)).every(({ state }) => state !== 'open'));
    const unknown = { state: 'unknown', failure: 'BILLING_UNAVAILABLE', kind: 'subscribe' };
    expect((await operations(paying)).filter(({ state }) => state !== 'done')).toEqual([unknown]);
    fake.forgetKeys();
    fake.isUp = true;
    // Before anybody has looked there: the order whose end nobody knows has made one.
    expect((await paying.subscribe('pro_monthly')).body.code).toBe('SUBSCRIPTION_EXISTS');
    await paying.passUntil(60 * MINUTE_MS, 'active');
    expect(await paying.charges()).toEqual([1200, 1200]);
    expect(fake.books.subscriptionsOf(await paying.customerRef()).filter(({ status }) => status === 'active')).toHaveLength(1);
    expect((await paying.change({ plan_id: 'team_monthly' })).status).toBe(200);
    const listed = await paying.call<{ operations: { workspace_id: string; state: string; kind: string }[] }>(
      '/v1/admin/billing-operations?state=unknown',
      {},
      easel.adminToken,
    );
    expect(listed.body.operations).toMatchObject([{ workspace_id: paying.workspaceId, state: 'unknown', kind: 'subscribe' }]);
  });

  test('a key that Stripe has forgotten is not used again, by nobody', async () => {
    const paying = await unpaid();
    await paying.card('tok_visa');
    await paying.cancel('now');
    fake.loses = ({ method, path }) => method === 'POST' && /pay$/.test(path);
    expect((await paying.subscribe('pro_monthly')).status).toBe(503);
    fake.loses = null;
    // No node was there meanwhile; the caller comes back a day later and asks for the same again.
    await easel.sql`
      update billing_operation set created_at_ms = created_at_ms - ${DAY_MS} where workspace_id = ${paying.workspaceId} and state = 'open'`;
    fake.forgetKeys();
    expect((await paying.subscribe('pro_monthly')).body.code).toBe('BILLING_IN_PROGRESS');
    expect(await paying.charges()).toEqual([1200, 1200]);
    await paying.pass(MINUTE_MS, async () => (await operations(paying)).every(({ state }) => state !== 'open'));
    expect((await operations(paying)).filter(({ state }) => state !== 'done')).toMatchObject([{ state: 'unknown', kind: 'subscribe' }]);
    expect(await paying.subscription()).toMatchObject({ status: 'active' });
    expect(await paying.charges()).toEqual([1200, 1200]);
    expect(fake.books.subscriptionsOf(await paying.customerRef()).filter(({ status }) => status === 'active')).toHaveLength(1);
  });
});
