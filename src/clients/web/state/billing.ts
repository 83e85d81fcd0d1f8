/** What a workspace pays, how, and what its plan allows. Cards are saved on the page of the payment provider: no number comes by here. */
import {
  type Account,
  api,
  type BillingPlan,
  type Invoice,
  type PaymentMethod,
  type Subscription,
  type WorkspacePlan,
} from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { pageOf, usePages } from './pages.ts';
import { changed, useLoaded } from './store.ts';

/** Features and limits of any two things that have a plan. */
export type Over = (WorkspacePlan | Account)['over'][number];
export type Allowances = WorkspacePlan['allowances'];

export function usePlans() {
  return useLoaded<readonly BillingPlan[]>('plans', async () => (await api.billing.plans()).body.plans);
}

/** What each tier allows, from the smallest to the largest. */
export function useTiers() {
  return useLoaded('tiers', async () => (await api.terms.limits()).body.plans);
}

export function useWorkspacePlan(workspaceId: string) {
  return useLoaded<WorkspacePlan>(`billing:${workspaceId}:plan`, async () => (await api.plans.get({ params: { workspaceId } })).body);
}

export interface ReadSubscription {
  /** The one that runs, else the last one; null where there was none. */
  readonly subscription: Subscription | null;
  /** For a change that does not overwrite another one. */
  readonly etag: string | undefined;
}

export function useSubscription(workspaceId: string) {
  return useLoaded<ReadSubscription>(`billing:${workspaceId}:subscription`, async () => {
    try {
      const { body, headers } = await api.billing.subscription({ query: { workspace_id: workspaceId } });
      return { subscription: body, etag: headers.get('etag') ?? undefined };
    } catch (error) {
      if (problemOf(error).code === 'SUBSCRIPTION_NOT_FOUND') return { subscription: null, etag: undefined };
      throw error;
    }
  });
}

export function useMethods(workspaceId: string) {
  return usePages<PaymentMethod>(`billing:${workspaceId}:methods`, async (cursor) => {
    const { body } = await api.billing.paymentMethods({ query: { workspace_id: workspaceId, cursor } });
    return pageOf(body.payment_methods, body);
  });
}

export function useInvoices(workspaceId: string) {
  return usePages<Invoice>(`billing:${workspaceId}:invoices`, async (cursor) => {
    const { body } = await api.billing.invoices({ query: { workspace_id: workspaceId, cursor } });
    return pageOf(body.invoices, body);
  });
}

/** The workspaces of this person with their plans. */
export function usePlannedWorkspaces() {
  return usePages('billing:workspaces', async (cursor) => {
    const { body } = await api.workspaces.list({ query: { cursor } });
    return pageOf(body.workspaces, body);
  });
}

/** A plan decides what the screens of a workspace offer. */
export function billingChanged(): void {
  changed('billing:', 'account', 'workspace:', 'features:', 'imports:', 'catalog:');
}

/** What was refused may have left something behind too, such as a card that was saved and then declined. */
async function changing<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } finally {
    billingChanged();
  }
}

export interface Wanted {
  readonly plan_id: BillingPlan['id'];
  readonly seats: number;
}

export async function subscribe(workspaceId: string, wanted: Wanted): Promise<Subscription> {
  return (await changing(api.billing.subscribe({ body: { workspace_id: workspaceId, ...wanted } }))).body;
}

export async function changePlan(workspaceId: string, etag: string | undefined, wanted: Wanted): Promise<Subscription> {
  const body = { workspace_id: workspaceId, ...wanted };
  return (await changing(api.billing.update({ body, ...(etag !== undefined && { ifMatch: etag }) }))).body;
}

export async function cancelPlan(workspaceId: string, at: 'now' | 'period_end'): Promise<Subscription> {
  return (await changing(api.billing.cancel({ body: { workspace_id: workspaceId, at } }))).body;
}

/** Takes back a cancellation, and a change that comes with the next period. */
export async function resumePlan(workspaceId: string): Promise<void> {
  await changing(api.billing.resume({ body: { workspace_id: workspaceId } }));
}

/** Goes to the page of the payment provider, which sends the browser back to the screen of the workspace. */
export async function openCardPage({ id, slug }: { readonly id: string; readonly slug: string }): Promise<void> {
  const { body } = await api.billing.checkoutSaveCard({ body: { workspace_id: id, return_to: `/w/${slug}/billing` } });
  location.assign(body.checkout_url);
}

/** Takes the card that was saved there, and pays with it what is due. */
export async function takeCard(checkoutId: string) {
  return (await changing(api.billing.checkoutActivate({ body: { checkout_id: checkoutId } }))).body;
}

/** Pays with this card from now on, and what is due already. */
export async function payWith(paymentMethodId: string): Promise<void> {
  await changing(api.billing.defaultPaymentMethod({ params: { paymentMethodId } }));
}

export async function removeCard(paymentMethodId: string): Promise<void> {
  await changing(api.billing.deletePaymentMethod({ params: { paymentMethodId } }));
}
