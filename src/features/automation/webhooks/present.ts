/** Webhooks and deliveries as callers see them. */
import type { z } from 'zod';
import type { webhook, webhookDelivery, webhookDeliveryDetail, webhookTry } from '../../../../protocol/automation/webhooks.ts';
import { contentDigest } from '../../../edge/answer.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { TryRecord } from './queue-rows.ts';
import type { DeliveryRow, WebhookRow } from './rows.ts';

export function presentWebhook(row: WebhookRow, nowMs: number): z.input<typeof webhook> {
  const { old_secret_ends_ms: endsMs } = row;
  return {
    id: row.id,
    artifact_id: row.artifact_id,
    workspace_id: row.workspace_id,
    url: row.url,
    events: [...row.events],
    description: row.description,
    enabled: row.disabled_at_ms === null,
    disabled_reason: row.disabled_reason,
    disabled_at: timeOf(row.disabled_at_ms),
    created_by: row.user_id,
    created_at: dateTime(row.created_at_ms),
    updated_at: dateTime(row.updated_at_ms),
    old_secret_until: timeOf(endsMs !== null && endsMs > nowMs ? endsMs : null),
    failing_since: timeOf(row.failing_since_ms),
    next_try_at: timeOf(row.disabled_at_ms === null ? row.due_ms : null),
  };
}

/** What checkConditions compares: deliveries change how a webhook looks, and not its version. */
export function stateOf({ updated_at_ms }: WebhookRow) {
  return { etag: `"${updated_at_ms.toString(36)}"`, updatedAtMs: updated_at_ms };
}

export function shownWebhook(row: WebhookRow, nowMs: number) {
  const body = presentWebhook(row, nowMs);
  const { failing_since, next_try_at, old_secret_until } = body;
  const view = [failing_since, next_try_at, old_secret_until];
  const mark = view.every((time) => time === null) ? '' : `.${contentDigest(JSON.stringify(view))}`;
  return { reply: 'ok', body, etag: `"${row.updated_at_ms.toString(36)}${mark}"` } as const;
}

export function presentDelivery(row: DeliveryRow): z.input<typeof webhookDelivery> {
  return {
    id: row.id,
    webhook_id: row.webhook_id,
    number: row.number,
    event: row.event,
    status: row.status,
    tries: row.tries,
    next_try_at: timeOf(row.status === 'pending' ? row.next_try_ms : null),
    created_at: dateTime(row.created_at_ms),
    finished_at: timeOf(row.finished_at_ms),
    response_status: row.response_status,
    error: row.error,
  };
}

export function presentDetail(
  row: DeliveryRow & { readonly body: string },
  tries: readonly (TryRecord & { readonly number: number })[],
): z.input<typeof webhookDeliveryDetail> {
  return { ...presentDelivery(row), request_body: row.body, attempts: tries.map(presentTry) };
}

function presentTry({
  number,
  atMs,
  durationMs,
  requestHeaders,
  status,
  responseHeaders,
  responseBody,
  error,
}: TryRecord & { readonly number: number }): z.input<typeof webhookTry> {
  return {
    number,
    at: dateTime(atMs),
    duration_ms: durationMs,
    request_headers: { ...requestHeaders },
    response_status: status,
    response_headers: { ...responseHeaders },
    response_body: responseBody,
    error,
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : dateTime(ms);
}
