/** Crashes between the provider's answer and our record, a provider that is away, storms of events, and who may pay. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UserPrincipal } from '../../../../actors/access/access.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { EmbeddedProvider } from '../../../../src/features/business/billing/embedded/provider.ts';
import { Looking } from '../../../../src/features/business/billing/looking.ts';
import { readOpenOperation } from '../../../../src/features/business/billing/operation-rows.ts';
import { Operations } from '../../../../src/features/business/billing/operations.ts';
import { type PaymentProvider, ProviderAway } from '../../../../src/features/business/billing/provider.ts';
import { databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel } from '../../../support/easel.ts';
import { patch, post } from '../../../support/requests.ts';
import { embeddedKey, signatureOf } from '../../../support/signed-events.ts';
import { DAY_MS, Paying } from './paying.ts';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe.each(databaseKinds())('faults of billing on %s', (database) => {
  let easel: TestEasel;
  beforeAll(async () => {
    easel = await startTestEasel({ database });
  });
  afterAll(() => easel.close());

  /** Another node, whose provider is `fault` around the real one. */
  function node(fault: (real: EmbeddedProvider) => Partial<PaymentProvider>) {
    const parts = { sql: easel.sql, clock: easel.clock, config: { baseUrl: easel.baseUrl } as never };
    const real = new EmbeddedProvider(parts);
    const faults = fault(real);
    const provider = new Proxy(real, {
      get: (target, name) => {
        const found = Reflect.get(faults, name) ?? Reflect.get(target, name);
        return typeof found === 'function' ? found.bind(Reflect.has(faults, name) ? faults : target) : found;
      },
    });
    const deps = { ...parts, provider, bus: { tell: () => undefined } as never, log: SILENT, mail: { wake: () => undefined } };
    return new Operations(deps, new Looking(deps));
  }

  function callOf(paying: Paying) {
    const person = { accounts: new Set([paying.owner.userId]) };
    const principal = { kind: 'user', userId: paying.owner.userId, person } as unknown as UserPrincipal;
    return { user: paying.owner.userId, principal, address: '', requestId: 'req' };
  }

  /** An unpaid subscription of a workspace that has had its trial. */
  async function unpaid(): Promise<{ paying: Paying; ref: string; workspaceId: WorkspaceId }> {
    const paying = await Paying.make({ easel, fake: null });
    for (const { status, body } of [
      await paying.subscribe('pro_monthly'),
      await paying.cancel('now'),
      await paying.subscribe('pro_monthly'),
    ])
      expect([200, 201], JSON.stringify(body)).toContain(status);
    const [row] = await easel.sql<{ ref: string }[]>`
      select ref from billing_subscription where workspace_id = ${paying.workspaceId} and status = 'incomplete'`;
    return { paying, ref: row?.ref ?? '', workspaceId: paying.workspaceId as WorkspaceId };
  }

  test('a node that is killed between the charge and the record: the next one records it, and nothing is charged again', async () => {
    const { paying, ref, workspaceId } = await unpaid();
    const killed = node((real) => ({
      pay: async (spec) => {
        await real.pay(spec);
        throw new Error('kill -9');
      },
    }));
    const asked = { kind: 'card', token: 'tok_visa', pays: ref } as const;
    await expect(killed.perform(callOf(paying), workspaceId, asked, () => Promise.resolve(asked))).rejects.toThrow('kill -9');
    expect(await paying.charges()).toEqual([1200]);
    expect((await paying.subscription()).status).toBe('incomplete');
    // Meanwhile nobody can begin another change.
    expect((await paying.card('tok_mastercard')).body.code).toBe('BILLING_IN_PROGRESS');
    await paying.pass(100_000, async () => (await easel.sql.begin((tx) => readOpenOperation(tx, workspaceId))) === null);
    expect((await paying.subscription()).status).toBe('active');
    expect(await paying.charges()).toEqual([1200]);
    const [row] = await easel.sql<{ kept: boolean }[]>`
      select bool_or(request ? 'token') as kept from billing_operation where workspace_id = ${workspaceId}`;
    expect(row?.kept).toBe(false);
  });

  test('a provider that is away: a clear answer, nothing changes, and it is made once when the provider is back', async () => {
    const { paying, ref, workspaceId } = await unpaid();
    const away = node(() => ({
      attach: () => Promise.reject(new ProviderAway('no answer')),
      look: () => Promise.reject(new ProviderAway('no')),
    }));
    const asked = { kind: 'card', token: 'tok_visa', pays: ref } as const;
    const attempt = () => away.perform(callOf(paying), workspaceId, asked, () => Promise.resolve(asked));
    await expect(attempt()).rejects.toMatchObject({ code: 'BILLING_UNAVAILABLE' });
    // The same wish goes on with what is open; it makes no second operation.
    await expect(attempt()).rejects.toMatchObject({ code: 'BILLING_UNAVAILABLE' });
    expect(await paying.subscription()).toMatchObject({ status: 'incomplete', has_card: false });
    expect(await paying.charges()).toEqual([]);
    await paying.passUntil(60_000, 'active');
    expect(await paying.charges()).toEqual([1200]);
  });

  test('two calls at once make one change', async () => {
    const { paying } = await unpaid();
    const answers = await Promise.all([paying.card('tok_visa'), paying.card('tok_visa'), paying.card('tok_visa')]);
    for (const { status, body } of answers) expect([200, 409], body.error).toContain(status);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(await paying.charges()).toEqual([1200]);
  });

  test('events are signed, taken once, and a storm of them is a few looks', async () => {
    const paying = await Paying.make({ easel, fake: null });
    await paying.subscribe('pro_monthly');
    const [customer] = await easel.sql<{ ref: string }[]>`select ref from billing_customer where workspace_id = ${paying.workspaceId}`;
    const key = await embeddedKey(easel);
    const send = (id: string, nowMs = easel.clock.nowMs(), sign = key) => {
      const body = JSON.stringify({ id, type: 'dispute', customer: customer?.ref });
      const headers = { 'content-type': 'application/json', 'stripe-signature': signatureOf(sign, body, nowMs) };
      return easel.fetch('/v1/billing/webhooks/embedded', { method: 'POST', body, headers });
    };
    expect((await send('evt_a', easel.clock.nowMs(), Buffer.from('wrong'))).status).toBe(400);
    expect((await send('evt_a', easel.clock.nowMs() - DAY_MS)).status).toBe(400);
    expect((await easel.fetch('/v1/billing/webhooks/nobody', post({}))).status).toBe(404);
    expect(await paying.notices()).toEqual([]);
    const replies = await Promise.all(Array.from({ length: 60 }, (_, at) => send(`evt_storm_${at % 2}`)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await paying.notices()).toEqual(['billing.dispute', 'billing.dispute']);
    const [row] = await easel.sql<{ count: number }[]>`select count(*)::int as count from billing_event where id like 'evt_storm_%'`;
    expect(row?.count).toBe(2);
  });

  test('strangers find nothing, members are refused, and an owner makes a billing manager', async () => {
    const paying = await Paying.make({ easel, fake: null });
    await paying.subscribe('team_monthly', { seats: 5 });
    const [stranger, member] = [await easel.newUser(), await easel.newUser()];
    await easel.sql`
      insert into workspace_member (workspace_id, user_id, role, joined_at_ms) values (${paying.workspaceId}, ${member.userId}, 'member', 1)`;
    const path = `/v1/billing/subscription?workspace_id=${paying.workspaceId}`;
    expect((await paying.call(path, {}, stranger.token)).body.code).toBe('WORKSPACE_NOT_FOUND');
    expect((await paying.call(path, {}, member.token)).body.code).toBe('BILLING_ROLE_REQUIRED');
    const { subscription_id } = await paying.subscription();
    const card = post({ subscription_id, token: 'tok_visa' });
    expect((await paying.call('/v1/billing/card', card, stranger.token)).body.code).toBe('SUBSCRIPTION_NOT_FOUND');
    expect((await paying.call('/v1/billing/card', card, member.token)).body.code).toBe('BILLING_ROLE_REQUIRED');
    const seat = `/v1/workspaces/${paying.workspaceId}/members/${member.userId}`;
    expect((await paying.call(seat, patch({ billing_manager: true }))).body).toMatchObject({ role: 'member', billing_manager: true });
    expect((await paying.call('/v1/billing/card', card, member.token)).status).toBe(200);
    // They spend the money, and make nobody else a manager.
    expect((await paying.call(seat, patch({ billing_manager: true }), member.token)).status).toBe(403);
    await paying.call(seat, patch({ billing_manager: false }));
    expect((await paying.call(path, {}, member.token)).body.code).toBe('BILLING_ROLE_REQUIRED');
  });

  test('a card number is refused, and its digits are in no answer and no row', async () => {
    const paying = await Paying.make({ easel, fake: null });
    await paying.subscribe();
    for (const token of ['4242424242424242', '4242 4242 4242 4242', 'tok_5555-5555-5555-4444']) {
      const refused = await paying.card(token);
      expect([refused.status, refused.body.code, refused.body.param]).toEqual([400, 'INVALID_REQUEST', 'token']);
      expect(JSON.stringify(refused.body)).not.toContain('4242');
    }
    const [row] = await easel.sql<
      { count: number }[]
    >`select count(*)::int as count from billing_operation where request::text like '%4242%'`;
    expect(row?.count).toBe(0);
  });

  test('a deleted workspace pays nothing more', async () => {
    const paying = await Paying.make({ easel, fake: null });
    await paying.subscribe();
    await easel.sql`update workspace set deleted_at_ms = ${easel.clock.nowMs()} where id = ${paying.workspaceId}`;
    await paying.pass(60_000, async () => {
      const [row] = await easel.sql<
        { status: string }[]
      >`select status from billing_subscription where workspace_id = ${paying.workspaceId}`;
      return row?.status === 'canceled';
    });
    expect(await paying.charges()).toEqual([]);
  });
});
