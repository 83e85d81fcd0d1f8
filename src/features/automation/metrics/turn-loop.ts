/** Has turns that are due looked at. */
import type { Clock, Log } from '../../../../actors/runtime/ports.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Sql } from '../../../storage/sql.ts';
import { type Claim, claimTurns, endTurn, type TurnOf } from './turns.ts';
import { WorkLoop } from './work-loop.ts';

/** Schedules are to the minute. */
const LOOK_MS = 2000;
/** Longer than any look takes: reads have deadlines of their own. */
export const LEASE_MS = 60_000;
/** After a look that failed for no fault of its own, such as a database that is away. */
const AGAIN_MS = 30_000;

/** Looks at one and ends the turn. Rejects where it could not be looked at. */
export type Look = (claim: Claim) => Promise<unknown>;

export interface TurnLoopDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
}

export class TurnLoop {
  readonly #deps: TurnLoopDeps;
  readonly #looks = new Map<TurnOf['kind'], Look>();
  readonly #loop: WorkLoop<Claim>;

  constructor(deps: TurnLoopDeps) {
    this.#deps = deps;
    const perArtifactMax = LIMITS.metricLooksPerArtifactMax;
    this.#loop = new WorkLoop({
      ...deps,
      name: 'turns of metrics',
      lookMs: LOOK_MS,
      atOnceMax: LIMITS.metricLooksMax,
      perArtifactMax,
      take: (turnsMax, busy) => claimTurns(deps.sql, deps.clock.nowMs(), { turnsMax, perArtifactMax, leaseMs: LEASE_MS, busy }),
      artifactOf: ({ artifactId }) => artifactId,
      run: (claim, signal) => this.#lookAt(claim, signal),
    });
  }

  /** How each kind is looked at. Called before the start. */
  take(kind: TurnOf['kind'], look: Look): void {
    this.#looks.set(kind, look);
  }

  /** Looks under way. */
  get running(): number {
    return this.#loop.running;
  }

  start(): void {
    this.#loop.start();
  }

  wake(): void {
    this.#loop.wake();
  }

  close(): Promise<void> {
    return this.#loop.close();
  }

  /** Never rejects. */
  async #lookAt(claim: Claim, signal: AbortSignal): Promise<void> {
    const { log, sql, clock } = this.#deps;
    try {
      await this.#looks.get(claim.of.kind)?.(claim);
    } catch (err) {
      if (signal.aborted) return;
      log.warn({ err, turn: claim.turnId }, 'a metric could not be looked at; it is tried again');
      // Where this fails too, the lease ends by itself.
      await endTurn(sql, claim, clock.nowMs() + AGAIN_MS).catch(() => undefined);
    }
  }
}
