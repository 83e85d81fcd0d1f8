import { RETENTION } from '../../../../protocol/business/retention.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Module, ModuleDeps } from '../../module.ts';
import { Receipts } from './receipts.ts';
import { countReceipts, deleteOldReceipts, listReceipts } from './rows.ts';

type Ids = 'receipts.list';

export function receiptsModule(deps: ModuleDeps): Module<Ids> & { readonly receipts: Receipts } {
  const { sql, clock } = deps;
  const receipts = new Receipts(deps);
  return {
    receipts,
    handlers: receiptHandlers(deps, receipts),
    sweeps: [
      { name: 'receipts', run: () => deleteOldReceipts(sql, clock.nowMs() - RETENTION.receipts.keptMs, LIMITS.receiptsPerWorkspaceMax) },
    ],
    close: () => receipts.flush(),
  };
}

function receiptHandlers({ sql }: ModuleDeps, receipts: Receipts): Handlers<Ids> {
  return {
    'receipts.list': async ({ workspace, query }) => {
      const after = decodeCursor(query.cursor);
      await receipts.flush();
      const rows = await listReceipts(sql, workspace.id, query, after, query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.opened_at_ms, id: row.id }));
      const total = query.count ? { total: await countReceipts(sql, workspace.id, query) } : {};
      const activity = items.map((row) => ({
        at: dateTime(row.opened_at_ms),
        member_id: row.external_id,
        email: row.email,
        artifact_id: row.artifact_id,
        artifact_name: row.artifact_name,
      }));
      return { reply: 'ok', body: { activity, ...page, ...total } };
    },
  };
}
