/**
 * How what is sent to other hosts is signed: by our own header (contract.md §8) and, beside it, by those of Standard Webhooks
 * (https://www.standardwebhooks.com), which libraries of many languages verify.
 */
import { createHmac, randomBytes } from 'node:crypto';

const SIGNATURE_HEADER = 'easel-signature';

const SECRET_BYTES = 32;
const STANDARD_PREFIX = 'whsec_';
/** What Standard Webhooks allows as the length of a key. */
const STANDARD_KEY_BYTES = { min: 24, max: 64 };

/** In the form of Standard Webhooks. */
export function newSecret(): string {
  return `${STANDARD_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** `t=<seconds>,v1=<hex>`: HMAC-SHA256 of `<seconds>.<body>`, its key is the secret as it is written. */
export function signatureOf(secret: string, timestampS: number, body: Uint8Array | string): string {
  return `t=${timestampS},${hexSignature(secret, timestampS, body)}`;
}

export interface Signed {
  /** The same on every try of one delivery. */
  readonly id: string;
  /** All that are valid: two while one replaces the other. */
  readonly secrets: readonly string[];
  /** Of this try. */
  readonly timestampS: number;
  readonly body: Uint8Array | string;
}

/** Headers of a request, names in lowercase. A secret that is not in the form of Standard Webhooks has only our own signature. */
export function signedHeaders({ id, secrets, timestampS, body }: Signed): Readonly<Record<string, string>> {
  if (secrets.length === 0) throw new Error('a delivery is signed with at least one secret');
  const standard = secrets.flatMap((secret) => {
    const key = standardKeyOf(secret);
    return key === undefined ? [] : [`v1,${createHmac('sha256', key).update(`${id}.${timestampS}.`).update(body).digest('base64')}`];
  });
  return {
    [SIGNATURE_HEADER]: [`t=${timestampS}`, ...secrets.map((secret) => hexSignature(secret, timestampS, body))].join(','),
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    ...(standard.length > 0 && { 'webhook-signature': standard.join(' ') }),
  };
}

function hexSignature(secret: string, timestampS: number, body: Uint8Array | string): string {
  if (secret === '') throw new Error('an empty secret signs nothing');
  return `v1=${createHmac('sha256', secret).update(`${timestampS}.`).update(body).digest('hex')}`;
}

function standardKeyOf(secret: string): Buffer | undefined {
  if (!secret.startsWith(STANDARD_PREFIX)) return undefined;
  const text = secret.slice(STANDARD_PREFIX.length);
  const key = Buffer.from(text, 'base64');
  const isStandard = key.toString('base64') === text && key.length >= STANDARD_KEY_BYTES.min && key.length <= STANDARD_KEY_BYTES.max;
  return isStandard ? key : undefined;
}
