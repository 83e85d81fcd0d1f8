/**
 * Changes at the payment provider. Each is stored before it is made, and its id is the idempotency key of its calls: whoever finds one open, after
 * a crash or an outage, makes the same calls again and records the answer. So nothing is charged twice, and nothing that was charged is lost.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { CheckoutId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { Queries } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { requirePayer } from './access.ts';
import type { Looking, LookingDeps } from './looking.ts';
import {
  endOperation,
  insertCheckout,
  insertOperation,
  type OperationRow,
  type Outcome,
  postponeOperation,
  readOpenOperation,
  takeOperation,
} from './operation-rows.ts';
import { ProviderAway, type ProviderCheckout, type Seen } from './provider.ts';
import type { Asked, Request } from './request.ts';
import { insertCustomer, lockPaidWorkspace, type PaidWorkspace, readCustomer, replaceCustomer } from './rows.ts';
import { giveTrialBack } from './trial-rows.ts';

/** With the id that we know it by, which a repetition keeps. */
interface MadeCheckout extends ProviderCheckout {
  readonly id: CheckoutId;
}

/** Who asks. */
export interface PayingCall {
  readonly user: UserId;
  readonly principal: Principal;
  readonly address: string;
  readonly requestId: string;
}

/** Longer than the calls of one operation take. */
const LEASE_MS = 10 * LIMITS.billingCallTimeoutMs;

export class Operations {
  readonly #deps: LookingDeps;
  readonly #looking: Looking;

  constructor(deps: LookingDeps, looking: Looking) {
    this.#deps = deps;
    this.#looking = looking;
  }

  /**
   * Makes a change for a caller. `decide` runs in the transaction that stores it, with the workspace locked; null where there is nothing to do.
   * A caller who repeats what is open goes on with it. Throws what `decide` throws, BILLING_IN_PROGRESS, BILLING_UNAVAILABLE, and what the
   * provider refuses.
   */
  async perform(
    call: PayingCall,
    workspaceId: WorkspaceId,
    wanted: object,
    decide: (tx: Queries, workspace: PaidWorkspace, operationId: string) => Promise<Asked | null>,
  ): Promise<MadeCheckout | null> {
    const { sql, clock } = this.#deps;
    const wish = createHash('sha256').update(JSON.stringify(wanted)).digest('hex');
    const operation = await sql.begin(async (tx) => {
      const workspace = await lockPaidWorkspace(tx, workspaceId);
      await requirePayer(tx, workspaceId, accountsOf(call.principal));
      if (workspace === null) throw new Failure('WORKSPACE_NOT_FOUND');
      const nowMs = clock.nowMs();
      const left = await readOpenOperation(tx, workspaceId);
      if (left !== null && !(await this.#isFormer(tx, left, nowMs))) return this.#takeOver(tx, left, wish, nowMs);
      const id = randomUUID();
      const asked = await decide(tx, workspace, id);
      if (asked === null) return null;
      const row = this.#newOperation(id, workspaceId, { ...asked, wish }, call);
      await insertOperation(tx, row);
      return row;
    });
    return operation === null ? null : this.run(operation);
  }

  /** Makes a change that the service decides by itself: `decide` as above. Nothing happens where another change is open. */
  async performAlone(workspaceId: WorkspaceId, decide: (tx: Queries) => Promise<Asked | null>): Promise<void> {
    const operation = await this.#deps.sql.begin(async (tx) => {
      await lockPaidWorkspace(tx, workspaceId);
      if ((await readOpenOperation(tx, workspaceId)) !== null) return null;
      const asked = await decide(tx);
      if (asked === null) return null;
      const row = this.#newOperation(randomUUID(), workspaceId, { ...asked, wish: '' }, null);
      await insertOperation(tx, row);
      return row;
    });
    if (operation !== null) await this.run(operation);
  }

  /** Ends an operation of a provider that this installation does not use any more: nobody can ask it what has become of it. */
  async giveUp(left: OperationRow): Promise<void> {
    await this.#deps.sql.begin(async (tx) => {
      await lockPaidWorkspace(tx, left.workspaceId);
      await this.#isFormer(tx, left, this.#deps.clock.nowMs());
    });
  }

  /** Goes on with an operation that was left open. Nothing happens where another node was faster. */
  async recover(left: OperationRow): Promise<void> {
    const nowMs = this.#deps.clock.nowMs();
    if (!(await takeOperation(this.#deps.sql, left.id, left.leaseUntilMs, nowMs + LEASE_MS))) return;
    if (nowMs - left.createdAtMs < LIMITS.billingOperationMs) await this.run(left);
    else await this.#settled(left, { state: 'unknown', failure: 'BILLING_UNAVAILABLE' });
  }

  /** Makes the calls and records them with what they have changed. */
  async run(operation: OperationRow): Promise<MadeCheckout | null> {
    try {
      const checkout = await this.#make(operation);
      await this.#looking.look(operation.workspaceId, async (tx) => {
        const { workspaceId } = operation;
        if (checkout !== null) await insertCheckout(tx, this.#deps.provider.name, { ...checkout, workspaceId }, this.#deps.clock.nowMs());
        await this.#end(tx, operation, { state: 'done', failure: null });
      });
      return checkout;
    } catch (error) {
      if (error instanceof ProviderAway) {
        await postponeOperation(this.#deps.sql, operation.id, this.#deps.clock.nowMs());
        this.#deps.log.warn(
          { err: error, operation: operation.id, kind: operation.request.kind },
          'the payment provider is away; this is made again',
        );
        throw new Failure('BILLING_UNAVAILABLE', { retryAfterS: 60 });
      }
      if (error instanceof Failure) await this.#settled(operation, { state: 'failed', failure: error.code });
      throw error;
    }
  }

  /**
   * What the provider refused may have left something behind, such as a card that was saved and then declined. It is over also where the provider
   * cannot be looked at, or does not know the customer any more: else nothing could be changed ever after.
   */
  async #settled(operation: OperationRow, outcome: Outcome): Promise<void> {
    const end = (tx: Queries) => this.#end(tx, operation, outcome);
    try {
      await this.#looking.look(operation.workspaceId, end);
    } catch (error) {
      if (!(error instanceof ProviderAway || error instanceof Failure)) throw error;
      await this.#deps.sql.begin(end);
    }
  }

  async #end(tx: Queries, operation: OperationRow, { state, failure }: Outcome): Promise<void> {
    const nowMs = this.#deps.clock.nowMs();
    if (!(await endOperation(tx, operation.id, { state, failure }, nowMs))) return;
    const { createdBy, workspaceId, address, requestId, request, id, provider } = operation;
    if (state === 'unknown') {
      const about = { operation: id, kind: request.kind, workspaceId, provider };
      this.#deps.log.warn(about, 'nobody knows whether the payment provider made this change: look at the customer there');
    }
    // Where the outcome is unknown there may be a subscription.
    if (state === 'failed' && request.kind === 'subscribe') await giveTrialBack(tx, id);
    if (createdBy === null) return;
    const by = { principal: { kind: 'user', userId: createdBy } as const, address, requestId, nowMs };
    const detail = { ...detailOf(request), ...(failure !== null && { failure }), ...(state === 'unknown' && { unknown: true }) };
    await audit(tx, by, {
      workspaceId,
      action: `billing.${request.kind}`,
      target: { type: 'workspace', id: workspaceId, name: null },
      detail,
    });
  }

  /** Whether it is of a provider that is not used any more; then it is over. Throws BILLING_IN_PROGRESS while a node may work on it. */
  async #isFormer(tx: Queries, left: OperationRow, nowMs: number): Promise<boolean> {
    if (left.provider === this.#deps.provider.name) return false;
    if (left.leaseUntilMs > nowMs) throw inProgress(left, nowMs);
    await this.#end(tx, left, { state: 'unknown', failure: 'BILLING_PROVIDER_NOT_FOUND' });
    return true;
  }

  /** Throws BILLING_IN_PROGRESS, where it is another change or somebody works on it. */
  async #takeOver(tx: Queries, left: OperationRow, wish: string, nowMs: number): Promise<OperationRow> {
    // Later the provider may have forgotten the key, and would charge again: the next pass of the loop ends it.
    const isSame = left.request.wish === wish && nowMs - left.createdAtMs < LIMITS.billingOperationMs;
    if (isSame && left.leaseUntilMs <= nowMs && (await takeOperation(tx, left.id, left.leaseUntilMs, nowMs + LEASE_MS))) return left;
    throw inProgress(left, nowMs);
  }

  async #make(operation: OperationRow): Promise<MadeCheckout | null> {
    const { provider } = this.#deps;
    const { request, id: key } = operation;
    const customerRef = await this.#customer(operation);
    switch (request.kind) {
      case 'subscribe': {
        const { ref, subscriptions } = await this.#living(operation, customerRef);
        // An order of before, whose end nobody knows, may have made one that was not seen yet.
        if (subscriptions.some(({ id, status }) => status !== 'canceled' && id !== request.id)) throw new Failure('SUBSCRIPTION_EXISTS');
        await provider.subscribe({ key, customerRef: ref, ...request });
        return null;
      }
      case 'change':
        await this.#change(key, customerRef, request);
        return null;
      case 'cancel':
        await provider.cancel({ key, customerRef, ref: request.ref, at: request.at });
        return null;
      case 'resume':
        await provider.resume({ key, customerRef, ref: request.ref });
        if (request.restored !== null)
          await provider.change({ key: `${key}.plan`, customerRef, ref: request.ref, ...request.restored, isProrated: false, kept: null });
        return null;
      case 'card':
        await provider.attach({ key, customerRef, token: request.token });
        if (request.pays !== null) await provider.pay({ key: `${key}.pay`, customerRef, ref: request.pays });
        return null;
      case 'default':
        await provider.setDefault({ key, customerRef, methodRef: request.methodRef });
        if (request.pays !== null) await provider.pay({ key: `${key}.pay`, customerRef, ref: request.pays });
        return null;
      case 'detach':
        await provider.detach({ key, customerRef, methodRef: request.methodRef });
        return null;
      case 'checkout': {
        const { ref } = await this.#living(operation, customerRef);
        return { ...(await provider.checkout({ key, customerRef: ref, returnUrl: request.returnUrl })), id: request.id };
      }
      default:
        return request satisfies never;
    }
  }

  async #change(key: string, customerRef: string, { ref, steps, paysFirst, back }: Extract<Request, { kind: 'change' }>): Promise<void> {
    const { provider } = this.#deps;
    if (paysFirst && (await provider.pay({ key: `${key}.pay`, customerRef, ref })) === 'waits') {
      throw new Failure('CARD_DECLINED', {
        message: 'The unpaid invoice waits for a confirmation by the person.',
        hint: 'Confirm it on the page of action_url, then send this again.',
      });
    }
    try {
      for (const [at, step] of steps.entries()) await provider.change({ key: `${key}.${at}`, customerRef, ref, ...step });
    } catch (error) {
      if (error instanceof Failure && back !== undefined) {
        await provider.change({ key: `${key}.back`, customerRef, ref, ...back }).catch((again) => {
          // It has ended meanwhile, so there is nothing to put back; an outage leaves the operation open.
          if (!(again instanceof Failure)) throw again;
        });
      }
      throw error;
    }
  }

  #newOperation(id: string, workspaceId: WorkspaceId, request: Request, call: PayingCall | null): OperationRow {
    const nowMs = this.#deps.clock.nowMs();
    const who = { createdBy: call?.user ?? null, address: call?.address ?? '', requestId: call?.requestId ?? id };
    return { id, workspaceId, provider: this.#deps.provider.name, request, ...who, leaseUntilMs: nowMs + LEASE_MS, createdAtMs: nowMs };
  }

  async #customer(operation: OperationRow): Promise<string> {
    const { sql, provider, clock } = this.#deps;
    const { workspaceId } = operation;
    const known = await readCustomer(sql, workspaceId, provider.name);
    if (known !== null) return known.ref;
    const { ref, baseTier } = await this.#newCustomer(operation);
    await insertCustomer(sql, { workspaceId, provider: provider.name, ref, baseTier, nowMs: clock.nowMs() });
    return (await readCustomer(sql, workspaceId, provider.name))?.ref ?? ref;
  }

  /** The customer with what runs of them; a new one in place of one whom somebody has deleted at the provider. */
  async #living(operation: OperationRow, ref: string): Promise<Pick<Seen, 'subscriptions'> & { readonly ref: string }> {
    const { sql, provider } = this.#deps;
    const { subscriptions, isGone } = await provider.look(ref);
    if (!isGone) return { ref, subscriptions };
    const made = await this.#newCustomer(operation);
    await replaceCustomer(sql, operation.workspaceId, provider.name, made.ref);
    return { ref: made.ref, subscriptions: [] };
  }

  /** Throws SUBSCRIPTION_NOT_FOUND for an order that makes nothing new. */
  async #newCustomer({ workspaceId, id, request }: OperationRow): Promise<{ readonly ref: string; readonly baseTier: Tier }> {
    if (request.kind !== 'subscribe' && request.kind !== 'checkout') throw new Failure('SUBSCRIPTION_NOT_FOUND');
    const { baseTier, name } = request;
    return { ref: await this.#deps.provider.createCustomer({ key: `${id}.customer`, workspaceId, name }), baseTier };
  }
}

function inProgress({ leaseUntilMs }: OperationRow, nowMs: number): Failure {
  return new Failure('BILLING_IN_PROGRESS', { retryAfterS: Math.max(1, Math.ceil((leaseUntilMs - nowMs) / 1000)) });
}

/** Never a token. */
function detailOf(request: Request): Readonly<Record<string, unknown>> {
  switch (request.kind) {
    case 'subscribe':
      return { plan: request.planId, seats: request.seats, trial: request.trialEndsAtMs !== null };
    case 'change': {
      const last = request.steps.at(-1);
      return { plan: last?.planId, seats: last?.seats, next_period: last?.kept != null };
    }
    case 'cancel':
      return { at: request.at };
    case 'resume':
    case 'card':
    case 'default':
    case 'detach':
    case 'checkout':
      return {};
    default:
      return request satisfies never;
  }
}
