/** Takes runs that wait, a bounded number at a time, and keeps its claims on them. */
import { randomBytes } from 'node:crypto';
import type { Timer } from '../../../../actors/runtime/ports.ts';
import { type ImportRunId, newId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { systemClock } from '../../../platform/clock.ts';
import { Passes } from '../../../platform/passes.ts';
import { QueueStart } from '../../../storage/queue-start.ts';
import type { InstanceSettings } from '../../business/instance/settings.ts';
import { DAY_MS } from './rules.ts';
import { type EndReason, executeRun, type RunDeps } from './running.ts';
import { type Claim, claimRun, oldestWaiting, queueDaily, renewClaim } from './runs.ts';

/** Longer than a pause of the process that others should wait for. */
const LEASE_MS = 60_000;
const RENEW_MS = 5000;
const POLL_MS = 10_000;
/** Daily runs that one look queues. */
const DAILY_AT_ONCE = 20;

interface RunnerDeps extends RunDeps {
  readonly flags: Pick<InstanceSettings, 'isOn'>;
}

interface Active {
  readonly claim: Claim;
  readonly ending: AbortController;
  readonly done: Promise<void>;
}

export class ImportRunner {
  readonly #deps: RunnerDeps;
  readonly #active = new Map<string, Active>();
  readonly #start: QueueStart;
  readonly #passes: Passes;
  #renewing: Timer | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#start = new QueueStart(deps.clock);
    this.#passes = new Passes(deps.clock, () => this.#pass());
  }

  /** Runs under way. */
  get active(): number {
    return this.#active.size;
  }

  /** Call at the start, and after each commit that has queued a run. */
  wake(): void {
    this.#passes.wake();
  }

  /** Ends a run that a person has canceled, where it is under way here; elsewhere its process learns of it by its lease. */
  cancel(id: ImportRunId): void {
    for (const { claim, ending } of this.#active.values()) if (claim.id === id) ending.abort('canceled' satisfies EndReason);
  }

  /** What is under way is given back: another process begins it again. */
  async stop(): Promise<void> {
    await this.#passes.stop();
    const active = [...this.#active.values()];
    for (const { ending } of active) ending.abort('stopping' satisfies EndReason);
    await Promise.all(active.map(({ done }) => done));
    this.#renewing?.cancel();
  }

  async #pass(): Promise<number> {
    const { sql, clock, log } = this.#deps;
    try {
      const ids = Array.from({ length: DAILY_AT_ONCE }, () => newId('importRun'));
      await queueDaily(sql, ids, clock.nowMs(), DAY_MS);
      const look = this.#start.begin();
      // What waits goes on when imports are switched on again.
      const isOn = await this.#deps.flags.isOn('file_imports');
      while (isOn && this.#active.size < LIMITS.importRunsMax && !this.#passes.isStopped) {
        const bounds = { fromMs: look.fromMs, nowMs: clock.nowMs(), leaseMs: LEASE_MS };
        const claim = await claimRun(sql, randomBytes(16).toString('hex'), bounds);
        if (claim === null) break;
        this.#begin(claim);
      }
      look.ended(await oldestWaiting(sql, look.fromMs));
    } catch (err) {
      log.warn({ err }, 'import runs could not be taken; it is tried again');
    }
    return POLL_MS;
  }

  #begin(claim: Claim): void {
    // A run whose lease has ended can be taken again while it is still under way here.
    for (const former of this.#active.values()) if (former.claim.id === claim.id) former.ending.abort('lost' satisfies EndReason);
    const ending = new AbortController();
    const done = executeRun(this.#deps, claim, ending.signal)
      .catch((err) =>
        this.#deps.log.error({ err, run: claim.id }, 'the end of an import could not be recorded; another process begins it again'),
      )
      .finally(() => {
        this.#active.delete(claim.leaseToken);
        this.wake();
      });
    this.#active.set(claim.leaseToken, { claim, ending, done });
    this.#renewing ??= systemClock.after(RENEW_MS, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    this.#renewing = undefined;
    for (const { claim, ending } of [...this.#active.values()]) {
      try {
        const fate = await renewClaim(this.#deps.sql, claim, LEASE_MS);
        if (fate !== 'held') ending.abort(fate);
      } catch (err) {
        this.#deps.log.warn({ err }, 'the lease of an import could not be renewed; it is tried again');
      }
    }
    if (this.#active.size > 0) this.#renewing ??= systemClock.after(RENEW_MS, () => void this.#renew());
  }
}
