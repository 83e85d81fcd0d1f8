/** Prepares what the examples of billing need. */
import type { TestEasel, TestUser } from '../support/easel.ts';
import { post } from '../support/requests.ts';
import { embeddedKey, signatureOf } from '../support/signed-events.ts';

interface World {
  readonly easel: TestEasel;
  readonly owner: TestUser;
}

type Ids = Readonly<Record<string, string>>;

export function billingArrangements<W extends World>(workspace: (world: W) => Promise<{ readonly ids: { readonly workspace: string } }>) {
  const call = async ({ easel, owner }: World, path: string, body: object) => {
    const reply = await easel.fetch(path, { token: owner.token, ...post(body) });
    if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
    return (await reply.json()) as Ids;
  };
  const inWorkspace = async (world: W) => ({ ids: (await workspace(world)).ids });
  const subscribed = async (world: W) => {
    const { ids } = await workspace(world);
    const { subscription_id } = await call(world, '/v1/billing/subscribe', { workspace_id: ids.workspace, plan_id: 'pro_monthly' });
    return { ids: { ...ids, subscription: subscription_id ?? '' } };
  };
  const withCard = async (world: W) => {
    const { ids } = await subscribed(world);
    await call(world, '/v1/billing/card', { subscription_id: ids.subscription, token: 'tok_visa' });
    const [row] = await world.easel.sql<{ id: string }[]>`select id from billing_method where workspace_id = ${ids.workspace}`;
    return { ids: { ...ids, paymentMethod: row?.id ?? '' } };
  };
  /** The address of a page of the embedded provider. */
  const secretOf = (url: string | undefined | null) => ({ params: { secret: new URL(url ?? '').pathname.split('/').at(-1) ?? '' } });
  const checkout = async (world: W) => {
    const { ids } = await workspace(world);
    const made = await call(world, '/v1/billing/checkout-save-card', { workspace_id: ids.workspace });
    return { ids: { ...ids, checkout: made.checkout_id ?? '' }, ...secretOf(made.checkout_url) };
  };
  const waiting = async (world: W) => {
    const { ids } = await subscribed(world);
    await call(world, '/v1/billing/cancel', { workspace_id: ids.workspace, at: 'now' });
    const { subscription_id } = await call(world, '/v1/billing/subscribe', { workspace_id: ids.workspace, plan_id: 'pro_monthly' });
    return secretOf((await call(world, '/v1/billing/card', { subscription_id, token: 'tok_3ds' })).action_url);
  };
  return {
    'billing.subscribe': inWorkspace,
    'billing.subscription': subscribed,
    'billing.update': subscribed,
    'billing.cancel': subscribed,
    'billing.resume': subscribed,
    'billing.card': subscribed,
    'billing.checkoutSaveCard': inWorkspace,
    'billing.checkoutActivate': async (world: W) => {
      const { ids, params } = await checkout(world);
      const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: world.easel.baseUrl };
      await world.easel.fetch(`/pay/checkout/${params.secret}`, { method: 'POST', headers, body: 'card=tok_visa' });
      return { ids };
    },
    'billing.paymentMethods': withCard,
    'billing.deletePaymentMethod': withCard,
    'billing.defaultPaymentMethod': withCard,
    'billing.invoices': withCard,
    'billing.webhook': async ({ easel }: W) => {
      const body = '{"id":"evt_1","type":"invoice.paid"}';
      const signature = signatureOf(await embeddedKey(easel), body, easel.clock.nowMs());
      return { body: Buffer.from(body), headers: { 'content-type': 'application/json', 'stripe-signature': signature } };
    },
    'pages.checkout': checkout,
    'pages.checkoutForm': checkout,
    'pages.confirmPayment': waiting,
    'pages.confirmPaymentForm': waiting,
    'pages.invoice': async (world: W) => {
      await waiting(world);
      const [row] = await world.easel.sql<{ page_url: string }[]>`select page_url from billing_invoice order by created_at_ms desc limit 1`;
      return secretOf(row?.page_url);
    },
  };
}
