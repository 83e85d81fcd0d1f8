/** A delivery that is sent at once, to see whether a host takes it. */
import type { z } from 'zod';
import type { webhookDeliveryDetail } from '../../../../protocol/automation/webhooks.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId } from '../../../../protocol/core/ids.ts';
import type { Sql } from '../../../storage/sql.ts';
import { bodyOf } from './deliveries.ts';
import { presentDetail } from './present.ts';
import { insertTry } from './queue-rows.ts';
import { type DeliveryRow, insertTest, takeNumber, tryNow, type WebhookRow } from './rows.ts';
import { type SendDeps, send } from './sending.ts';

export interface TestDeps extends SendDeps {
  readonly sql: Sql;
  readonly wake: () => void;
  readonly ending: AbortSignal;
}

/** It counts neither as a success nor as a failure of the webhook, except that what waits is tried at once after a success. Throws UNAVAILABLE. */
export async function sendTest(deps: TestDeps, row: WebhookRow): Promise<z.input<typeof webhookDeliveryDetail>> {
  const { sql, clock, ending } = deps;
  const id = newId('delivery');
  const number = await takeNumber(sql, row.id);
  const atMs = clock.nowMs();
  const data = JSON.stringify({ message: 'A test of this webhook.' });
  const body = bodyOf({
    ...{ id, number, event: 'webhook.test', atMs, webhookId: row.id, artifactId: row.artifact_id, workspaceId: row.workspace_id, data },
  });
  const { url, secret, old_secret: oldSecret, old_secret_ends_ms: oldSecretEndsMs } = row;
  const sent = await send(deps, { webhookId: row.id, deliveryId: id, url, body, secret, oldSecret, oldSecretEndsMs }, ending);
  if (sent === null) throw new Failure('UNAVAILABLE', { message: 'Too many calls to the outside are under way.', retryAfterS: 2 });
  const { record } = sent;
  const nowMs = clock.nowMs();
  await sql.begin(async (tx) => {
    await insertTest(tx, { id, webhookId: row.id, number, body, record, nowMs });
    await insertTry(tx, id, 1, record);
    if (record.error === null) await tryNow(tx, row.id, nowMs);
  });
  if (record.error === null) deps.wake();
  const delivery: DeliveryRow & { readonly body: string } = {
    id,
    webhook_id: row.id,
    number,
    event: 'webhook.test',
    status: record.error === null ? 'delivered' : 'failed',
    tries: 1,
    next_try_ms: nowMs,
    created_at_ms: atMs,
    finished_at_ms: nowMs,
    response_status: record.status,
    error: record.error,
    body,
  };
  return presentDetail(delivery, [{ ...record, number: 1 }]);
}
