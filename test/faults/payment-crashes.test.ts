/** The process dies between what Stripe has done and our record of it: afterwards it is recorded, and nothing was done twice. */
import postgres from 'postgres';
import { expect, it, onTestFinished } from 'vitest';
import { createServerDatabase, temporaryDir } from '../support/database.ts';
import { FakeStripe } from '../support/fake-stripe.ts';
import { type Program, startProgram } from '../support/program.ts';
import { post } from '../support/requests.ts';
import { describeWith } from '../support/services.ts';

interface Subscription {
  readonly subscription_id: string;
  readonly status: string;
  readonly has_card: boolean;
}

async function installation() {
  const fake = await FakeStripe.start();
  const folder = temporaryDir();
  const database = await createServerDatabase();
  const sql = postgres(database.url, { max: 2 });
  const settings = { DATA_DIR: folder.path, DATABASE_URL: database.url, ...fake.settings };
  const now: { program: Program } = { program: await startProgram(settings) };
  const token = now.program.adminToken ?? '';
  onTestFinished(async () => {
    await now.program.end('SIGTERM');
    await sql.end();
    await fake.close();
    await database.drop();
    folder.remove();
  });
  const call = async (path: string, body?: unknown): Promise<{ readonly status: number; readonly body: Subscription & { id: string } }> => {
    const init: RequestInit = body === undefined ? {} : post(body);
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    const reply = await fetch(`${now.program.baseUrl}${path}`, { ...init, headers });
    return { status: reply.status, body: (await reply.json()) as Subscription & { id: string } };
  };
  const restart = async () => {
    await now.program.end('SIGKILL');
    // The lease of the dead process ends.
    await sql`update billing_operation set lease_until_ms = 0 where state = 'open'`;
    now.program = await startProgram(settings);
  };
  return { fake, sql, call, restart };
}

describeWith('postgresUrl')('the process dies in the middle of payments', () => {
  it('a charge is recorded once and never repeated, wherever it was struck', async () => {
    const { fake, sql, call, restart } = await installation();
    const { body: workspace } = await call('/v1/workspaces', { name: 'Acme' });
    const workspace_id = workspace.id;
    const mine = () => call(`/v1/billing/subscription?workspace_id=${workspace_id}`);
    const customer = async () => {
      const [row] = await sql<{ ref: string }[]>`select ref from billing_customer where workspace_id = ${workspace_id}`;
      return row?.ref ?? '';
    };
    const plan = { workspace_id, plan_id: 'pro_monthly' };
    await call('/v1/billing/subscribe', plan);
    await call('/v1/billing/cancel', { workspace_id, at: 'now' });

    // Stripe has the subscription, and we do not know it: the service goes on by itself.
    const subscribed = fake.hold(({ method, path }) => method === 'POST' && path === '/v1/subscriptions');
    const struck = call('/v1/billing/subscribe', plan).catch(() => null);
    await subscribed;
    await restart();
    expect(await struck).toBeNull();
    await expect.poll(async () => (await mine()).body.status, { timeout: 30_000 }).toBe('incomplete');
    expect(fake.books.subscriptionsOf(await customer())).toHaveLength(2);

    // Stripe has the card.
    const { subscription_id } = (await mine()).body;
    const saving = { subscription_id, token: 'tok_visa' };
    const attached = fake.hold(({ path }) => path.endsWith('/attach'));
    const cut = call('/v1/billing/card', saving).catch(() => null);
    await attached;
    // And it has the money, when the next process dies.
    const paid = fake.hold(({ path }) => path.endsWith('/pay'));
    await restart();
    expect(await cut).toBeNull();
    await paid;
    expect(fake.charged(await customer())).toEqual([1200]);
    expect((await mine()).body).toMatchObject({ status: 'incomplete', has_card: false });
    await restart();
    await expect.poll(async () => (await mine()).body, { timeout: 30_000 }).toMatchObject({ status: 'active', has_card: true });
    expect(fake.charged(await customer())).toEqual([1200]);
    expect(fake.books.methodsOf(await customer())).toHaveLength(1);
    const rows = await sql<{ kind: string; state: string }[]>`select kind, state from billing_operation order by created_at_ms`;
    expect(rows.map(({ kind, state }) => `${kind} ${state}`)).toEqual(['subscribe done', 'cancel done', 'subscribe done', 'card done']);
    const charges = await sql`select from audit_entry where action = 'billing.card'`;
    expect(charges).toHaveLength(1);
  });
});
