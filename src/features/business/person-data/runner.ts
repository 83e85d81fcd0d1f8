/** Takes exports and deletions that are due, one at a time a process, and tries again what has failed. */
import type { Clock, Log } from '../../../../actors/runtime/ports.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { Passes } from '../../../platform/passes.ts';
import type { Sql } from '../../../storage/sql.ts';
import { DELETION_LEASE_MS, type DeletingDeps, NotBegun, removePerson } from './deleting.ts';
import { EXPORT_LEASE_MS, type ExportingDeps, writeExport } from './exporting.ts';
import { claimDeletion, claimExport, failDeletion, failExport, LostClaim } from './rows.ts';

const POLL_MS = 30_000;
const RETRY_FIRST_MS = 30_000;
const RETRY_LAST_MS = 3_600_000;

export interface RunnerDeps extends DeletingDeps, ExportingDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
}

export class PersonWork {
  readonly #deps: RunnerDeps;
  readonly #passes: Passes;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#passes = new Passes(deps.clock, () => this.#pass());
  }

  /** Call at the start, and after each commit that has made work. */
  wake(): void {
    this.#passes.wake();
  }

  /** What is under way stops between two parts; another process goes on when its lease has ended. */
  stop(): Promise<void> {
    return this.#passes.stop();
  }

  async #pass(): Promise<number> {
    try {
      while (!this.#passes.isStopped && ((await this.#deleteOne()) || (await this.#exportOne())));
    } catch (err) {
      this.#deps.log.warn({ err }, 'exports and deletions of people could not be taken; it is tried again');
    }
    return POLL_MS;
  }

  async #exportOne(): Promise<boolean> {
    const { sql, clock, log } = this.#deps;
    const claim = await claimExport(sql, clock.nowMs(), EXPORT_LEASE_MS);
    if (claim === null) return false;
    try {
      await writeExport(this.#deps, claim, this.#passes.signal);
    } catch (err) {
      if (err instanceof LostClaim) return true;
      const isLast = claim.tries >= LIMITS.personWorkTriesMax || claim.userId === null;
      const nextAtMs = isLast ? null : clock.nowMs() + retryAfterMs(this.#passes.isStopped ? 0 : claim.tries);
      log.error({ err, export: claim.id, tries: claim.tries }, 'an export of a person failed');
      await failExport(sql, claim, textOf(err), nextAtMs, clock.nowMs());
    }
    return true;
  }

  /** Once it has begun it is never given up: a person who is half removed must not stay so. */
  async #deleteOne(): Promise<boolean> {
    const { sql, clock, log } = this.#deps;
    const claim = await claimDeletion(sql, clock.nowMs(), DELETION_LEASE_MS);
    if (claim === null) return false;
    try {
      await removePerson(this.#deps, claim, this.#passes.signal);
      log.info({ deletion: claim.id }, 'a person was removed');
    } catch (err) {
      if (err instanceof LostClaim) return true;
      log.error({ err, deletion: claim.id, tries: claim.tries }, 'a deletion of a person failed');
      const retryAtMs = clock.nowMs() + retryAfterMs(this.#passes.isStopped ? 0 : claim.tries);
      // What cannot begin must not begin months later, when nobody thinks of it any more.
      await failDeletion(sql, claim, textOf(err), err instanceof NotBegun ? null : retryAtMs);
    }
    return true;
  }
}

/** At once after a stop; else 30 s, 1 min, 2 min and so on, at most an hour. */
function retryAfterMs(tries: number): number {
  return tries === 0 ? 0 : Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 2 ** (tries - 1));
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
