/** The endpoint of the record of the whole installation. */
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { streamOf } from '../../../edge/reply-stream.ts';
import type { ServiceDeps } from '../../deps.ts';
import { auditCsv } from '../../workspaces/audit/export.ts';
import { CSV_HEADERS, presentEntry, wantsCsv } from '../../workspaces/audit/handlers.ts';
import { type AuditFilter, countEntries, listEntries } from '../../workspaces/audit/rows.ts';

export function instanceAuditHandlers({ sql }: Pick<ServiceDeps, 'sql'>): Handlers<'instanceAudit.list'> {
  return {
    'instanceAudit.list': async ({ query, accept }) => {
      const { action, actor, target } = query;
      const filter: AuditFilter = {
        workspaceId: query.instance === true ? null : query.workspace_id,
        ...{ action, actor, target },
        fromMs: query.from === undefined ? 0 : Date.parse(query.from),
        toMs: query.to === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(query.to),
      };
      const after = decodeCursor(query.cursor);
      if (wantsCsv(accept)) {
        const stream = streamOf(auditCsv(sql, filter));
        return { reply: 'csv', body: '', type: 'text/csv; charset=utf-8', stream, headers: CSV_HEADERS };
      }
      const rows = await listEntries(sql, filter, after, query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.at_ms, id: row.id }));
      const total = query.count ? { total: await countEntries(sql, filter) } : {};
      const entries = items.map((row) => ({ ...presentEntry(row), workspace_id: row.workspace_id }));
      return { reply: 'ok', body: { entries, ...page, ...total } };
    },
  };
}
