/**
 * Sends what is due. Each node claims webhooks in Postgres, a few of each account, and sends one delivery of a webhook at a time. A host that
 * hangs or fails is tried more and more rarely, so that it holds no slot that another one needs.
 */
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import type { UserId, WebhookId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Config } from '../../../platform/config.ts';
import type { Sql } from '../../../storage/sql.ts';
import { mayAccountManage } from './access.ts';
import { turnOff } from './disabling.ts';
import {
  beginTry,
  claimDue,
  type DueDelivery,
  giveBack,
  holdClaim,
  insertTry,
  mustWait,
  nextDueMs,
  rest,
  takeTryBack,
  type WebhookClaim,
  writeAfterTry,
} from './queue-rows.ts';
import { afterTry } from './rules.ts';
import { type SendDeps, type Sent, send } from './sending.ts';

export interface SenderDeps extends SendDeps {
  readonly sql: Sql;
  /** Of links in mails. */
  readonly config: Pick<Config, 'baseUrl'>;
  readonly bus: Pick<Bus, 'tell'>;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1, for the jitter of pauses. */
  readonly chance?: () => number;
  /** Told after a delivery has ended: there may be room for what waits elsewhere. */
  readonly onEnded: (id: WebhookId) => void;
}

/** Longer than a try and its transactions take. */
const LEASE_MS = 30_000;
/** Tries that another node leaves are found after this time at the latest. */
const POLL_MS = 15_000;
const SOONEST_MS = 20;
/** Deliveries in a row; then others who are due have their turn. */
const IN_A_ROW_MAX = 20;
/** When a node had no room for a call. */
const POSTPONED_MS = 2000;

export class WebhookSender {
  readonly #deps: SenderDeps;
  readonly #ending = new AbortController();
  readonly #working = new Set<Promise<void>>();
  readonly #busy = new Map<UserId, number>();
  #timer: Timer | undefined;
  #pass: Promise<void> | undefined;
  #isWanted = false;

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  /** Tries under way. */
  get underWay(): number {
    return this.#working.size;
  }

  /** Call it whenever something may be due. */
  wake(): void {
    this.#isWanted = true;
    this.#pass ??= this.#run().finally(() => {
      this.#pass = undefined;
      if (this.#isWanted && !this.#ending.signal.aborted) this.wake();
    });
  }

  /** Ends the tries under way; another node, or the next start, makes them anew with the same ids. */
  async close(): Promise<void> {
    this.#ending.abort(new Error('the service stops'));
    this.#timer?.cancel();
    await this.#pass;
    await Promise.all(this.#working);
  }

  async #run(): Promise<void> {
    this.#timer?.cancel();
    let pauseMs = POLL_MS;
    try {
      while (this.#isWanted && !this.#ending.signal.aborted) {
        this.#isWanted = false;
        await this.#claim();
      }
      const dueMs = this.#working.size < LIMITS.webhookSlotsMax ? await nextDueMs(this.#deps.sql) : null;
      const leftMs = dueMs === null ? POLL_MS : dueMs - this.#deps.clock.nowMs();
      // What is due already is of an account that has all its slots: the end of a try looks again.
      pauseMs = leftMs <= 0 && this.#working.size > 0 ? POLL_MS : Math.min(POLL_MS, Math.max(SOONEST_MS, leftMs));
    } catch (err) {
      this.#deps.log.warn({ err }, 'webhooks that are due could not be read; they are looked for again');
    }
    if (!this.#ending.signal.aborted) this.#timer = this.#deps.clock.after(pauseMs, () => this.wake());
  }

  async #claim(): Promise<void> {
    const max = LIMITS.webhookSlotsMax - this.#working.size;
    if (max <= 0) return;
    const busyUsers = [...this.#busy].flatMap(([id, count]) => (count >= LIMITS.webhookSlotsPerUserMax ? [id] : []));
    const perUserMax = LIMITS.webhookSlotsPerUserMax;
    const claims = await claimDue(this.#deps.sql, { nowMs: this.#deps.clock.nowMs(), leaseMs: LEASE_MS, max, busyUsers, perUserMax });
    for (const claim of claims) {
      this.#busy.set(claim.userId, (this.#busy.get(claim.userId) ?? 0) + 1);
      const work = this.#work(claim).finally(() => {
        this.#working.delete(work);
        const left = (this.#busy.get(claim.userId) ?? 1) - 1;
        if (left > 0) this.#busy.set(claim.userId, left);
        else this.#busy.delete(claim.userId);
        if (!this.#ending.signal.aborted) this.wake();
      });
      this.#working.add(work);
    }
  }

  /** Never rejects. */
  async #work(claim: WebhookClaim): Promise<void> {
    try {
      for (let sent = 0; sent < IN_A_ROW_MAX && !this.#ending.signal.aborted; sent += 1) {
        if (!(await this.#sendNext(claim))) return;
      }
      await giveBack(this.#deps.sql, claim);
    } catch (err) {
      if (this.#ending.signal.aborted)
        await giveBack(this.#deps.sql, claim).catch(() => this.#deps.log.info({}, 'a claim ends by its lease'));
      else this.#deps.log.warn({ err, webhookId: claim.id }, 'a delivery was interrupted; it is made again after its lease');
    }
  }

  /** False where the claim is given back or lost. */
  async #sendNext(claim: WebhookClaim): Promise<boolean> {
    const { sql, clock } = this.#deps;
    const due = await sql.begin(async (tx) => {
      if (!(await holdClaim(tx, claim, LEASE_MS))) return null;
      if (await mustWait(tx, claim.id)) {
        await giveBack(tx, claim);
        return null;
      }
      const found = await beginTry(tx, claim.id, clock.nowMs());
      if (found === null) await rest(tx, claim.id);
      return found;
    });
    if (due === null) return false;
    if (!(await mayAccountManage(sql, claim.userId, claim, clock.nowMs()))) {
      await this.#loseAccess(claim, due);
      return false;
    }
    const sent = await send(this.#deps, { ...due, webhookId: claim.id, deliveryId: due.id }, this.#ending.signal);
    const goesOn = await this.#settle(claim, due, sent);
    this.#deps.onEnded(claim.id);
    return goesOn;
  }

  async #settle(claim: WebhookClaim, due: DueDelivery, sent: Sent | null): Promise<boolean> {
    const { sql, clock, bus, config, chance = Math.random } = this.#deps;
    const nowMs = clock.nowMs();
    const { goesOn, facts } = await sql.begin(async (tx) => {
      if (!(await holdClaim(tx, claim, LEASE_MS))) return { goesOn: false, facts: [] };
      if (sent === null) {
        await takeTryBack(tx, claim.id, due.id, nowMs + POSTPONED_MS);
        return { goesOn: false, facts: [] };
      }
      const after = afterTry(due, sent.outcome, nowMs, chance());
      await insertTry(tx, due.id, due.tries, sent.record);
      await writeAfterTry(tx, claim, due.id, sent.record, after, nowMs);
      if (after.disabled !== null) return { goesOn: false, facts: await turnOff(tx, claim, after.disabled, { config, nowMs }) };
      if (!sent.outcome.taken) await giveBack(tx, claim);
      return { goesOn: sent.outcome.taken, facts: [] };
    });
    for (const fact of facts) bus.tell(fact);
    return goesOn;
  }

  /** What was suspended in between is not turned off: that would outlast the suspension. */
  async #loseAccess(claim: WebhookClaim, due: DueDelivery): Promise<void> {
    const { sql, clock, bus, config } = this.#deps;
    const nowMs = clock.nowMs();
    const facts = await sql.begin(async (tx) => {
      if (!(await holdClaim(tx, claim, LEASE_MS))) return [];
      await takeTryBack(tx, claim.id, due.id, nowMs);
      if (await mustWait(tx, claim.id)) return [];
      return turnOff(tx, claim, 'access_lost', { config, nowMs });
    });
    for (const fact of facts) bus.tell(fact);
  }
}
