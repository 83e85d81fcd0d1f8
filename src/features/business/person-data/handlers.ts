/** The endpoints of exports and deletions of people's data. */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { personDeletion, personExport } from '../../../../protocol/business/person-data.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { newId, type PersonExportId, type UserId } from '../../../../protocol/core/ids.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { BaseCall, Call, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { streamOf } from '../../../edge/reply-stream.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { isSuspendedPerson, lockPerson } from '../../people/persons/rows.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { adminOf, lockAdmins, requireAnAdmin } from '../instance/admins.ts';
import {
  cancelDeletion,
  countDeletions,
  countExports,
  type DeletionRow,
  type ExportRow,
  insertDeletion,
  insertExport,
  listDeletions,
  listExports,
  readDeletion,
  readExport,
  readSubject,
  renewDeletion,
} from './rows.ts';

const DAY_MS = 24 * 3_600_000;

export interface PersonDataDeps extends Pick<ServiceDeps, 'sql' | 'objects' | 'clock'> {
  readonly work: { wake(): void };
}

type ExportIds =
  | 'personData.exportMine'
  | 'personData.listMine'
  | 'personData.fileOfMine'
  | 'personData.export'
  | 'personData.exports'
  | 'personData.file';

export function personExportHandlers(deps: PersonDataDeps): Handlers<ExportIds> {
  const { sql, work } = deps;
  const page = async (accounts: readonly UserId[] | null, query: Call<Endpoints['personData.listMine']>['query']) => {
    const rows = await listExports(sql, accounts, decodeCursor(query.cursor), query.limit + 1);
    const { items, page: cut } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
    const total = query.count ? { total: await countExports(sql, accounts) } : {};
    return { exports: items.map(presentExport), ...cut, ...total };
  };
  return {
    'personData.exportMine': async (call) => {
      const row = await sql.begin((tx) => wantExport(tx, call, call.user, call.user));
      work.wake();
      return { reply: 'accepted', body: presentExport(row) };
    },
    'personData.listMine': async ({ principal, query }) => ({ reply: 'ok', body: await page(accountsOf(principal), query) }),
    'personData.fileOfMine': async ({ principal, params }) => {
      const row = await readExport(sql, params.exportId);
      if (row?.user_id === undefined || row.user_id === null || !accountsOf(principal).includes(row.user_id))
        throw new Failure('EXPORT_NOT_FOUND');
      return fileOf(deps, row);
    },
    'personData.export': async (call) => {
      const { userId } = adminOf(call.principal);
      const row = await sql.begin(async (tx) => {
        await lockAdmins(tx, userId);
        return wantExport(tx, call, call.params.userId, userId);
      });
      work.wake();
      return { reply: 'accepted', body: presentExport(row) };
    },
    'personData.exports': async ({ query }) => ({
      reply: 'ok',
      body: await page(query.user_id === undefined ? null : [query.user_id], query),
    }),
    'personData.file': async (call) => {
      const row = await sql.begin(async (tx) => {
        await lockAdmins(tx, adminOf(call.principal).userId);
        const found = await readExport(tx, call.params.exportId);
        if (found === null) throw new Failure('EXPORT_NOT_FOUND');
        requireFile(found, deps.clock.nowMs());
        const target = { type: 'person', id: found.user_id, name: null };
        await audit(tx, call, { workspaceId: null, action: 'person.export_fetched', target, detail: { export_id: found.id } });
        return found;
      });
      return fileOf(deps, row);
    },
  };
}

/** Throws USER_NOT_FOUND, EXPORT_UNDER_WAY. */
async function wantExport(tx: Queries, call: BaseCall, userId: UserId, askedBy: UserId): Promise<ExportRow> {
  // Two who ask at the same time wait for each other.
  await lockPerson(tx, userId);
  const { accounts } = await readSubject(tx, userId);
  if (accounts.length === 0) throw new Failure('USER_NOT_FOUND');
  const id = newId('personExport');
  if (!(await insertExport(tx, { id, userId, askedBy, nowMs: call.nowMs }))) throw new Failure('EXPORT_UNDER_WAY');
  const target = { type: 'person', id: userId, name: null };
  await audit(tx, call, { workspaceId: null, action: 'person.export', target, detail: { export_id: id } });
  return requireExport(tx, id);
}

async function requireExport(sql: Queries, id: PersonExportId): Promise<ExportRow> {
  const row = await readExport(sql, id);
  if (row === null) throw new Failure('EXPORT_NOT_FOUND');
  return row;
}

/** Throws EXPORT_NOT_READY, and EXPORT_NOT_FOUND where it has ended. */
function requireFile({ sha256, size_bytes, expires_at_ms }: ExportRow, nowMs: number) {
  if (sha256 === null || size_bytes === null) throw new Failure('EXPORT_NOT_READY');
  if (expires_at_ms !== null && expires_at_ms <= nowMs) throw new Failure('EXPORT_NOT_FOUND');
  return { sha256, sizeBytes: size_bytes };
}

function fileOf({ objects, clock }: PersonDataDeps, row: ExportRow) {
  const { sha256, sizeBytes } = requireFile(row, clock.nowMs());
  return {
    reply: 'ok',
    body: '',
    type: 'application/zip',
    stream: streamOf(objects.readRange(sha256, 0, sizeBytes - 1), sizeBytes),
    headers: { 'Content-Disposition': `attachment; filename="${row.id}.zip"`, 'Cache-Control': 'private, no-store' },
  } as const;
}

function presentExport(row: ExportRow): z.input<typeof personExport> {
  const { id, user_id, asked_by, status, error, size_bytes, sha256, receipt } = row;
  return {
    ...{ id, user_id, asked_by, status, error },
    created_at: dateTime(row.created_at_ms),
    finished_at: timeOf(row.finished_at_ms),
    expires_at: timeOf(row.expires_at_ms),
    ...{ bytes: size_bytes, sha256, receipt: receipt === null ? null : [...receipt] },
  };
}

type DeletionIds = 'personData.delete' | 'personData.deletions' | 'personData.deletion' | 'personData.cancel';

export function personDeletionHandlers({ sql, work }: PersonDataDeps): Handlers<DeletionIds> {
  return {
    'personData.delete': async (call) => {
      const row = await sql.begin((tx) => wantDeletion(tx, call));
      work.wake();
      return { reply: 'accepted', body: presentDeletion(row) };
    },
    'personData.deletions': async ({ query }) => {
      const rows = await listDeletions(sql, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countDeletions(sql) } : {};
      return { reply: 'ok', body: { deletions: items.map(presentDeletion), ...page, ...total } };
    },
    'personData.deletion': async ({ params }) => {
      const row = await readDeletion(sql, params.deletionId);
      if (row === null) throw new Failure('DELETION_NOT_FOUND');
      const body = presentDeletion(row);
      return { reply: 'ok', body, etag: bodyEtag(body) };
    },
    'personData.cancel': async (call) => {
      await sql.begin(async (tx) => {
        await lockAdmins(tx, adminOf(call.principal).userId);
        const row = await readDeletion(tx, call.params.deletionId);
        if (row === null) throw new Failure('DELETION_NOT_FOUND');
        if (!(await cancelDeletion(tx, row.id, call.nowMs))) throw new Failure('DELETION_BEGUN');
        const target = { type: 'person', id: row.user_id, name: null };
        await audit(tx, call, { workspaceId: null, action: 'person.delete_canceled', target, detail: { deletion_id: row.id } });
      });
      return { reply: 'ok', body: { success: true } };
    },
  };
}

/** Throws USER_NOT_FOUND, CONFIRMATION_WRONG, LAST_ADMIN, DELETION_UNDER_WAY, ADMIN_REQUIRED. */
async function wantDeletion(tx: Queries, call: Call<Endpoints['personData.delete']>): Promise<DeletionRow> {
  const { nowMs, params, body } = call;
  const caller = adminOf(call.principal);
  await lockAdmins(tx, caller.userId);
  await lockPerson(tx, params.userId);
  const { accounts, addresses } = await readSubject(tx, params.userId);
  if (accounts.length === 0) throw new Failure('USER_NOT_FOUND');
  const confirm = body.confirm.trim().toLowerCase();
  const isConfirmed = addresses.length === 0 ? confirm === params.userId : addresses.includes(confirm);
  if (!isConfirmed) throw new Failure('CONFIRMATION_WRONG', { param: 'confirm' });
  await requireAnAdmin(tx, accounts);
  const heirId = body.heir_id ?? null;
  if (heirId !== null) await requireHeir(tx, heirId, accounts);
  const subjectSha256 = createHash('sha256').update(`${params.userId}\n${confirm}`).digest();
  const dueAtMs = nowMs + body.grace_days * DAY_MS;
  const renewed = await renewDeletion(tx, accounts, { heirId, dueAtMs, nowMs });
  const id = renewed ?? newId('personDeletion');
  const spec = { id, userId: params.userId, askedBy: caller.userId, heirId, dueAtMs, subjectSha256, nowMs };
  if (renewed === null && !(await insertDeletion(tx, spec))) throw new Failure('DELETION_UNDER_WAY');
  const target = { type: 'person', id: params.userId, name: null };
  const detail = { deletion_id: id, heir_id: heirId, grace_days: body.grace_days };
  await audit(tx, call, { workspaceId: null, action: 'person.delete', target, detail });
  const row = await readDeletion(tx, id);
  if (row === null) throw new Error('a row that was stored in this transaction is not there');
  return row;
}

/** Throws USER_NOT_FOUND where nobody can inherit by this id. */
async function requireHeir(tx: Queries, heirId: UserId, accounts: readonly UserId[]): Promise<void> {
  const heir = await readSubject(tx, heirId);
  if (heir.accounts.length > 0 && !accounts.includes(heirId) && !(await isSuspendedPerson(tx, heirId))) return;
  throw new Failure('USER_NOT_FOUND', {
    param: 'heir_id',
    message: 'heir_id: must be somebody else who can sign in.',
    hint: 'Leave it out to have the artifacts removed.',
  });
}

function presentDeletion(row: DeletionRow): z.input<typeof personDeletion> {
  const { id, user_id, asked_by, heir_id, status, error, subject_sha256, receipt } = row;
  return {
    ...{ id, user_id, asked_by, heir_id, status, error },
    created_at: dateTime(row.created_at_ms),
    due_at: dateTime(row.due_at_ms),
    finished_at: timeOf(row.finished_at_ms),
    ...{ subject_sha256, receipt: [...receipt] },
  };
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : dateTime(ms);
}
