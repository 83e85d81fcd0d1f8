/**
 * The salt of a day, without which nobody can tell whose a digest is. It is random and stored for its day only, where all processes share it: a
 * restart counts nobody twice, several processes count together, and once it is deleted nothing can make the digests again. A salt derived from
 * SECRET_KEY could always be made again, and one in memory would count everybody anew after each restart.
 */
import { randomBytes } from 'node:crypto';
import type { Clock, Log, Timer } from '../../../../actors/runtime/ports.ts';
import type { Sql } from '../../../storage/sql.ts';
import { deleteSalts, saltOf } from './rows.ts';
import { DAY_MS, dayOf } from './rules.ts';

const SALT_BYTES = 32;
/** How long a salt outlives its day: for views that wait to be written, and for processes whose clocks differ. */
const GRACE_MS = 5 * 60_000;

export interface SaltDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
}

export class DailySalts {
  readonly #deps: SaltDeps;
  #known: { readonly day: number; readonly salt: Buffer } | undefined;
  #timer: Timer | undefined;
  #deleting: Promise<void> = Promise.resolve();

  constructor(deps: SaltDeps) {
    this.#deps = deps;
  }

  async of(day: number): Promise<Buffer> {
    if (this.#known?.day === day) return this.#known.salt;
    const { sql, clock } = this.#deps;
    const fresh = randomBytes(SALT_BYTES);
    // The salt of a day that is over is not stored again. Its last visitors may count twice then.
    const salt = dayOf(clock.nowMs() - GRACE_MS) > day ? fresh : await saltOf(sql, day, fresh);
    this.#known = { day, salt };
    return salt;
  }

  /** Deletes each salt when its day is over. */
  start(): void {
    const { clock } = this.#deps;
    const nowMs = clock.nowMs();
    const endsAtMs = (dayOf(nowMs - GRACE_MS) + 1) * DAY_MS + GRACE_MS;
    this.#timer = clock.after(endsAtMs - nowMs, () => {
      this.#deleting = this.deleteOld().catch((err) => {
        // The next day and the daily sweep try it again.
        this.#deps.log.error({ err }, 'the salt of page views was not deleted');
      });
      this.start();
    });
  }

  async deleteOld(): Promise<void> {
    const { sql, clock } = this.#deps;
    const day = dayOf(clock.nowMs() - GRACE_MS);
    if (this.#known !== undefined && this.#known.day < day) this.#known = undefined;
    await deleteSalts(sql, day);
  }

  close(): Promise<void> {
    this.#timer?.cancel();
    return this.#deleting;
  }
}
