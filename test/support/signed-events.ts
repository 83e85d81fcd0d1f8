/** Events of the payment provider, signed as Stripe does it. */
import { createHmac } from 'node:crypto';
import type { TestEasel } from './easel.ts';

export function signatureOf(key: Uint8Array | string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`;
}

/** Key of the embedded provider. The service makes it when the first event comes, whatever that is. */
export async function embeddedKey(easel: TestEasel): Promise<Uint8Array> {
  await easel.fetch('/v1/billing/webhooks/embedded', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
  const [row] = await easel.sql<{ value: string }[]>`select value from installation where name = 'embedded_payments_key'`;
  if (row === undefined) throw new Error('the key of the embedded provider is missing');
  return Buffer.from(row.value, 'base64url');
}
