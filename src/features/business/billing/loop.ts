/**
 * Work of every minute: goes on with operations that were left open, looks at what was not seen for long, sends reminders, and ends what is
 * unpaid. Each node does it; rows are claimed or changed conditionally, so that nothing happens twice.
 */
import type { Timer } from '../../../../actors/runtime/ports.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { type FormerRow, forgetFormer, listEndedFormer } from './former-rows.ts';
import type { EventIntake } from './intake.ts';
import type { Looking, LookingDeps } from './looking.ts';
import { listFormerOperations, listLeftOperations } from './operation-rows.ts';
import type { Operations } from './operations.ts';
import { followPlan } from './plan.ts';
import { ProviderAway } from './provider.ts';
import {
  claimLooks,
  listOrphaned,
  listUnpaid,
  lockPaidWorkspace,
  noteDunning,
  readBaseTier,
  readSubscription,
  readSubscriptionById,
  type SubscriptionRow,
} from './rows.ts';
import { dunningDue, isRunning } from './rules.ts';
import { remind, tellPeople } from './telling.ts';

const POLL_MS = 60_000;
/** What a node that was killed has left open is not kept waiting for a minute more. */
const FIRST_MS = 5_000;
/** A look that fails is made again after this time. */
const LOOK_AGAIN_MS = 2 * POLL_MS;
const REMINDER_MS = LIMITS.dunningDays.map((day) => day * 24 * 3_600_000);

export interface Parts {
  readonly looking: Looking;
  readonly operations: Operations;
  readonly intake: EventIntake;
}

export class BillingLoop {
  readonly #deps: LookingDeps;
  readonly #parts: Parts;
  readonly #ending = new AbortController();
  #timer: Timer | undefined;
  #pass: Promise<void> | undefined;

  constructor(deps: LookingDeps, parts: Parts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  start(afterMs = FIRST_MS): void {
    this.#timer = this.#deps.clock.after(afterMs, () => void this.now());
  }

  /** One pass, or the one that is under way. Never rejects. */
  now(): Promise<void> {
    this.#pass ??= this.#run().finally(() => {
      this.#pass = undefined;
      this.#timer?.cancel();
      if (!this.#ending.signal.aborted) this.start(POLL_MS);
    });
    return this.#pass;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#timer?.cancel();
    await this.#pass;
  }

  async #run(): Promise<void> {
    const { provider, log } = this.#deps;
    const { signal } = this.#ending;
    const steps = [
      () => provider.work?.((event) => this.#parts.intake.take(event), signal) ?? Promise.resolve(),
      () => this.#goOn(),
      () => this.#look(),
      () => this.#endOrphaned(),
      () => this.#dun(),
      () => this.#endFormer(),
    ];
    for (const step of steps) {
      if (signal.aborted) return;
      await step().catch((err) => log.warn({ err }, 'a part of billing was interrupted; it is done again in a minute'));
    }
  }

  async #goOn(): Promise<void> {
    const { sql, clock, provider } = this.#deps;
    for (const left of await listLeftOperations(sql, provider.name, clock.nowMs(), LIMITS.billingSweepBatch)) {
      if (this.#ending.signal.aborted || !(await this.#reaches(() => this.#parts.operations.recover(left)))) return;
    }
  }

  /** What was left open with a provider that is not used any more, and what was paid there and has been used. */
  async #endFormer(): Promise<void> {
    const { sql, clock, provider } = this.#deps;
    const nowMs = clock.nowMs();
    for (const left of await listFormerOperations(sql, provider.name, nowMs, LIMITS.billingSweepBatch)) {
      if (this.#ending.signal.aborted) return;
      await this.#parts.operations.giveUp(left);
    }
    const ended = { provider: provider.name, nowMs, endSinceMs: nowMs - LIMITS.pastDueMs, rowsMax: LIMITS.billingSweepBatch };
    for (const former of await listEndedFormer(sql, ended)) {
      if (this.#ending.signal.aborted) return;
      await this.#forget(former, nowMs);
    }
  }

  async #forget(former: FormerRow, nowMs: number): Promise<void> {
    const { sql, bus, mail, provider } = this.#deps;
    const facts = await sql.begin(async (tx) => {
      const workspace = await lockPaidWorkspace(tx, former.workspaceId);
      if (workspace === null || !(await forgetFormer(tx, former))) return [];
      const own = await readSubscription(tx, workspace.id, provider.name);
      const isMissed = isRunning(former.status) && (own === null || !isRunning(own.status)) && !workspace.is_deleted;
      const told = isMissed ? await tellPeople(tx, this.#deps, workspace, 'ended', former, nowMs) : [];
      const baseTier = (await readBaseTier(tx, workspace.id)) ?? workspace.plan_tier;
      return [...told, ...(await followPlan(tx, { provider: provider.name, workspace, baseTier, nowMs }))];
    });
    for (const fact of facts) bus.tell(fact);
    if (facts.length > 0) mail.wake();
  }

  async #look(): Promise<void> {
    const { sql, clock, provider } = this.#deps;
    const nowMs = clock.nowMs();
    const claim = { provider: provider.name, nowMs, unseenSinceMs: nowMs - LIMITS.billingUnseenMs, untilMs: nowMs + LOOK_AGAIN_MS };
    for (const workspaceId of await claimLooks(sql, { ...claim, rowsMax: LIMITS.billingSweepBatch })) {
      if (this.#ending.signal.aborted || !(await this.#reaches(() => this.#parts.looking.refresh(workspaceId)))) return;
    }
  }

  /** Nobody can cancel what a deleted workspace pays. */
  async #endOrphaned(): Promise<void> {
    const { sql, provider } = this.#deps;
    for (const { workspaceId, ref } of await listOrphaned(sql, provider.name, LIMITS.billingSweepBatch)) {
      const cancel = { kind: 'cancel', ref, at: 'now' } as const;
      const end = () => this.#parts.operations.performAlone(workspaceId, () => Promise.resolve(cancel));
      if (this.#ending.signal.aborted || !(await this.#reaches(end))) return;
    }
  }

  async #dun(): Promise<void> {
    const { sql, clock, provider } = this.#deps;
    const nowMs = clock.nowMs();
    const endSinceMs = nowMs - LIMITS.pastDueMs;
    const unpaid = { provider: provider.name, nowMs, endSinceMs, reminderMs: REMINDER_MS, rowsMax: LIMITS.billingSweepBatch };
    for (const subscription of await listUnpaid(sql, unpaid)) {
      if (this.#ending.signal.aborted || !(await this.#reaches(() => this.#dunOne(subscription, endSinceMs)))) return;
    }
  }

  /** What is stored may be an hour old, and the person may have paid meanwhile: it is read again first. */
  async #dunOne({ id, workspaceId }: SubscriptionRow, endSinceMs: number): Promise<void> {
    const { sql, clock, provider } = this.#deps;
    await this.#parts.looking.look(workspaceId);
    const now = await readSubscriptionById(sql, id, provider.name);
    if (now === null || now.status !== 'past_due' || now.pastDueSinceMs === null) return;
    if (now.pastDueSinceMs > endSinceMs) return this.#remind(now, dunningDue(now.pastDueSinceMs, clock.nowMs()), clock.nowMs());
    await this.#parts.operations.performAlone(workspaceId, async (tx) => {
      const last = await readSubscriptionById(tx, id, provider.name);
      return last?.status === 'past_due' ? { kind: 'cancel', ref: last.ref, at: 'now' } : null;
    });
  }

  /** One mail, however many are due: the service may have been off. */
  async #remind(subscription: SubscriptionRow, due: number, nowMs: number): Promise<void> {
    const { sql, mail } = this.#deps;
    await sql.begin(async (tx) => {
      const workspace = await lockPaidWorkspace(tx, subscription.workspaceId);
      if (workspace === null || !(await noteDunning(tx, subscription.id, subscription.dunningSent, due))) return;
      await remind(tx, this.#deps, workspace, subscription, nowMs);
    });
    mail.wake();
  }

  /** False where the provider is away: the rest waits for the next pass. What it refuses concerns one workspace. */
  async #reaches(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (err) {
      const isAway = err instanceof ProviderAway || (err instanceof Failure && err.code === 'BILLING_UNAVAILABLE');
      if (!isAway && !(err instanceof Failure)) throw err;
      this.#deps.log.info({ err }, isAway ? 'the payment provider is away' : 'the payment provider has refused a change');
      return !isAway;
    }
  }
}
