/** Helpers of the tests of billing: a workspace, calls of its owner, and time that passes. */
import { expect } from 'vitest';
import { type DatabaseKind, databaseKinds } from '../../../support/database.ts';
import { startTestEasel, type TestEasel, type TestUser } from '../../../support/easel.ts';
import { FakeStripe } from '../../../support/fake-stripe.ts';
import { minutesUntil } from '../../../support/minutes.ts';
import { patch, post } from '../../../support/requests.ts';

export type ProviderName = 'embedded' | 'stripe';

/** What the tests of billing run on. */
export function stages(): readonly { readonly database: DatabaseKind; readonly provider: ProviderName }[] {
  return databaseKinds().flatMap((database) => (['embedded', 'stripe'] as const).map((provider) => ({ database, provider })));
}

/** An installation with its payment provider. */
export interface Stage {
  readonly easel: TestEasel;
  /** Null where the provider is the embedded one. */
  readonly fake: FakeStripe | null;
  close(): Promise<void>;
}

export async function startStage(database: DatabaseKind, provider: ProviderName): Promise<Stage> {
  if (provider === 'embedded') {
    const easel = await startTestEasel({ database });
    return { easel, fake: null, close: () => easel.close() };
  }
  const time: { easel: TestEasel | null } = { easel: null };
  const fake = await FakeStripe.start(() => time.easel?.clock.nowMs() ?? 0);
  const easel = await startTestEasel({ database, settings: fake.settings });
  time.easel = easel;
  return {
    easel,
    fake,
    close: async () => {
      await easel.close();
      await fake.close();
      time.easel = null;
    },
  };
}

export const DAY_MS = 24 * 3_600_000;

export interface Subscription {
  readonly subscription_id: string;
  readonly status: string;
  readonly plan: string;
  readonly seats: number;
  readonly trial_ends_at: string | null;
  readonly has_card: boolean;
  readonly credit_cents: number;
  readonly period_ends_at: string | null;
  readonly cancel_at_period_end: boolean;
  readonly pending: { readonly plan: string; readonly seats: number; readonly at: string } | null;
  readonly past_due_since: string | null;
  readonly ends_at: string | null;
  readonly action_url: string | null;
}

export interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly body: T & { readonly code?: string; readonly error?: string; readonly param?: string; readonly hint?: string };
  readonly headers: Headers;
}

export class Paying {
  readonly easel: TestEasel;
  readonly owner: TestUser;
  readonly workspaceId: string;
  readonly #fake: FakeStripe | null;

  constructor({ easel, fake }: Pick<Stage, 'easel' | 'fake'>, owner: TestUser, workspaceId: string) {
    this.easel = easel;
    this.#fake = fake;
    this.owner = owner;
    this.workspaceId = workspaceId;
  }

  static async make(stage: Pick<Stage, 'easel' | 'fake'>, owner?: TestUser): Promise<Paying> {
    const who = owner ?? (await stage.easel.newUser());
    const reply = await stage.easel.fetch('/v1/workspaces', { token: who.token, ...post({ name: 'Acme' }) });
    const { id } = (await reply.json()) as { id: string };
    return new Paying(stage, who, id);
  }

  async call<T = Record<string, unknown>>(path: string, init: RequestInit = {}, token = this.owner.token): Promise<Answer<T>> {
    const reply = await this.easel.fetch(path, { token, ...init });
    return { status: reply.status, body: (await reply.json()) as Answer<T>['body'], headers: reply.headers };
  }

  /** An active subscription whose trial is over, paid with this card. */
  async active(plan = 'team_monthly', card = 'tok_visa'): Promise<void> {
    const begun = await this.subscribe(plan);
    expect(begun.status, JSON.stringify(begun.body)).toBe(201);
    const saved = await this.card(card);
    expect(saved.status, JSON.stringify(saved.body)).toBe(200);
    await this.passUntil(14 * DAY_MS, 'active');
  }

  subscribe(plan_id = 'team_monthly', more: object = {}) {
    return this.call<Subscription>('/v1/billing/subscribe', post({ workspace_id: this.workspaceId, plan_id, ...more }));
  }

  change(body: object) {
    return this.call<Subscription>('/v1/billing/subscription', patch({ workspace_id: this.workspaceId, ...body }));
  }

  async card(token: string) {
    const { subscription_id } = await this.subscription();
    return this.call<Subscription>('/v1/billing/card', post({ subscription_id, token }));
  }

  cancel(at: 'now' | 'period_end') {
    return this.call<Subscription>('/v1/billing/cancel', post({ workspace_id: this.workspaceId, at }));
  }

  async subscription(): Promise<Subscription> {
    const { status, body } = await this.call<Subscription>(`/v1/billing/subscription?workspace_id=${this.workspaceId}`);
    expect(status, body.error).toBe(200);
    return body;
  }

  async invoices() {
    const { body } = await this.call<{ invoices: { amount_cents: number; status: string; pdf_url: string }[] }>(
      `/v1/billing/invoices?workspace_id=${this.workspaceId}`,
    );
    return body.invoices;
  }

  async plan(): Promise<unknown> {
    return (await this.call<{ plan: unknown }>(`/v1/workspaces/${this.workspaceId}`)).body.plan;
  }

  /** What the provider took, in cents. */
  async charges(): Promise<number[]> {
    if (this.#fake !== null) return this.#fake.charged(await this.customerRef());
    const rows = await this.easel.sql<{ charges: { amountCents: number }[] }[]>`
      select p.state -> 'charges' as charges from pay_customer p join billing_customer c on c.ref = p.ref
      where c.workspace_id = ${this.workspaceId}`;
    return rows.flatMap(({ charges }) => charges.map(({ amountCents }) => amountCents));
  }

  async customerRef(): Promise<string> {
    const [row] = await this.easel.sql<{ ref: string }[]>`
      select ref from billing_customer
      where workspace_id = ${this.workspaceId} and provider = ${this.#fake === null ? 'embedded' : 'stripe'}`;
    return row?.ref ?? '';
  }

  /** The bank of their cards pays again; nobody hears of it. */
  async refill(): Promise<void> {
    const ref = await this.customerRef();
    if (this.#fake !== null) {
      for (const method of this.#fake.books.methods.values()) if (method.customer === ref) method.bank = 'pays';
      return;
    }
    await this.easel.sql`
      update pay_customer set state = jsonb_set(state, '{methods}', (
        select jsonb_agg(m || '{"behaviour": "good"}') from jsonb_array_elements(state -> 'methods') m)) where ref = ${ref}`;
  }

  /** The person confirms a payment on the page of their bank, and comes back. */
  async confirm(actionUrl: string | null): Promise<void> {
    const { pathname, origin } = new URL(actionUrl ?? '');
    if (this.#fake !== null) {
      this.#fake.books.confirm(pathname.split('/').at(-1) ?? '');
      const event = this.#fake.events.findLast(({ type }) => type === 'invoice.paid');
      if (event === undefined) throw new Error('nothing was paid');
      expect(await this.#fake.send(this.easel.baseUrl, event)).toBe(200);
      return;
    }
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded', origin }, body: 'answer=confirm' };
    expect((await this.easel.fetch(pathname, form)).status).toBe(200);
  }

  /** Lets time pass, and waits until the work of billing has brought about what is awaited. */
  async pass(ms: number, reached: () => Promise<boolean>): Promise<void> {
    this.easel.clock.advance(ms);
    if (await minutesUntil(this.easel.clock, reached)) return;
    throw new Error(`it was not reached; the subscription is ${JSON.stringify(await this.subscription())}`);
  }

  passUntil(ms: number, status: string): Promise<void> {
    return this.pass(ms, async () => (await this.subscription()).status === status);
  }

  async notices(user = this.owner): Promise<string[]> {
    const { body } = await this.call<{ notifications: { kind: string }[] }>('/v1/notifications', {}, user.token);
    return body.notifications.map(({ kind }) => kind);
  }
}
