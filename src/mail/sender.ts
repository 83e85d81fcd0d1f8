/** Sends the mail in the outbox: at once when woken, again after a growing delay when it fails, and mail that other processes left behind. */
import type { Clock, Log } from '../../actors/runtime/ports.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { Passes } from '../platform/passes.ts';
import type { Sql } from '../storage/sql.ts';
import { type DueMail, markFailed, markSent, nextDueMs, takeDue } from './outbox.ts';
import type { PageMailFrame } from './page-mail.ts';
import { recordBounce, suppressDue } from './suppression.ts';
import { MailRefused, type MailTransport, type OutgoingMail } from './transports.ts';

const BATCH_MAX = 10;
/** Longer than sending a whole batch can take, so that a lease only ends early when its process has died. */
const LEASE_MS = 5 * 60_000;
/** A mail begins within this time after it was taken, so that its lease outlasts the attempt. */
const SENDS_MS = LEASE_MS - 60_000;
/** How often the outbox is checked for mail that another process left behind. */
const POLL_MS = 60_000;
const RETRY_FIRST_MS = 30_000;
const RETRY_LAST_MS = 6 * 3_600_000;

export interface MailSenderDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly transport: MailTransport;
  /** What is added to mail that is sent on behalf of a page. */
  readonly pageMail: Pick<PageMailFrame, 'complete'>;
}

export class MailSender {
  readonly #deps: MailSenderDeps;
  readonly #passes: Passes;
  /** Why the last mail did not reach the server. */
  #trouble: string | undefined;

  constructor(deps: MailSenderDeps) {
    this.#deps = deps;
    this.#passes = new Passes(deps.clock, () => this.#pass());
  }

  /** Call once at the start, and after each commit that queued mail. */
  wake(): void {
    this.#passes.wake();
  }

  /** Rejects while the last mail that could be tried did not reach the server. It asks no server: mail itself tells, and waits meanwhile. */
  async probe(): Promise<void> {
    if (this.#trouble !== undefined) throw new Error(this.#trouble);
  }

  /** Settles when no mail is in flight. */
  idle(): Promise<void> {
    return this.#passes.idle();
  }

  /** Finishes the mail in flight. The rest stays in the outbox for the next start. */
  stop(): Promise<void> {
    return this.#passes.stop();
  }

  async #pass(): Promise<number> {
    const { sql, clock, log } = this.#deps;
    try {
      await this.#sendDue();
      const dueMs = this.#passes.isStopped ? null : await nextDueMs(sql);
      if (dueMs !== null) return Math.min(POLL_MS, Math.max(1000, dueMs - clock.nowMs()));
    } catch (err) {
      log.warn({ err }, 'the mail outbox could not be read or written; the sender tries again');
    }
    return POLL_MS;
  }

  async #sendDue(): Promise<void> {
    const { sql, clock } = this.#deps;
    for (;;) {
      const nowMs = clock.nowMs();
      const takenMs = clock.monotonicMs();
      await suppressDue(sql, nowMs);
      const due = await takeDue(sql, { nowMs, untilMs: nowMs + LEASE_MS, limit: BATCH_MAX });
      for (const mail of due) {
        // After a pause of this process another one may send the rest.
        if (this.#passes.isStopped || clock.monotonicMs() - takenMs >= SENDS_MS) return;
        await this.#send(mail);
      }
      if (due.length < BATCH_MAX) return;
    }
  }

  async #send(mail: DueMail): Promise<void> {
    const { sql, clock, log, pageMail } = this.#deps;
    try {
      const outgoing = await pageMail.complete(mail);
      if (outgoing === null) return;
      await this.#hand(outgoing);
    } catch (err) {
      const isLast = err instanceof MailRefused || mail.attempts >= LIMITS.mailAttemptsMax;
      log.warn(
        { err, mail: mail.id, attempts: mail.attempts },
        isLast ? 'mail could not be sent; no further attempt is made' : 'mail could not be sent; the sender tries again',
      );
      if (err instanceof MailRefused && err.isOfAddress) await recordBounce(sql, mail.recipient, textOf(err), clock.nowMs());
      await markFailed(sql, mail, textOf(err), isLast ? null : clock.nowMs() + retryAfterMs(mail.attempts));
      return;
    }
    await markSent(sql, mail.id, clock.nowMs());
  }

  async #hand(mail: OutgoingMail): Promise<void> {
    try {
      await this.#deps.transport.send(mail);
      this.#trouble = undefined;
    } catch (err) {
      // A server that refuses a recipient is there.
      this.#trouble = err instanceof MailRefused ? undefined : textOf(err);
      throw err;
    }
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** 30 s, 2 min, 8 min and so on, at most 6 h. */
function retryAfterMs(attempts: number): number {
  return Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 4 ** (attempts - 1));
}
