/** Proves that a call comes from a mail or chat server that knows the installation's secret. Signed as our own webhooks are. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Failure } from '../../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';

const HEADER_CHARS_MAX = 1000;
/** While a secret is replaced, a sender may sign with both. */
const SIGNATURES_MAX = 5;
/** Hashed in one go; between two of these others run. */
const SLICE_BYTES = 1024 * 1024;

export interface SignedCall {
  /** The header as sent: `t=<Unix seconds>,v1=<hex>`. */
  readonly signature: string;
  readonly body: Uint8Array;
  readonly nowMs: number;
}

/** Throws INBOUND_NOT_CONFIGURED, SIGNATURE_INVALID. */
export async function requireSigned(secret: string | undefined, { signature, body, nowMs }: SignedCall): Promise<void> {
  if (secret === undefined) throw new Failure('INBOUND_NOT_CONFIGURED');
  const parts = signature.length > HEADER_CHARS_MAX ? [] : signature.split(',').map((part) => part.trim());
  const timestampS = /^t=(\d{1,12})$/.exec(parts[0] ?? '')?.[1];
  if (timestampS === undefined || Math.abs(nowMs - Number(timestampS) * 1000) > LIMITS.inboundAgeMsMax) {
    throw new Failure('SIGNATURE_INVALID');
  }
  const right = `v1=${await hmacOf(secret, timestampS, body)}`;
  const given = parts.slice(1, 1 + SIGNATURES_MAX);
  if (!given.some((one) => isSame(one, right))) throw new Failure('SIGNATURE_INVALID');
}

function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** As `signatureOf` of webhooks makes it. */
async function hmacOf(secret: string, timestampS: string, body: Uint8Array): Promise<string> {
  const hmac = createHmac('sha256', secret).update(`${timestampS}.`);
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    if (at > 0) await nextTurn();
    hmac.update(body.subarray(at, at + SLICE_BYTES));
  }
  return hmac.digest('hex');
}
