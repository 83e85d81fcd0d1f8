/**
 * Reads what the provider has of a workspace and stores it. Events only say that something has changed: they come late, twice, in any order or
 * not at all, so none of them is believed. Looks are numbered before they begin, and an older answer never overwrites a newer one.
 */
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { MailSender } from '../../../mail/sender.ts';
import type { Fact } from '../../../platform/bus.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { putInvoices, putMethods } from './payment-rows.ts';
import { followPlan } from './plan.ts';
import type { PaymentProvider, Seen, SeenSubscription } from './provider.ts';
import {
  beginLook,
  lockPaidWorkspace,
  type PaidWorkspace,
  putSubscription,
  readCustomer,
  readSubscription,
  readSubscriptionByRef,
  writeSeen,
} from './rows.ts';
import { advance, isNewer } from './rules.ts';
import { tellPeople } from './telling.ts';

export interface LookingDeps extends Pick<ServiceDeps, 'sql' | 'clock' | 'bus' | 'config' | 'log'> {
  readonly provider: PaymentProvider;
  readonly mail: Pick<MailSender, 'wake'>;
}

/** Subscriptions of one customer that are looked at: the last ones, because ended ones stay with the provider. */
const SUBSCRIPTIONS_MAX = 20;
/** Looks in a row while more changes; then the sweep goes on. */
const IN_A_ROW_MAX = 3;

export class Looking {
  readonly #deps: LookingDeps;
  readonly #running = new Map<WorkspaceId, Promise<void>>();

  constructor(deps: LookingDeps) {
    this.#deps = deps;
  }

  /** Looks until nothing is new. Looks at one workspace are shared by those who ask meanwhile. Rejects with `ProviderAway`. */
  refresh(workspaceId: WorkspaceId): Promise<void> {
    const running = this.#running.get(workspaceId);
    if (running !== undefined) return running;
    const looked = this.#untilSeen(workspaceId).finally(() => this.#running.delete(workspaceId));
    this.#running.set(workspaceId, looked);
    return looked;
  }

  async #untilSeen(workspaceId: WorkspaceId): Promise<void> {
    for (let looks = 0; looks < IN_A_ROW_MAX; looks += 1) {
      await this.look(workspaceId);
      const customer = await readCustomer(this.#deps.sql, workspaceId, this.#deps.provider.name);
      if (customer === null || customer.look_no <= customer.seen_no) return;
    }
  }

  /** One look. `also` runs in the transaction that stores it, or in one of its own where there is nothing to look at. */
  async look(workspaceId: WorkspaceId, also?: (tx: Queries) => Promise<void>): Promise<void> {
    const { sql, provider, bus, mail, clock } = this.#deps;
    const customer = await readCustomer(sql, workspaceId, provider.name);
    const lookNo = customer === null ? null : await beginLook(sql, workspaceId, provider.name);
    const seen = customer === null || lookNo === null ? null : await provider.look(customer.ref);
    const facts = await sql.begin(async (tx) => {
      const workspace = await lockPaidWorkspace(tx, workspaceId);
      const told =
        workspace === null || seen === null || lookNo === null ? [] : await this.#store(tx, workspace, lookNo, seen, clock.nowMs());
      await also?.(tx);
      return told;
    });
    for (const fact of facts) bus.tell(fact);
    if (facts.length > 0) mail.wake();
  }

  async #store(tx: Queries, workspace: PaidWorkspace, lookNo: number, seen: Seen, nowMs: number): Promise<readonly Fact[]> {
    const { provider } = this.#deps;
    const customer = await readCustomer(tx, workspace.id, provider.name);
    if (customer === null || !isNewer(lookNo, customer.seen_no)) return [];
    const facts: Fact[] = [];
    const lost = seen.isGone ? await this.#lost(tx, workspace, nowMs) : [];
    const subscriptions = [...seen.subscriptions, ...lost]
      .sort((one, other) => one.createdAtMs - other.createdAtMs)
      .slice(-SUBSCRIPTIONS_MAX);
    for (const subscription of subscriptions) {
      const before = await readSubscriptionByRef(tx, provider.name, subscription.ref);
      const { after, effects } = advance(before, subscription, nowMs);
      const isReminded = effects.includes('payment_failed');
      await putSubscription(tx, workspace.id, provider.name, isReminded ? { ...after, dunningSent: 1 } : after);
      for (const effect of effects) facts.push(...(await tellPeople(tx, this.#deps, workspace, effect, after, nowMs)));
    }
    await putMethods(tx, workspace.id, provider.name, seen.methods);
    await putInvoices(tx, workspace.id, provider.name, seen.invoices);
    await writeSeen(tx, workspace.id, provider.name, { lookNo, creditCents: seen.creditCents, nowMs });
    const plan = { provider: provider.name, workspace, baseTier: customer.base_tier, nowMs };
    return [...facts, ...(await followPlan(tx, plan))];
  }

  /** What ran of a customer whom somebody has deleted at the provider: it is canceled with them. */
  async #lost(tx: Queries, { id }: PaidWorkspace, nowMs: number): Promise<readonly SeenSubscription[]> {
    const row = await readSubscription(tx, id, this.#deps.provider.name);
    if (row === null || row.status === 'canceled') return [];
    return [{ ...row, status: 'canceled', canceledAtMs: nowMs, kept: null, actionUrl: null }];
  }
}
