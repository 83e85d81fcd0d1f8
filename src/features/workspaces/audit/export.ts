/** The record of a workspace as CSV, read page by page while it is sent. */
import { dateTime } from '../../../platform/date-time.ts';
import type { Queries } from '../../deps.ts';
import { type AuditFilter, type AuditRow, listEntries } from './rows.ts';

const ROWS_AT_ONCE = 500;
const COLUMNS = [
  ...['id', 'at', 'actor_kind', 'actor_id', 'actor_name', 'action', 'target_type', 'target_id', 'target_name', 'detail', 'address'],
  'request_id',
];
/** What a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Of more than one workspace each line ends with the workspace. */
export async function* auditCsv(sql: Queries, filter: AuditFilter): AsyncGenerator<string> {
  const ofAll = typeof filter.workspaceId !== 'string';
  yield line(ofAll ? [...COLUMNS, 'workspace_id'] : COLUMNS);
  let after = { number: Number.MAX_SAFE_INTEGER, id: '' };
  for (;;) {
    const rows = await listEntries(sql, filter, after, ROWS_AT_ONCE);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => lineOf(row, ofAll)).join('');
    if (rows.length < ROWS_AT_ONCE) return;
    after = { number: last.at_ms, id: last.id };
  }
}

function lineOf(row: AuditRow, withWorkspace: boolean): string {
  const { actor_kind, actor_id, actor_name, action, target_type, target_id, target_name, detail, address, request_id } = row;
  const target = [target_type, target_id, target_name];
  return line([
    row.id,
    dateTime(row.at_ms),
    actor_kind,
    actor_id,
    actor_name,
    action,
    ...target,
    JSON.stringify(detail),
    address,
    request_id,
    ...(withWorkspace ? [row.workspace_id] : []),
  ]);
}

/** RFC 4180. An apostrophe before a formula makes a spreadsheet show it. */
function line(cells: readonly (string | null)[]): string {
  const texts = cells.map((cell) => (cell !== null && FORMULA.test(cell) ? `'${cell}` : (cell ?? '')));
  return `${texts.map((text) => (/[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(',')}\r\n`;
}
