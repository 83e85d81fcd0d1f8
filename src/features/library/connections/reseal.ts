/** After a rotation of SECRET_KEY: seals what older keys have sealed again under the current one, so that they can be taken off the list. */
import type { Log } from '../../../../actors/runtime/ports.ts';
import { type Sealer, Unopenable } from '../../../storage/sealing/sealer.ts';
import type { Sql } from '../../../storage/sql.ts';
import { listSealedBefore, replaceSealed, type SealedRow } from './rows.ts';
import { placeOf } from './rules.ts';

const ROWS_AT_ONCE = 100;

/** Answers how many it sealed again. What cannot be opened stays as it is, and is told in the log. */
export async function resealConnections(
  { sql, sealer, log }: { readonly sql: Sql; readonly sealer: Sealer; readonly log: Log },
  signal: AbortSignal,
): Promise<number> {
  const head = sealer.currentHead;
  if (head === null) return 0;
  let resealed = 0;
  let last: Pick<SealedRow, 'id' | 'userId'> = { id: '' as SealedRow['id'], userId: null };
  for (;;) {
    const rows = await listSealedBefore(sql, head, last, ROWS_AT_ONCE);
    for (const row of rows) {
      if (signal.aborted) return resealed;
      last = row;
      const sealed = opened(sealer, row, log);
      if (sealed !== null && (await replaceSealed(sql, row, sealed))) resealed += 1;
    }
    if (rows.length < ROWS_AT_ONCE) return resealed;
  }
}

function opened(sealer: Sealer, { id, userId, credentials }: SealedRow, log: Log): Buffer | null {
  try {
    return sealer.reseal(placeOf(id, userId), credentials);
  } catch (error) {
    if (!(error instanceof Unopenable)) throw error;
    log.warn({ connectionId: id, reason: error.message }, 'the credentials of a connection cannot be read');
    return null;
  }
}
