/** After a rotation of SECRET_KEY: seals the secrets of alert rules again under the current key. */
import type { Log } from '../../../../actors/runtime/ports.ts';
import type { AlertRuleId } from '../../../../protocol/core/ids.ts';
import { type Sealer, Unopenable } from '../../../storage/sealing/sealer.ts';
import type { Sql } from '../../../storage/sql.ts';
import { placeOfSecret } from './outgoing.ts';
import { listSealedBefore, replaceSealed } from './rows.ts';

const ROWS_AT_ONCE = 100;

/** Answers how many it sealed again. What cannot be opened stays as it is, and is told in the log. */
export async function resealAlerts(
  { sql, sealer, log }: { readonly sql: Sql; readonly sealer: Sealer; readonly log: Log },
  signal: AbortSignal,
): Promise<number> {
  const head = sealer.currentHead;
  if (head === null) return 0;
  let resealed = 0;
  let last = '' as AlertRuleId;
  for (;;) {
    const rows = await listSealedBefore(sql, head, last, ROWS_AT_ONCE);
    for (const { id, sealed_secret } of rows) {
      if (signal.aborted) return resealed;
      last = id;
      try {
        const sealed = sealer.reseal(placeOfSecret(id), sealed_secret);
        if (sealed !== null && (await replaceSealed(sql, id, sealed_secret, sealed))) resealed += 1;
      } catch (error) {
        if (!(error instanceof Unopenable)) throw error;
        log.warn({ alertId: id, reason: error.message }, 'the secret of an alert rule cannot be read');
      }
    }
    if (rows.length < ROWS_AT_ONCE) return resealed;
  }
}
