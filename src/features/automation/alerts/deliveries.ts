/** Delivers what rules tell to the outside: claimed by one node, tried again with growing pauses, never inside a transaction of the database. */

import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { EgressFailure } from '../../../egress/failure.ts';
import type { Locale } from '../../../mail/templates/message.ts';
import { Unopenable } from '../../../storage/sealing/sealer.ts';
import type { ModuleDeps } from '../../module.ts';
import { WorkLoop } from '../metrics/work-loop.ts';
import { localeOfRule, readSubject, type Subject } from './evaluation.ts';
import { claimDeliveries, type DeliveryClaim, endWaiting, markDelivered, markFailed } from './event-rows.ts';
import { type AlertMail, sendAlertMail } from './mail.ts';
import { type Outgoing, openSecret, outgoingOf } from './outgoing.ts';
import { callHeaders } from './signing.ts';

const LOOK_MS = 5000;
/** Longer than an attempt takes, with its wait for a free connection. */
const LEASE_MS = 60_000;
/** Before each further attempt; the last answer counts. */
const PAUSES_MS = [10_000, 60_000, 5 * 60_000, 30 * 60_000, 2 * 3_600_000] as const;
const ANSWER_BYTES_MAX = 64 * 1024;
const ERROR_CHARS_MAX = 500;

export interface DeliveryDeps extends Pick<ModuleDeps, 'sql' | 'clock' | 'log' | 'egress' | 'sealer' | 'limiters' | 'config'> {
  /** Woken after mail is queued. */
  readonly mail: { wake(): void };
}

/** `final`: another attempt would end in the same way. */
class NotDelivered extends Error {
  override readonly name = 'NotDelivered';
  readonly final: boolean;

  constructor(message: string, final: boolean) {
    super(message);
    this.final = final;
  }
}

export class AlertDeliveries {
  readonly #deps: DeliveryDeps;
  readonly #loop: WorkLoop<DeliveryClaim>;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    const perArtifactMax = LIMITS.alertDeliveriesPerArtifactMax;
    this.#loop = new WorkLoop({
      ...deps,
      name: 'deliveries of alerts',
      lookMs: LOOK_MS,
      atOnceMax: LIMITS.alertDeliveriesMax,
      perArtifactMax,
      take: (eventsMax, busy) => claimDeliveries(deps.sql, deps.clock.nowMs(), { eventsMax, perArtifactMax, leaseMs: LEASE_MS, busy }),
      artifactOf: ({ artifact_id }) => artifact_id,
      run: (claim, signal) => this.#deliver(claim, signal),
    });
  }

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
  async #deliver(claim: DeliveryClaim, signal: AbortSignal): Promise<void> {
    const { sql, clock, log } = this.#deps;
    try {
      const subject = await readSubject(sql, claim.rule_id);
      if (subject === null) return;
      await this.#attempt(subject, claim);
    } catch (error) {
      const { message, final } = problemOf(error);
      if (!(error instanceof NotDelivered)) log.warn({ err: error, event: claim.id }, 'an alert could not be delivered');
      const pauseMs = claim.attempts >= LIMITS.alertDeliveryAttemptsMax || final ? undefined : PAUSES_MS[claim.attempts - 1];
      const againAtMs = pauseMs === undefined ? null : clock.nowMs() + Math.round(pauseMs * (1 + Math.random() / 5));
      // Where this fails too, the lease ends and another attempt follows.
      await markFailed(sql, claim, message.slice(0, ERROR_CHARS_MAX), againAtMs).catch((err: unknown) => {
        if (!signal.aborted) log.warn({ err, event: claim.id }, 'the outcome of a delivery was not stored');
      });
    }
  }

  async #attempt(subject: Subject, claim: DeliveryClaim): Promise<void> {
    const { sql } = this.#deps;
    const locale = await localeOfRule(sql, subject.rule);
    const outgoing = outgoingOf(subject, claim, locale);
    switch (outgoing.kind) {
      case 'email':
        return this.#mail(subject, claim, outgoing, locale);
      case 'call':
        await this.#call(subject, claim, outgoing);
        await markDelivered(sql, claim);
        return;
      case 'bell':
        // The destination was changed meanwhile; what the bell gets is put there by the evaluation.
        await sql.begin((tx) => endWaiting(tx, claim.rule_id, 'The destination was changed.'));
        throw new NotDelivered('The destination was changed.', true);
      default:
        return outgoing satisfies never;
    }
  }

  /** The mail is queued and the event marked in one transaction, so that it is queued once. */
  async #mail(subject: Subject, claim: DeliveryClaim, mail: AlertMail, locale: Locale): Promise<void> {
    const { sql, clock, limiters, config } = this.#deps;
    const isQueued = await sql.begin(async (tx) => {
      if (!(await markDelivered(tx, claim))) return false;
      await sendAlertMail(tx, subject, mail, { locale, baseUrl: config.baseUrl, nowMs: clock.nowMs(), limiters });
      return true;
    });
    if (isQueued) this.#deps.mail.wake();
  }

  async #call({ rule }: Subject, claim: DeliveryClaim, { method, url, body }: Extract<Outgoing, { kind: 'call' }>): Promise<void> {
    const { egress, sealer, clock } = this.#deps;
    const secret = method === 'POST' ? openSecret(sealer, rule) : null;
    const reply = await egress.fetch({
      method,
      url,
      headers: callHeaders({ id: claim.id, secret, timestampS: Math.floor(clock.nowMs() / 1000), body }),
      ...(body !== null && { body: Buffer.from(body) }),
      bytesMax: ANSWER_BYTES_MAX,
      timeoutMs: LIMITS.alertDeliveryMs,
      share: rule.artifact_id,
    });
    if (reply.status >= 200 && reply.status < 300) return;
    throw new NotDelivered(`The host answered with the status ${reply.status}.`, false);
  }
}

/** In words that the owner of the rule may read. */
function problemOf(error: unknown): { readonly message: string; readonly final: boolean } {
  if (error instanceof NotDelivered) return error;
  // A name may lead elsewhere by the next attempt; an address that is none does not.
  if (error instanceof EgressFailure) return { message: error.message, final: error.reason === 'invalid' };
  if (error instanceof Unopenable) return { message: 'The secret of the rule cannot be read; set it again.', final: true };
  if (error instanceof Failure) return { message: error.message, final: error.code !== 'RATE_LIMITED' && error.code !== 'UNAVAILABLE' };
  return { message: 'The delivery failed within the service.', final: false };
}
