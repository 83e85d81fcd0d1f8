/** One try of one delivery: signed with the time of this try, sent through the guarded way to the outside, and told as it went. */
import type { Clock } from '../../../../actors/runtime/ports.ts';
import type { DeliveryId, WebhookId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Egress, EgressReply } from '../../../egress/egress.ts';
import { EgressFailure } from '../../../egress/failure.ts';
import { type Sealer, type SecretPlace, Unopenable } from '../../../storage/sealing/sealer.ts';
import type { TryRecord } from './queue-rows.ts';
import { type Outcome, retryAfterMs } from './rules.ts';
import { signedHeaders } from './sign.ts';

export interface Sending {
  readonly webhookId: WebhookId;
  readonly deliveryId: DeliveryId;
  readonly url: string;
  readonly body: string;
  readonly secret: Buffer;
  readonly oldSecret: Buffer | null;
  readonly oldSecretEndsMs: number | null;
}

export interface SendDeps {
  readonly egress: Pick<Egress, 'fetch'>;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

export interface Sent {
  readonly record: TryRecord;
  readonly outcome: Outcome;
}

/** Of the answer more than is kept is read, so that a host which explains itself at length is not cut off. */
const ANSWER_READ_BYTES_MAX = 16 * LIMITS.webhookAnswerBytesMax;

export function placeOfSecret(id: WebhookId, field: 'secret' | 'old_secret'): SecretPlace {
  return { table: 'webhook', row: id, field };
}

/** Null where this node has no room for the call now. Throws only the reason of `signal`. */
export async function send(deps: SendDeps, sending: Sending, signal: AbortSignal): Promise<Sent | null> {
  const atMs = deps.clock.nowMs();
  const begun = performance.now();
  let requestHeaders: Readonly<Record<string, string>> = {};
  const done = (reply: EgressReply | null, error: string | null): Sent => ({
    record: {
      atMs,
      durationMs: Math.round(performance.now() - begun),
      requestHeaders,
      status: reply?.status ?? null,
      responseHeaders: reply === null ? {} : keptHeaders(reply.headers),
      responseBody: reply === null ? '' : keptText(reply.body),
      error,
    },
    outcome: {
      taken: error === null,
      status: reply?.status ?? null,
      retryAfterMs: retryAfterMs(reply?.headers['retry-after'], atMs),
    },
  });
  try {
    const body = Buffer.from(sending.body);
    requestHeaders = headersOf(deps, sending, body, atMs);
    const reply = await deps.egress.fetch({
      method: 'POST',
      url: sending.url,
      headers: requestHeaders,
      body,
      bytesMax: ANSWER_READ_BYTES_MAX,
      timeoutMs: LIMITS.webhookMs,
      share: sending.webhookId,
      httpsOnly: true,
      signal,
    });
    return done(reply, errorOf(reply.status));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof EgressFailure) return error.reason === 'busy' ? null : done(null, error.message);
    if (error instanceof Unopenable) return done(null, 'Its secret cannot be read with SECRET_KEY: rotate it.');
    throw error;
  }
}

function headersOf({ sealer }: SendDeps, sending: Sending, body: Buffer, atMs: number): Readonly<Record<string, string>> {
  const { webhookId, oldSecret, oldSecretEndsMs } = sending;
  const secrets = [sealer.open(placeOfSecret(webhookId, 'secret'), sending.secret)];
  if (oldSecret !== null && oldSecretEndsMs !== null && oldSecretEndsMs > atMs)
    secrets.push(sealer.open(placeOfSecret(webhookId, 'old_secret'), oldSecret));
  return {
    'content-type': 'application/json',
    'user-agent': 'Easel-Webhooks',
    ...signedHeaders({ id: sending.deliveryId, secrets, timestampS: Math.floor(atMs / 1000), body }),
  };
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `The host answered with a redirect (${status}), which is not followed.`;
  return `The host answered with the status ${status}.`;
}

/** Postgres stores no NUL. */
function keptText(body: Buffer): string {
  return new TextDecoder().decode(body.subarray(0, LIMITS.webhookAnswerBytesMax)).replaceAll('\u0000', '\ufffd');
}

function keptHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    bytes += name.length + value.length;
    if (bytes > LIMITS.webhookAnswerHeaderBytesMax) break;
    kept[name] = value;
  }
  return kept;
}
