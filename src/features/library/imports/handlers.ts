/** The endpoints of sources and their runs. */
import { administers } from '../../../../actors/access/access.ts';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type FolderId, type ImportRunId, type ImportSourceId, newId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { BaseCall, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import type { WorkspaceSeat } from '../../../edge/subjects.ts';
import { violates } from '../../../storage/pg-errors.ts';
import { isEnabled } from '../../business/tiers/rules.ts';
import type { Queries } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { holdFolder } from '../../workspaces/folders/filing.ts';
import { lockWorkspace } from '../../workspaces/workspaces/rows.ts';
import { type ConnectDeps, connectHandlers, found, requireConnected } from './connect-handlers.ts';
import {
  type Asking,
  countSources,
  deleteSource,
  insertSource,
  listConnectionsOf,
  listSources,
  lockSource,
  readSource,
  type SourceRow,
  updateSource,
} from './rows.ts';
import { nextSyncAt, placeOfRef, presentRun, presentSource, refusalOfDrive, requireImports, storedName } from './rules.ts';
import { cancelRun, countRuns, insertRun, lastRuns, listRuns, readRun, type SeenRun } from './runs.ts';

export interface ImportHandlerDeps extends ConnectDeps {
  /** A run was queued or is to end. */
  readonly onRun: () => void;
  readonly onCancel: (id: ImportRunId) => void;
}

type SourceIds = `fileImports.${'list' | 'createSource' | 'getSource' | 'updateSource' | 'deleteSource'}`;
type RunIds = `fileImports.${'sync' | 'runs' | 'run' | 'cancel'}`;

export function importHandlers(deps: ImportHandlerDeps) {
  return { ...connectHandlers(deps), ...sourceHandlers(deps), ...runHandlers(deps) };
}

type MemberCall = Pick<BaseCall, 'principal'> & { readonly workspace: WorkspaceSeat };

function askingOf({ workspace, principal }: MemberCall): Asking {
  return { workspaceId: workspace.id, accounts: accountsOf(principal), isAdmin: administers(workspace.role) };
}

function sourceHandlers(deps: ImportHandlerDeps): Handlers<SourceIds> {
  const { sql, workspaces } = deps;
  return {
    'fileImports.list': async (call) => {
      const asking = askingOf(call);
      // Where the workspace has no imports, there is nothing to connect.
      const isOn = isEnabled(await found(workspaces, call.workspace.id), 'file_imports');
      const connections = await listConnectionsOf(sql, asking.workspaceId, asking.accounts);
      const providers = (isOn ? deps.drives.ids : []).map((id) => {
        const one = connections.find(({ provider }) => provider === id);
        return { id, connected: (one?.tokens ?? null) !== null, accountEmail: one?.account_email ?? null };
      });
      const sources = await listSources(sql, asking);
      return { reply: 'ok', body: { providers, sources: await presented(sql, asking, sources) } };
    },
    'fileImports.createSource': async (call) => ({ reply: 'created', body: await createSource(deps, call) }),
    'fileImports.getSource': async (call) => {
      const asking = askingOf(call);
      return shown(sql, asking, await requireSource(sql, call.params.sourceId, asking));
    },
    'fileImports.updateSource': async (call) => {
      const asking = askingOf(call);
      const id = call.params.sourceId;
      const row = await sql.begin(async (tx) => {
        const { targetFolderId } = call.body;
        if (targetFolderId !== undefined) await requireTarget(tx, call, targetFolderId);
        await lockSource(tx, id);
        const before = await requireSource(tx, id, asking);
        checkConditions({ etag: (await shown(tx, asking, before)).etag }, call);
        requireMine(before, asking);
        const dailySync = call.body.dailySync ?? before.daily_sync;
        const to = { targetFolderId: targetFolderId ?? before.target_folder_id, convert: call.body.convert ?? before.convert, dailySync };
        await updateSource(tx, id, { ...to, nextSyncAtMs: nextSyncAt(dailySync, before.next_sync_at_ms, call.nowMs), nowMs: call.nowMs });
        await audit(tx, call, entry('file_import.update', before, call.body));
        return requireSource(tx, id, asking);
      });
      return shown(sql, asking, row);
    },
    'fileImports.deleteSource': async (call) => {
      const asking = askingOf(call);
      await sql.begin(async (tx) => {
        await lockSource(tx, call.params.sourceId);
        const before = await requireSource(tx, call.params.sourceId, asking);
        checkConditions({ etag: (await shown(tx, asking, before)).etag }, call);
        if (!asking.isAdmin) requireMine(before, asking);
        await deleteSource(tx, before.id);
        await audit(tx, call, entry('file_import.delete', before, {}));
      });
      return { reply: 'ok', body: { success: true } };
    },
  };
}

async function createSource(deps: ImportHandlerDeps, call: Parameters<Handlers<SourceIds>['fileImports.createSource']>[0]) {
  const { sql, drives, sealer, clock } = deps;
  const asking = askingOf(call);
  const { workspaceId } = asking;
  requireImports(await found(deps.workspaces, workspaceId));
  const { provider } = drives.drive(call.body.provider);
  const key = await requireConnected(sql, workspaceId, asking.accounts, provider.id);
  const chosen = placeOfRef(sealer, key, call.body.ref);
  if (!chosen.selectable)
    throw new Failure('IMPORT_REF_NOT_FOUND', { param: 'ref', message: 'ref: this entry cannot be a source; choose a folder or a drive.' });
  const name = await provider.nameOf(drives.calls(key), chosen.place).catch((error) => {
    throw refusalOfDrive(error);
  });
  const { targetFolderId, convert, dailySync } = call.body;
  const row = await sql.begin(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    await requireTarget(tx, call, targetFolderId);
    if ((await countSources(tx, workspaceId)) >= LIMITS.importSourcesPerWorkspaceMax) throw new Failure('IMPORT_SOURCE_LIMIT_EXCEEDED');
    const id = newId('importSource');
    const nowMs = clock.nowMs();
    await insertSource(tx, {
      ...{ id, workspaceId, userId: key.userId, provider: provider.id, remote: chosen.place, remoteName: storedName(name) },
      ...{ targetFolderId, convert, dailySync, nextSyncAtMs: nextSyncAt(dailySync, null, nowMs), nowMs },
    });
    const made = await requireSource(tx, id, asking);
    await audit(tx, call, entry('file_import.create', made, { provider: provider.id, folder_id: targetFolderId }));
    return made;
  });
  return presentSource(row, asking.accounts, undefined);
}

function runHandlers({ sql, workspaces, drives, flags, onRun, onCancel }: ImportHandlerDeps): Handlers<RunIds> {
  return {
    'fileImports.sync': async (call) => {
      const asking = askingOf(call);
      await flags.require('file_imports');
      requireImports(await found(workspaces, asking.workspaceId));
      const id = newId('importRun');
      const run = await sql
        .begin(async (tx) => {
          await lockSource(tx, call.params.sourceId);
          const source = await requireSource(tx, call.params.sourceId, asking);
          requireMine(source, asking);
          drives.drive(source.provider);
          if (!source.connected) throw new Failure('IMPORT_NOT_CONNECTED');
          await insertRun(tx, { id, sourceId: source.id, userId: source.user_id, nowMs: call.nowMs });
          await audit(tx, call, entry('file_import.sync', source, { run_id: id }));
          return requireRun(tx, id, asking);
        })
        .catch((error) => {
          throw violates(error, 'import_run_active') ? new Failure('RUN_IN_PROGRESS') : error;
        });
      onRun();
      return { reply: 'created', body: { run: presentRun(run.run) } };
    },
    'fileImports.runs': async (call) => {
      const { sourceId, limit, cursor, count } = call.query;
      await requireSource(sql, sourceId, askingOf(call));
      const rows = await listRuns(sql, sourceId, LIMITS.importErrorsListedMax, decodeCursor(cursor), limit + 1);
      const { items, page } = cutPage(rows, limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = count ? { total: await countRuns(sql, sourceId) } : {};
      return { reply: 'ok', body: { runs: items.map(presentRun), hasMore: page.has_more, nextCursor: page.next_cursor, ...total } };
    },
    'fileImports.run': async (call) => {
      const { run } = await requireRun(sql, call.params.runId, askingOf(call));
      const body = { run: presentRun(run) };
      return { reply: 'ok', body, etag: bodyEtag(body) };
    },
    'fileImports.cancel': async (call) => {
      const asking = askingOf(call);
      const run = await sql.begin(async (tx) => {
        const { source } = await requireRun(tx, call.params.runId, asking);
        if (!asking.isAdmin) requireMine(source, asking);
        if ((await cancelRun(tx, call.params.runId, call.nowMs)) === null)
          throw new Failure('RUN_FINISHED', { hint: 'Start another one with …/sync.' });
        await audit(tx, call, entry('file_import.cancel', source, { run_id: call.params.runId }));
        return requireRun(tx, call.params.runId, asking);
      });
      onCancel(call.params.runId);
      return { reply: 'ok', body: { run: presentRun(run.run) } };
    },
  };
}

/** A folder of the workspace that the caller sees, kept until the transaction ends. Throws FOLDER_NOT_FOUND. */
async function requireTarget(tx: Queries, { principal, workspace }: MemberCall, id: FolderId): Promise<void> {
  try {
    await holdFolder(tx, principal, { workspaceId: workspace.id }, id);
  } catch (error) {
    throw error instanceof Failure && error.code === 'FOLDER_NOT_FOUND'
      ? new Failure('FOLDER_NOT_FOUND', { param: 'targetFolderId' })
      : error;
  }
}

/** Throws IMPORT_SOURCE_NOT_FOUND. */
async function requireSource(sql: Queries, id: ImportSourceId, asking: Asking): Promise<SourceRow> {
  const row = await readSource(sql, id, asking);
  if (row === null) throw new Failure('IMPORT_SOURCE_NOT_FOUND');
  return row;
}

/** Throws IMPORT_RUN_NOT_FOUND. */
async function requireRun(sql: Queries, id: ImportRunId, asking: Asking): Promise<SeenRun> {
  const seen = await readRun(sql, id, asking, LIMITS.importErrorsMax);
  if (seen === null) throw new Failure('IMPORT_RUN_NOT_FOUND');
  return seen;
}

/** Throws FORBIDDEN. */
function requireMine({ user_id }: SourceRow, { accounts }: Asking): void {
  if (!accounts.includes(user_id))
    throw new Failure('FORBIDDEN', {
      message: 'Only the person who made this source may do this: it goes by their access to the drive.',
      hint: 'Ask them to do it, or make a source of your own.',
    });
}

async function presented(sql: Queries, { accounts }: Asking, rows: readonly SourceRow[]) {
  const ids = rows.map(({ id }) => id);
  const runs = new Map((await lastRuns(sql, ids, LIMITS.importErrorsListedMax)).map((run) => [run.source_id, run]));
  return rows.map((row) => presentSource(row, accounts, runs.get(row.id)));
}

async function shown(sql: Queries, asking: Asking, row: SourceRow) {
  const [run] = await lastRuns(sql, [row.id], LIMITS.importErrorsListedMax);
  const body = presentSource(row, asking.accounts, run);
  // Of the source itself: that a run goes on does not keep somebody from changing it.
  const { lastRun, nextSyncAt: next, mine, connected, ...own } = body;
  const [version, view] = [own, { lastRun, next, mine, connected }].map((part) => bodyEtag(part).slice(1, -1));
  return { reply: 'ok', body, etag: `"${version}.${view}"` } as const;
}

function entry(action: string, { workspace_id, id, remote_name }: SourceRow, detail: Readonly<Record<string, unknown>>) {
  return { workspaceId: workspace_id, action, target: { type: 'file_import_source', id, name: remote_name }, detail };
}
