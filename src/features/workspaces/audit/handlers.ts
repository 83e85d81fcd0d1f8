/** The endpoint of `/v1/workspaces/{workspaceId}/audit`. */
import Negotiator from 'negotiator';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { streamOf } from '../../../edge/reply-stream.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { ServiceDeps } from '../../deps.ts';
import { auditCsv } from './export.ts';
import { type AuditFilter, type AuditRow, countEntries, listEntries } from './rows.ts';

export const CSV_HEADERS = { 'Content-Disposition': 'attachment; filename="audit.csv"' };

export function auditHandlers({ sql }: Pick<ServiceDeps, 'sql'>): Handlers<'audit.list'> {
  return {
    'audit.list': async ({ workspace, query, accept }) => {
      const filter: AuditFilter = {
        workspaceId: workspace.id,
        action: query.action,
        actor: query.actor,
        fromMs: query.from === undefined ? 0 : Date.parse(query.from),
        toMs: query.to === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(query.to),
      };
      const after = decodeCursor(query.cursor);
      if (wantsCsv(accept)) {
        return { reply: 'csv', body: '', type: 'text/csv; charset=utf-8', stream: streamOf(auditCsv(sql, filter)), headers: CSV_HEADERS };
      }
      const rows = await listEntries(sql, filter, after, query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.at_ms, id: row.id }));
      const total = query.count ? { total: await countEntries(sql, filter) } : {};
      return { reply: 'ok', body: { entries: items.map(presentEntry), ...page, ...total } };
    },
  };
}

export function wantsCsv(accept: string): boolean {
  return new Negotiator({ headers: { accept: accept || '*/*' } }).mediaTypes(['application/json', 'text/csv'])[0] === 'text/csv';
}

export function presentEntry(row: AuditRow) {
  return {
    id: row.id,
    at: dateTime(row.at_ms),
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    action: row.action,
    target: { type: row.target_type, id: row.target_id, name: row.target_name },
    detail: row.detail,
    address: row.address,
    request_id: row.request_id,
  };
}
