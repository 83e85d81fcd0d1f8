/** After a rotation of SECRET_KEY: seals secrets of webhooks again under the current key. */
import type { Log } from '../../../../actors/runtime/ports.ts';
import { type Sealer, Unopenable } from '../../../storage/sealing/sealer.ts';
import type { Sql } from '../../../storage/sql.ts';
import { listSealedBefore, replaceSealed, type SealedSecret } from './rows.ts';
import { placeOfSecret } from './sending.ts';

const ROWS_AT_ONCE = 100;

/** Answers how many it sealed again. What cannot be opened stays as it is, and is told in the log. */
export async function resealWebhooks(
  { sql, sealer, log }: { readonly sql: Sql; readonly sealer: Sealer; readonly log: Log },
  signal: AbortSignal,
): Promise<number> {
  const head = sealer.currentHead;
  if (head === null) return 0;
  let resealed = 0;
  let last = '';
  for (;;) {
    const rows = await listSealedBefore(sql, head, last, ROWS_AT_ONCE);
    for (const row of rows) {
      if (signal.aborted) return resealed;
      last = row.id;
      const sealed = again(sealer, row, log);
      if (sealed !== null && (await replaceSealed(sql, row, sealed))) resealed += 1;
    }
    if (rows.length < ROWS_AT_ONCE) return resealed;
  }
}

function again(sealer: Sealer, { id, secret, old_secret }: SealedSecret, log: Log): Omit<SealedSecret, 'id'> | null {
  try {
    return {
      secret: sealer.reseal(placeOfSecret(id, 'secret'), secret) ?? secret,
      old_secret: old_secret === null ? null : (sealer.reseal(placeOfSecret(id, 'old_secret'), old_secret) ?? old_secret),
    };
  } catch (error) {
    if (!(error instanceof Unopenable)) throw error;
    log.warn({ webhookId: id, reason: error.message }, 'the secret of a webhook cannot be read');
    return null;
  }
}
