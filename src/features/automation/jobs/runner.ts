/** Takes what is to run, a bounded number at a time and each person in turn, and records what came of it. */
import { randomBytes } from 'node:crypto';
import type { Timer } from '../../../../actors/runtime/ports.ts';
import type { RunId, UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { systemClock } from '../../../platform/clock.ts';
import { Passes } from '../../../platform/passes.ts';
import { QueueStart } from '../../../storage/queue-start.ts';
import { credentialName } from '../../people/tokens/kinds.ts';
import { newToken } from '../../people/tokens/secret.ts';
import { type Claim, claimRuns, giveBackRuns, isSuspect, type Offer, readWaiting, renewClaims } from './claims.ts';
import { type ExecuteDeps, type Executed, execute } from './execute.ts';
import { reportOutcome } from './reporting.ts';
import { readJob } from './rows.ts';

/** Longer than the longest action, and than a pause of the process that others should wait for. */
const LEASE_MS = 60_000;
const RENEW_MS = 5000;
const POLL_MS = 10_000;
/** Something is due and may not be taken yet: its artifact or its person has as many as they may. */
const BLOCKED_MS = 1000;
/** After a run has ended, others are taken at once where so many fit, else after so many ms: to take one costs as much as to take several. */
const TAKEN_TOGETHER = 8;
const TAKEN_LATEST_MS = 10;
const REPORT_TRIES = 8;
const REPORT_PAUSE_MS = 500;

interface Active {
  readonly claim: Claim;
  readonly ending: AbortController;
  readonly done: Promise<void>;
}

export class JobRunner {
  readonly #deps: ExecuteDeps;
  /** By the token of the claim: a run whose lease has ended can be taken again while it is still under way here. */
  readonly #active = new Map<string, Active>();
  readonly #start: QueueStart;
  readonly #passes: Passes;
  #renewing: Timer | undefined;
  #ending: Timer | undefined;

  constructor(deps: ExecuteDeps) {
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

  /** Ends a run that a person has canceled, where it is under way here. */
  cancel(id: RunId): void {
    for (const { ending } of this.#activeOf(id)) ending.abort('canceled');
  }

  /** Settles when nothing is under way and nothing is due. */
  async idle(): Promise<void> {
    do {
      await this.#passes.idle();
      await Promise.all([...this.#active.values()].map(({ done }) => done));
      await this.#passes.idle();
    } while (this.#active.size > 0);
  }

  /** What is under way is given back: another process begins it again, with the same id. */
  async stop(): Promise<void> {
    this.#ending?.cancel();
    await this.#passes.stop();
    const active = [...this.#active.values()];
    for (const { ending } of active) ending.abort('stopping');
    await Promise.all(active.map(({ done }) => done));
    this.#renewing?.cancel();
  }

  async #pass(): Promise<number> {
    const { sql, clock, log } = this.#deps;
    this.#ending?.cancel();
    this.#ending = undefined;
    try {
      const look = this.#start.begin();
      for (let wanted = this.#free(); wanted > 0 && !this.#passes.isStopped; wanted = this.#free()) {
        const claims = await this.#claim(wanted, look.fromMs);
        if (claims === 0) break;
      }
      if (this.#passes.isStopped) return POLL_MS;
      const { nextMs, oldestMs } = await readWaiting(sql, look.fromMs);
      look.ended(oldestMs);
      return nextMs === null ? POLL_MS : Math.min(POLL_MS, Math.max(BLOCKED_MS, nextMs - clock.nowMs()));
    } catch (err) {
      log.warn({ err }, 'runs of jobs could not be taken; it is tried again');
      return BLOCKED_MS;
    }
  }

  #free(): number {
    return LIMITS.runsMax - this.#active.size;
  }

  /** Answers how many it has taken. */
  async #claim(wanted: number, fromMs: number): Promise<number> {
    const { sql, clock, bus } = this.#deps;
    const tokens = new Map<string, string>();
    const offers: Offer[] = [];
    for (let i = 0; i < wanted; i += 1) {
      const leaseToken = randomBytes(16).toString('hex');
      const { token, sha256 } = newToken('run');
      tokens.set(leaseToken, token);
      offers.push({ leaseToken, tokenSha256: sha256 });
    }
    const bounds = {
      perArtifact: LIMITS.runsPerArtifactMax,
      perPerson: this.#perPerson(),
      busy: this.#busyPersons(),
      suspects: this.#suspects(),
      fromMs,
    };
    const claims = await claimRuns(sql, offers, bounds, clock.nowMs(), LEASE_MS);
    for (const claim of claims) {
      const { formerTokenSha256, runId } = claim;
      // Who had the run before may be alive, and must not write any more.
      if (formerTokenSha256 !== null)
        bus.tell({ kind: 'token.revoked', tokenId: runId, credential: credentialName('run', formerTokenSha256) });
      this.#begin(claim, tokens.get(claim.leaseToken) as string);
    }
    return claims.length;
  }

  /** One at a time: where it ends the process, the others that end with it are not taken for the culprit again. */
  #suspects(): number {
    return [...this.#active.values()].some(({ claim }) => isSuspect(claim)) ? 0 : 1;
  }

  #activeOf(id: RunId): Active[] {
    return [...this.#active.values()].filter(({ claim }) => claim.runId === id);
  }

  /** So many of each person fit at least, whoever else has some here. */
  #perPerson(): number {
    return Math.max(1, LIMITS.runsPerPersonMax - Math.max(0, ...this.#byPerson().values()));
  }

  #byPerson(): ReadonlyMap<UserId, number> {
    const counts = new Map<UserId, number>();
    for (const { claim } of this.#active.values()) counts.set(claim.creatorId, (counts.get(claim.creatorId) ?? 0) + 1);
    return counts;
  }

  #busyPersons(): UserId[] {
    return [...this.#byPerson()].filter(([, count]) => count >= LIMITS.runsPerPersonMax).map(([id]) => id);
  }

  #begin(claim: Claim, token: string): void {
    for (const former of this.#activeOf(claim.runId)) former.ending.abort('lost');
    const ending = new AbortController();
    const done = this.#work(claim, token, ending.signal)
      .catch((err) =>
        this.#deps.log.error({ err, run: claim.runId }, 'a run of a job could not be recorded; another process begins it again'),
      )
      .finally(() => {
        this.#active.delete(claim.leaseToken);
        if (this.#free() >= TAKEN_TOGETHER) this.wake();
        else this.#ending ??= this.#deps.clock.after(TAKEN_LATEST_MS, () => this.wake());
      });
    this.#active.set(claim.leaseToken, { claim, ending, done });
    this.#renewing ??= systemClock.after(RENEW_MS, () => void this.#renew());
  }

  async #work(claim: Claim, token: string, signal: AbortSignal): Promise<void> {
    const { sql, clock } = this.#deps;
    const job = await readJob(sql, claim.jobId);
    const executed: Executed =
      job === null
        ? { error: null, output: null, changes: [], skipped: 'The artifact is in the trash.' }
        : claim.claims > LIMITS.runClaimsMax
          ? { error: `The processes that ran it ended ${LIMITS.runClaimsMax} times.`, isFinal: true, output: null, changes: [] }
          : await execute(this.#deps, job, claim, token, signal);
    if (signal.reason === 'stopping') return giveBackRuns(sql, [claim], clock.nowMs());
    // Whatever came of it, its record is somebody else's by now.
    if (signal.reason === 'lost') return;
    await this.#report(claim, signal.reason === 'canceled' ? { ...executed, skipped: undefined, error: null } : executed, signal);
  }

  /** The database may be away for a while: the outcome is kept until it is back, or the process ends. */
  async #report(claim: Claim, executed: Executed, signal: AbortSignal): Promise<void> {
    const isCanceled = signal.reason === 'canceled';
    for (let tries = 1; ; tries += 1) {
      try {
        await reportOutcome(this.#deps, claim, executed, isCanceled);
        return;
      } catch (error) {
        if (tries >= REPORT_TRIES || this.#passes.isStopped) throw error;
        await new Promise<void>((resolve) => systemClock.after(REPORT_PAUSE_MS * 2 ** tries, resolve));
      }
    }
  }

  async #renew(): Promise<void> {
    const active = [...this.#active.values()];
    this.#renewing = undefined;
    if (active.length === 0) return;
    try {
      const held = await renewClaims(
        this.#deps.sql,
        active.map(({ claim }) => claim),
        LEASE_MS,
      );
      for (const { claim, ending } of active) {
        const fate = held.get(claim.runId);
        if (fate !== 'held') ending.abort(fate ?? 'lost');
      }
    } catch (err) {
      this.#deps.log.warn({ err }, 'leases of runs could not be renewed; it is tried again');
    }
    this.#renewing ??= systemClock.after(RENEW_MS, () => void this.#renew());
  }
}
