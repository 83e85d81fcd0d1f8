/** The endpoints of subscriptions. Cards have `card-handlers.ts`. */
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { PLANS } from '../../../../protocol/business/billing-plans.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { countMembers } from '../../workspaces/members/rows.ts';
import { requirePayer } from './access.ts';
import type { EventIntake } from './intake.ts';
import type { LookingDeps } from './looking.ts';
import type { Operations } from './operations.ts';
import { countInvoices, listInvoices } from './payment-rows.ts';
import { presentInvoice } from './present.ts';
import { type PlanAndSeats, ProviderAway } from './provider.ts';
import type { Asked } from './request.ts';
import { readBaseTier, readSubscription, type SubscriptionRow } from './rows.ts';
import { changeTo, effective, isSame, requireSeats } from './rules.ts';
import { requireOpen, showSubscription } from './showing.ts';
import { takeTrial } from './trial-rows.ts';

export interface BillingDeps extends LookingDeps {
  readonly operations: Operations;
  readonly intake: EventIntake;
}

type Ids =
  | 'billing.plans'
  | 'billing.subscribe'
  | 'billing.subscription'
  | 'billing.update'
  | 'billing.cancel'
  | 'billing.resume'
  | 'billing.invoices'
  | 'billing.webhook';

const DAY_MS = 24 * 3_600_000;

export function billingHandlers(deps: BillingDeps): Handlers<Ids> {
  const { sql, clock, provider, operations } = deps;
  const shown = (workspaceId: WorkspaceId) => showSubscription(sql, deps, workspaceId);
  return {
    'billing.plans': () => {
      const body = { plans: Object.values(PLANS) };
      return { reply: 'ok', body, etag: bodyEtag(body) };
    },
    'billing.subscribe': async (call) => {
      const { workspace_id: id, plan_id: planId, seats } = call.body;
      await operations.perform(call, id, { subscribe: call.body }, async (tx, workspace, operationId) => {
        const before = await readSubscription(tx, id, provider.name);
        if (before !== null && before.status !== 'canceled') throw new Failure('SUBSCRIPTION_EXISTS');
        const members = await countMembers(tx, id);
        const wanted = { planId, seats: seats ?? Math.max(1, members) };
        requireSeats(wanted.seats, members);
        const isTrial = PLANS[planId].trial_days > 0 && (await takeTrial(tx, id, call.user, operationId));
        const trialEndsAtMs = isTrial ? clock.nowMs() + PLANS[planId].trial_days * DAY_MS : null;
        // The plan may be that of a subscription with a provider of before.
        const base = { baseTier: (await readBaseTier(tx, id)) ?? workspace.plan_tier, name: workspace.name };
        return { kind: 'subscribe', id: newId('subscription'), ...wanted, trialEndsAtMs, ...base };
      });
      return { reply: 'created', ...(await shown(id)) };
    },
    'billing.subscription': async ({ principal, query }) => {
      await requirePayer(sql, query.workspace_id, accountsOf(principal));
      return { reply: 'ok', ...(await shown(query.workspace_id)) };
    },
    'billing.update': async (call) => {
      const { workspace_id: id, plan_id, seats } = call.body;
      await operations.perform(call, id, { update: call.body }, async (tx) => {
        const { body } = await showSubscription(tx, deps, id);
        checkConditions({ etag: bodyEtag(body) }, call);
        const current = await requireLive(tx, deps, id);
        const has = effective(current, clock.nowMs());
        const wanted = { planId: plan_id ?? has.planId, seats: seats ?? has.seats };
        requireSeats(wanted.seats, await countMembers(tx, id));
        return changing(current, wanted, clock.nowMs());
      });
      return { reply: 'ok', ...(await shown(id)) };
    },
    'billing.cancel': async (call) => {
      const { workspace_id: id, at } = call.body;
      await operations.perform(call, id, { cancel: call.body }, async (tx) => {
        const { ref, cancelAtPeriodEnd, status } = await requireOpen(tx, deps, id);
        if (at === 'period_end' && cancelAtPeriodEnd) return null;
        // There is no paid period that could still be used.
        return { kind: 'cancel', ref, at: status === 'incomplete' || status === 'past_due' ? 'now' : at };
      });
      return { reply: 'ok', ...(await shown(id)) };
    },
    'billing.resume': async (call) => {
      const { workspace_id: id } = call.body;
      await operations.perform(call, id, { resume: call.body }, async (tx) => {
        const current = await requireOpen(tx, deps, id);
        const has = effective(current, clock.nowMs());
        if (!current.cancelAtPeriodEnd && isSame(has, current)) return null;
        return { kind: 'resume', ref: current.ref, restored: isSame(has, current) ? null : { planId: has.planId, seats: has.seats } };
      });
      return { reply: 'ok', ...(await shown(id)) };
    },
    'billing.invoices': async ({ principal, query }) => {
      const { workspace_id: id, limit, cursor, count } = query;
      await requirePayer(sql, id, accountsOf(principal));
      const rows = await listInvoices(sql, id, provider.name, decodeCursor(cursor), limit + 1);
      const { items, page } = cutPage(rows, limit, (row) => ({ number: row.createdAtMs, id: row.id }));
      const total = count ? { total: await countInvoices(sql, id, provider.name) } : {};
      return { reply: 'ok', body: { invoices: items.map(presentInvoice), ...page, ...total } };
    },
    'billing.webhook': async ({ params, body, paymentSignature, nowMs }) => {
      if (params.provider !== provider.name) throw new Failure('BILLING_PROVIDER_NOT_FOUND');
      try {
        await deps.intake.take(await provider.readEvent(body, paymentSignature, nowMs));
      } catch (error) {
        // Not stored: the provider sends it again.
        if (error instanceof ProviderAway) throw new Failure('BILLING_UNAVAILABLE', { retryAfterS: 60 });
        throw error;
      }
      return { reply: 'ok', body: { received: true } };
    },
  };
}

/** What is asked of the provider for a change of plan or seats; null where there is none. */
function changing(current: SubscriptionRow, wanted: PlanAndSeats, nowMs: number): Asked | null {
  const change = changeTo(current, wanted, nowMs);
  switch (change.kind) {
    case 'none':
      return null;
    case 'later':
      return { kind: 'change', ref: current.ref, steps: [{ ...wanted, isProrated: false, kept: change.kept }] };
    case 'now': {
      const { restoreFirst, isProrated, paysFirst } = change;
      const step = { ...wanted, isProrated, kept: null };
      if (restoreFirst === null) return { kind: 'change', ref: current.ref, steps: [step], paysFirst };
      const back = { planId: current.planId, seats: current.seats, isProrated: false, kept: current.kept };
      return { kind: 'change', ref: current.ref, steps: [{ ...restoreFirst, isProrated: false, kept: null }, step], paysFirst, back };
    }
    default:
      return change satisfies never;
  }
}

/** Also refuses one whose first payment has not succeeded: what it would become is not known. */
async function requireLive(tx: Queries, deps: BillingDeps, workspaceId: WorkspaceId): Promise<SubscriptionRow> {
  const row = await requireOpen(tx, deps, workspaceId);
  if (row.status !== 'incomplete') return row;
  throw new Failure('SUBSCRIPTION_ENDED', {
    message: 'The first payment of the subscription has not succeeded.',
    hint: 'Save a card that pays it, or cancel it and subscribe to another plan.',
  });
}
