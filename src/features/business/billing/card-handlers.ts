/** The endpoints of cards and checkouts, and of tiers that are chosen without paying. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type PaymentMethodId, type SubscriptionId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { ownPath } from '../../../edge/return-to.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Queries } from '../../deps.ts';
import { tierOf, writeTier } from '../../people/accounts/rows.ts';
import { type Accounts, accountsOf } from '../../people/accounts/rules.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { accountFeatures } from '../tiers/presenting.ts';
import { requirePayer } from './access.ts';
import type { BillingDeps } from './handlers.ts';
import { readCheckout } from './operation-rows.ts';
import { countMethods, listMethods, type MethodRow, readMethod, readMethodByRef } from './payment-rows.ts';
import { presentMethod } from './present.ts';
import { ProviderAway } from './provider.ts';
import { readBaseTier, readCustomer, readSubscription, readSubscriptionById, type SubscriptionRow } from './rows.ts';
import { isRunning } from './rules.ts';
import { presented } from './showing.ts';

export interface CardDeps extends BillingDeps {
  readonly maySelfUpgrade: boolean;
}

type Ids =
  | 'billing.card'
  | 'billing.checkoutSaveCard'
  | 'billing.checkoutActivate'
  | 'billing.paymentMethods'
  | 'billing.deletePaymentMethod'
  | 'billing.defaultPaymentMethod'
  | 'billing.upgradeAccount';

export function cardHandlers(deps: CardDeps): Handlers<Ids> {
  const { sql, provider, operations, config, bus } = deps;
  return {
    'billing.card': async (call) => {
      const { subscription_id: subscriptionId, token } = call.body;
      const { workspaceId } = await requireSubscription(deps, subscriptionId, accountsOf(call.principal));
      await operations.perform(call, workspaceId, { card: call.body }, async (tx) => {
        await requireRoom(tx, deps, workspaceId);
        return { kind: 'card', token, pays: await openRef(tx, deps, subscriptionId) };
      });
      return { reply: 'ok', body: await shown(deps, subscriptionId) };
    },
    'billing.checkoutSaveCard': async (call) => {
      const { workspace_id, subscription_id, return_to } = call.body;
      const workspaceId = workspace_id ?? (await workspaceOf(deps, subscription_id, accountsOf(call.principal)));
      const made = await operations.perform(call, workspaceId, { checkout: call.body }, async (tx, workspace) => {
        await requireRoom(tx, deps, workspaceId);
        const id = newId('checkout');
        const back = new URL(ownPath(return_to, `/w/${workspace.slug}/billing`), config.baseUrl);
        back.searchParams.set('checkout_id', id);
        const baseTier = (await readBaseTier(tx, workspaceId)) ?? workspace.plan_tier;
        return { kind: 'checkout', id, returnUrl: back.href, baseTier, name: workspace.name };
      });
      if (made === null) throw new Error('a checkout has no page');
      const { id, url, clientSecret, expiresAtMs } = made;
      return {
        reply: 'created',
        body: { checkout_id: id, checkout_url: url, client_secret: clientSecret, expires_at: dateTime(expiresAtMs) },
      };
    },
    'billing.checkoutActivate': async (call) => {
      const { workspaceId, methodRef } = await requireSaved(deps, call.body.checkout_id, accountsOf(call.principal));
      await operations.perform(call, workspaceId, { activate: call.body }, async (tx) => {
        const current = await readSubscription(tx, workspaceId, provider.name);
        return { kind: 'default', methodRef, pays: current === null || current.status === 'canceled' ? null : current.ref };
      });
      const method = await readMethodByRef(sql, workspaceId, provider.name, methodRef);
      if (method === null) throw new Failure('PAYMENT_METHOD_NOT_FOUND');
      const current = await readSubscription(sql, workspaceId, provider.name);
      const subscription = current === null ? null : await presented(sql, deps, current);
      return { reply: 'ok', body: { subscription, payment_method: presentMethod(method) } };
    },
    'billing.paymentMethods': async ({ principal, query }) => {
      const { workspace_id: id, limit, cursor, count } = query;
      await requirePayer(sql, id, accountsOf(principal));
      const rows = await listMethods(sql, id, provider.name, decodeCursor(cursor), limit + 1);
      const { items, page } = cutPage(rows, limit, (row) => ({ number: row.createdAtMs, id: row.id }));
      const total = count ? { total: await countMethods(sql, id, provider.name) } : {};
      return { reply: 'ok', body: { payment_methods: items.map(presentMethod), ...page, ...total } };
    },
    'billing.deletePaymentMethod': async (call) => {
      const { id, workspaceId } = await requireMethod(deps, call.params.paymentMethodId, accountsOf(call.principal));
      await operations.perform(call, workspaceId, { detach: id }, async (tx) => {
        const method = await readMethod(tx, id, provider.name);
        if (method === null) throw new Failure('PAYMENT_METHOD_NOT_FOUND');
        const current = await readSubscription(tx, workspaceId, provider.name);
        const isPaidWith = current !== null && isRunning(current.status) && current.status !== 'trialing' && !current.cancelAtPeriodEnd;
        if (method.isDefault && isPaidWith) throw new Failure('LAST_PAYMENT_METHOD');
        return { kind: 'detach', methodRef: method.ref };
      });
      return { reply: 'ok', body: { success: true } };
    },
    'billing.defaultPaymentMethod': async (call) => {
      const { id, workspaceId } = await requireMethod(deps, call.params.paymentMethodId, accountsOf(call.principal));
      await operations.perform(call, workspaceId, { default: id }, async (tx) => {
        const method = await readMethod(tx, id, provider.name);
        if (method === null) throw new Failure('PAYMENT_METHOD_NOT_FOUND');
        const current = await readSubscription(tx, workspaceId, provider.name);
        return { kind: 'default', methodRef: method.ref, pays: current === null || current.status === 'canceled' ? null : current.ref };
      });
      const method = await readMethod(sql, id, provider.name);
      if (method === null) throw new Failure('PAYMENT_METHOD_NOT_FOUND');
      return { reply: 'ok', body: presentMethod(method) };
    },
    'billing.upgradeAccount': async (call) => {
      if (!deps.maySelfUpgrade) throw new Failure('SELF_UPGRADE_OFF');
      const { tier } = call.body;
      const accounts = accountsOf(call.principal);
      await sql.begin(async (tx) => {
        await writeTier(tx, accounts, tier);
        const target = { type: 'user', id: call.user, name: null };
        await audit(tx, call, { workspaceId: null, action: 'account.upgrade', target, detail: { tier } });
      });
      bus.tell({ kind: 'person.changed', userIds: accounts });
      const now = await tierOf(sql, call.user);
      return { reply: 'ok', body: { tier: now, features: accountFeatures(now) } };
    },
  };
}

/** Throws SUBSCRIPTION_NOT_FOUND for strangers too, BILLING_ROLE_REQUIRED. */
async function requireSubscription({ sql, provider }: CardDeps, id: SubscriptionId, accounts: Accounts): Promise<SubscriptionRow> {
  const row = await readSubscriptionById(sql, id, provider.name);
  if (row === null) throw new Failure('SUBSCRIPTION_NOT_FOUND');
  await hidden('SUBSCRIPTION_NOT_FOUND', requirePayer(sql, row.workspaceId, accounts));
  return row;
}

async function workspaceOf(deps: CardDeps, id: SubscriptionId | undefined, accounts: Accounts): Promise<WorkspaceId> {
  if (id === undefined) throw new Failure('SUBSCRIPTION_NOT_FOUND');
  return (await requireSubscription(deps, id, accounts)).workspaceId;
}

/** Throws PAYMENT_METHOD_NOT_FOUND for strangers too, BILLING_ROLE_REQUIRED. */
async function requireMethod({ sql, provider }: CardDeps, id: PaymentMethodId, accounts: Accounts): Promise<MethodRow> {
  const row = await readMethod(sql, id, provider.name);
  if (row === null) throw new Failure('PAYMENT_METHOD_NOT_FOUND');
  await hidden('PAYMENT_METHOD_NOT_FOUND', requirePayer(sql, row.workspaceId, accounts));
  return row;
}

/** The card that was saved at a checkout. Throws CHECKOUT_NOT_FOUND, CHECKOUT_INCOMPLETE, BILLING_ROLE_REQUIRED, BILLING_UNAVAILABLE. */
async function requireSaved({ sql, provider }: CardDeps, id: Parameters<typeof readCheckout>[1], accounts: Accounts) {
  const checkout = await readCheckout(sql, id, provider.name);
  if (checkout === null) throw new Failure('CHECKOUT_NOT_FOUND');
  const { workspaceId, ref } = checkout;
  await hidden('CHECKOUT_NOT_FOUND', requirePayer(sql, workspaceId, accounts));
  const customer = await readCustomer(sql, workspaceId, provider.name);
  if (customer === null) throw new Failure('CHECKOUT_NOT_FOUND');
  const methodRef = await provider.savedAt(customer.ref, ref).catch((error) => {
    if (error instanceof ProviderAway) throw new Failure('BILLING_UNAVAILABLE', { retryAfterS: 60 });
    throw error;
  });
  if (methodRef === null) throw new Failure('CHECKOUT_INCOMPLETE');
  return { workspaceId, methodRef };
}

/** To strangers a thing of a workspace does not exist. */
async function hidden(
  code: 'SUBSCRIPTION_NOT_FOUND' | 'PAYMENT_METHOD_NOT_FOUND' | 'CHECKOUT_NOT_FOUND',
  checked: Promise<void>,
): Promise<void> {
  await checked.catch((error) => {
    throw error instanceof Failure && error.code === 'WORKSPACE_NOT_FOUND' ? new Failure(code) : error;
  });
}

/** Throws PAYMENT_METHOD_LIMIT_EXCEEDED. */
async function requireRoom(tx: Queries, { provider }: CardDeps, workspaceId: WorkspaceId): Promise<void> {
  if ((await countMethods(tx, workspaceId, provider.name)) >= LIMITS.paymentMethodsMax) throw new Failure('PAYMENT_METHOD_LIMIT_EXCEEDED');
}

/** Throws SUBSCRIPTION_NOT_FOUND, SUBSCRIPTION_ENDED. */
async function openRef(tx: Queries, { provider }: CardDeps, id: SubscriptionId): Promise<string> {
  const row = await readSubscriptionById(tx, id, provider.name);
  if (row === null) throw new Failure('SUBSCRIPTION_NOT_FOUND');
  if (row.status === 'canceled') throw new Failure('SUBSCRIPTION_ENDED');
  return row.ref;
}

async function shown(deps: CardDeps, id: SubscriptionId) {
  const row = await readSubscriptionById(deps.sql, id, deps.provider.name);
  if (row === null) throw new Failure('SUBSCRIPTION_NOT_FOUND');
  return presented(deps.sql, deps, row);
}
