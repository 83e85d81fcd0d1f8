/** The signature of events, as Stripe makes it: `t=<seconds>,v1=<hex HMAC-SHA256 of "<seconds>.<body>">`. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';

/** Throws WEBHOOK_SIGNATURE_INVALID. */
export function requireSignature(key: Uint8Array, body: Uint8Array, signature: string, nowMs: number): void {
  const [, seconds, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (seconds === undefined || given === undefined) throw new Failure('WEBHOOK_SIGNATURE_INVALID');
  const isOld = Math.abs(nowMs - Number(seconds) * 1000) > LIMITS.billingSignatureToleranceMs;
  const right = createHmac('sha256', key).update(`${seconds}.`).update(body).digest();
  if (isOld || !timingSafeEqual(right, Buffer.from(given, 'hex'))) throw new Failure('WEBHOOK_SIGNATURE_INVALID');
}
