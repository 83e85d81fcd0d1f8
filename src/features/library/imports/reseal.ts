/** After a rotation of SECRET_KEY: seals tokens again under the current key, so that older ones can be taken off the list. */
import type { Log } from '../../../../actors/runtime/ports.ts';
import { type Sealer, Unopenable } from '../../../storage/sealing/sealer.ts';
import type { Sql } from '../../../storage/sql.ts';
import { type ConnectionKey, listSealedBefore, replaceTokens, type SealedTokens } from './rows.ts';
import { tokensPlace } from './rules.ts';

const ROWS_AT_ONCE = 100;

/** Answers how many it sealed again. What cannot be opened stays as it is, and is told in the log. */
export async function resealTokens(
  { sql, sealer, log }: { readonly sql: Sql; readonly sealer: Sealer; readonly log: Log },
  signal: AbortSignal,
): Promise<number> {
  const head = sealer.currentHead;
  if (head === null) return 0;
  let resealed = 0;
  let last: { readonly workspaceId: string; readonly userId: string; readonly provider: string } = {
    workspaceId: '',
    userId: '',
    provider: '',
  };
  for (;;) {
    const rows = await listSealedBefore(sql, head, last as ConnectionKey, ROWS_AT_ONCE);
    for (const row of rows) {
      if (signal.aborted) return resealed;
      last = row;
      const sealed = opened(sealer, row, log);
      if (sealed !== null && (await replaceTokens(sql, row, row.tokens, sealed))) resealed += 1;
    }
    if (rows.length < ROWS_AT_ONCE) return resealed;
  }
}

function opened(sealer: Sealer, row: SealedTokens, log: Log): Buffer | null {
  try {
    return sealer.reseal(tokensPlace(row), row.tokens);
  } catch (error) {
    if (!(error instanceof Unopenable)) throw error;
    log.warn({ provider: row.provider, workspaceId: row.workspaceId, reason: error.message }, 'the access to a drive cannot be read');
    return null;
  }
}
