/** Sends what the outbox has: at once when it is woken, again after a while where that failed, and what other processes left behind. */
import type { Clock, Log, Timer } from '../../../actors/ports.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Sql } from '../../storage/sql.ts';
import { type DueMail, markFailed, markSent, nextDueMs, takeDue } from './outbox.ts';
import { MailRefused, type MailTransport } from './transports.ts';

const TAKEN_AT_ONCE = 10;
/** Longer than sending what is taken at once may take: then somebody else tries. */
const LEASE_MS = 5 * 60_000;
/** How often it is looked for what another process has left behind. */
const POLL_MS = 60_000;
const RETRY_FIRST_MS = 30_000;
const RETRY_LAST_MS = 6 * 3_600_000;

export interface MailSenderDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly transport: MailTransport;
}

export class MailSender {
  readonly #deps: MailSenderDeps;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #wokenAgain = false;
  #stopped = false;

  constructor(deps: MailSenderDeps) {
    this.#deps = deps;
  }

  /** Something may be due. Call once at the start, and after each commit that queued mail. */
  wake(): void {
    if (this.#stopped) return;
    if (this.#running !== undefined) {
      this.#wokenAgain = true;
      return;
    }
    this.#timer?.cancel();
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#wokenAgain) this.wake();
    });
  }

  /** Settles when nothing is being sent. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Finishes the mail that is being sent; the rest is sent after the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { sql, clock, log } = this.#deps;
    let waitMs = POLL_MS;
    try {
      do {
        this.#wokenAgain = false;
        await this.#sendDue();
      } while (this.#wokenAgain && !this.#stopped);
      if (this.#stopped) return;
      const dueMs = await nextDueMs(sql);
      if (dueMs !== null) waitMs = Math.min(POLL_MS, Math.max(1000, dueMs - clock.nowMs()));
    } catch (err) {
      log.warn({ err }, 'the outbox could not be read or written; it is tried again');
    }
    if (!this.#stopped) this.#timer = clock.after(waitMs, () => this.wake());
  }

  async #sendDue(): Promise<void> {
    const { sql, clock } = this.#deps;
    for (;;) {
      const nowMs = clock.nowMs();
      const due = await takeDue(sql, { nowMs, untilMs: nowMs + LEASE_MS, limit: TAKEN_AT_ONCE });
      for (const mail of due) {
        if (this.#stopped) return;
        await this.#send(mail);
      }
      if (due.length < TAKEN_AT_ONCE) return;
    }
  }

  async #send(mail: DueMail): Promise<void> {
    const { sql, clock, log, transport } = this.#deps;
    try {
      await transport.send(mail);
    } catch (err) {
      const isLast = err instanceof MailRefused || mail.attempts >= LIMITS.mailAttemptsMax;
      log.warn({ err, mail: mail.id, attempts: mail.attempts }, isLast ? 'mail was given up' : 'mail could not be sent; it is tried again');
      const text = err instanceof Error ? err.message : String(err);
      await markFailed(sql, mail.id, text, isLast ? null : clock.nowMs() + retryAfterMs(mail.attempts));
      return;
    }
    await markSent(sql, mail.id, clock.nowMs());
  }
}

/** 30 s, 2 min, 8 min and so on, at most 6 h. */
function retryAfterMs(attempts: number): number {
  return Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 4 ** (attempts - 1));
}
