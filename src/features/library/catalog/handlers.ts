/** The endpoints of the catalog. */
import { administers, type Principal } from '../../../../actors/access/access.ts';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { type CatalogEntryId, newId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { viewerOf } from '../../artifacts/artifacts/lists.ts';
import { isEnabled, requireAllowed } from '../../business/tiers/rules.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { type AuditedCall, audit } from '../../workspaces/audit/audit.ts';
import { requireActor, requireMember } from '../../workspaces/members/rows.ts';
import type { WorkspaceDirectory } from '../../workspaces/workspaces/directory.ts';
import { lockWorkspace } from '../../workspaces/workspaces/rows.ts';
import { readLineage } from './lineage.ts';
import { tellOwner } from './notices.ts';
import {
  type Catalog,
  countEntries,
  countFacets,
  countWritten,
  deleteCatalog,
  deleteEntry,
  type EntryRow,
  hasCatalog,
  insertCatalog,
  listEntries,
  lockCatalog,
  readEntry,
  type Wanted,
  writeEntry,
} from './rows.ts';
import { changedEntry, etagOf, givesAway, presentEntry, presentFacets, presentListed, requireRoomForEntry, wordsOf } from './rules.ts';

type Ids = Extract<keyof Endpoints, `catalog.${string}`>;

export type CatalogDeps = Pick<ServiceDeps, 'sql' | 'bus'> & { readonly workspaces: WorkspaceDirectory };

const EVERYTHING: Wanted = { words: [], kind: null, domain: null, tag: null };
const NOTHING = { has_more: false, next_cursor: null, entries: [], facets: { kinds: [], domains: [], tags: [] } };

export function catalogHandlers(deps: CatalogDeps): Handlers<Ids> {
  const { sql } = deps;
  return {
    'catalog.list': async ({ workspace, principal, query }) => {
      const available = await isAvailable(deps, workspace.id);
      const enabled = available && (await hasCatalog(sql, workspace.id));
      if (!enabled) return { reply: 'ok', body: { enabled, available, ...NOTHING, ...(query.count && { total: 0 }) } };
      const { q, kind = null, domain = null, tag = null, limit, cursor, count } = query;
      const catalog = catalogOf(workspace.id, principal);
      const wanted = { words: wordsOf(q), kind, domain, tag };
      const rows = await listEntries(sql, catalog, wanted, decodeCursor(cursor), limit + 1);
      const facets = presentFacets(await countFacets(sql, catalog, wanted));
      const { items, page } = cutPage(rows, limit, (row) => ({ number: row.updated_at_ms, id: row.id }));
      const total = count ? { total: await countEntries(sql, catalog, wanted) } : {};
      return { reply: 'ok', body: { enabled, available, entries: items.map(presentListed), facets, ...page, ...total } };
    },
    'catalog.enable': async (call) => {
      const { workspace, principal, user, nowMs } = call;
      await sql.begin(async (tx) => {
        const row = await lockWorkspace(tx, workspace.id);
        requireAllowed(row, 'catalog');
        if (!(await insertCatalog(tx, workspace.id, user, nowMs))) return;
        const target = { type: 'workspace', id: workspace.id, name: row.name };
        await audit(tx, call, { workspaceId: workspace.id, action: 'catalog.enable', target });
      });
      const found = await countEntries(sql, catalogOf(workspace.id, principal), EVERYTHING);
      return { reply: 'ok', body: { enabled: true, entries: found } };
    },
    'catalog.disable': async (call) => {
      const { workspace } = call;
      await sql.begin(async (tx) => {
        const { name } = await lockWorkspace(tx, workspace.id);
        if (!(await deleteCatalog(tx, workspace.id))) return;
        await audit(tx, call, {
          workspaceId: workspace.id,
          action: 'catalog.disable',
          target: { type: 'workspace', id: workspace.id, name },
        });
      });
      return { reply: 'ok', body: { enabled: false } };
    },
    'catalog.create': async (call) => ({ reply: 'created', body: presentEntry(await create(deps, call)) }),
    'catalog.get': async ({ workspace, principal, params }) =>
      shown(await requireEntry(deps, catalogOf(workspace.id, principal), params.entryId)),
    'catalog.update': async (call) => shown(await update(deps, call)),
    'catalog.delete': async (call) => {
      const { workspace, principal, params } = call;
      await requireEnabled(deps, sql, workspace.id);
      await sql.begin(async (tx) => {
        await lockCatalog(tx, workspace.id);
        await requireCatalog(tx, workspace.id);
        const row = await requireEntryIn(tx, catalogOf(workspace.id, principal), params.entryId);
        checkConditions({ etag: etagOf(row), updatedAtMs: row.updated_at_ms }, call);
        requireMayDelete(row, principal, administers(workspace.role));
        await deleteEntry(tx, workspace.id, row.id);
        await recorded(tx, call, workspace.id, 'catalog.delete', row);
      });
      return { reply: 'ok', body: { success: true } };
    },
    'catalog.lineage': async ({ workspace, principal, params }) => {
      const catalog = catalogOf(workspace.id, principal);
      const entry = await requireEntry(deps, catalog, params.entryId);
      return { reply: 'ok', body: await readLineage(sql, catalog, entry) };
    },
  };
}

function catalogOf(workspaceId: WorkspaceId, principal: Principal): Catalog {
  return { workspaceId, viewer: viewerOf(principal) };
}

/** Whether the plan of the workspace has a catalog. */
async function isAvailable({ workspaces }: CatalogDeps, id: WorkspaceId): Promise<boolean> {
  const row = await workspaces.get(id);
  return row !== null && isEnabled(row, 'catalog');
}

/** Throws CATALOG_NOT_ENABLED. */
async function requireEnabled(deps: CatalogDeps, sql: Queries, id: WorkspaceId): Promise<void> {
  if (!(await isAvailable(deps, id)) || !(await hasCatalog(sql, id))) throw new Failure('CATALOG_NOT_ENABLED');
}

/** Throws CATALOG_NOT_ENABLED, CATALOG_ENTRY_NOT_FOUND. */
async function requireEntry(deps: CatalogDeps, catalog: Catalog, id: CatalogEntryId): Promise<EntryRow> {
  await requireEnabled(deps, deps.sql, catalog.workspaceId);
  return requireEntryIn(deps.sql, catalog, id);
}

/** Whether there is still a catalog, inside of a transaction: what the plan gives is read on another connection, before it. */
async function requireCatalog(tx: Queries, id: WorkspaceId): Promise<void> {
  if (!(await hasCatalog(tx, id))) throw new Failure('CATALOG_NOT_ENABLED');
}

/** Throws CATALOG_ENTRY_NOT_FOUND. */
async function requireEntryIn(sql: Queries, catalog: Catalog, id: CatalogEntryId): Promise<EntryRow> {
  const row = await readEntry(sql, catalog, id);
  if (row === null) throw new Failure('CATALOG_ENTRY_NOT_FOUND');
  return row;
}

/** Throws CATALOG_NOT_ENABLED, CATALOG_LIMIT_EXCEEDED. */
async function create(deps: CatalogDeps, call: Call<Endpoints['catalog.create']>): Promise<EntryRow> {
  const { workspace, principal, user, body, nowMs } = call;
  await requireEnabled(deps, deps.sql, workspace.id);
  return deps.sql.begin(async (tx) => {
    await lockCatalog(tx, workspace.id);
    await requireCatalog(tx, workspace.id);
    requireRoomForEntry(await countWritten(tx, workspace.id));
    const id = newId('catalogEntry');
    const { name, domain = null, tags = [], description = '', fields = [] } = body;
    const fieldNotes = fields.map(({ name: of, type = '', description: says = '' }) => ({ name: of, type, description: says }));
    const of = { artifactId: null, thing: null, connectionId: null };
    await writeEntry(tx, workspace.id, { id, kind: 'note', ...of, name, domain, tags, description, fieldNotes }, user, nowMs);
    const row = await requireEntryIn(tx, catalogOf(workspace.id, principal), id);
    await recorded(tx, call, workspace.id, 'catalog.create', row);
    return row;
  });
}

/** Throws CATALOG_NOT_ENABLED, CATALOG_ENTRY_NOT_FOUND, CATALOG_LIMIT_EXCEEDED, USER_NOT_FOUND, FORBIDDEN, VERSION_CONFLICT, INVALID_REQUEST. */
async function update(deps: CatalogDeps, call: Call<Endpoints['catalog.update']>): Promise<EntryRow> {
  const { workspace, principal, user, params, body, nowMs } = call;
  const catalog = catalogOf(workspace.id, principal);
  await requireEnabled(deps, deps.sql, workspace.id);
  const { row, facts } = await deps.sql.begin(async (tx) => {
    await lockCatalog(tx, workspace.id);
    await requireCatalog(tx, workspace.id);
    const before = await requireEntryIn(tx, catalog, params.entryId);
    checkConditions({ etag: etagOf(before), updatedAtMs: before.updated_at_ms }, call);
    if (before.written_at_ms === 0) requireRoomForEntry(await countWritten(tx, workspace.id));
    const written = changedEntry(before, body);
    const isGiven = givesAway(before, body);
    if (isGiven) await requireMayGive(tx, call, before);
    const noteOwner = isGiven ? (body.owner?.id ?? null) : before.owner_id;
    await writeEntry(tx, workspace.id, written, before.kind === 'note' ? noteOwner : user, nowMs);
    const row = await requireEntryIn(tx, catalog, params.entryId);
    const changed = Object.keys(body).filter((field) => field !== 'owner');
    if (changed.length > 0 || !isGiven) await recorded(tx, call, workspace.id, 'catalog.update', row, { changed });
    if (!isGiven) return { row, facts: [] };
    await recorded(tx, call, workspace.id, 'catalog.transfer', row, { from: before.owner_id, to: row.owner_id });
    return { row, facts: [await tellOwner(tx, workspace.id, row, { accounts: accountsOf(principal), nowMs })] };
  });
  for (const fact of facts) deps.bus.tell(fact);
  return row;
}

/** Throws WORKSPACE_NOT_FOUND, FORBIDDEN, USER_NOT_FOUND where the new owner is no member. */
async function requireMayGive(tx: Queries, call: Call<Endpoints['catalog.update']>, { owner_id }: EntryRow): Promise<void> {
  const { workspace, principal, body } = call;
  const role = await requireActor(tx, call, workspace.id, 'member');
  if (!administers(role) && (owner_id === null || !accountsOf(principal).includes(owner_id)))
    throw new Failure('FORBIDDEN', { message: 'A note is given away by its owner, or by an owner or admin of the workspace.' });
  if (body.owner) await requireMember(tx, workspace.id, body.owner.id);
}

/** Throws FORBIDDEN. */
function requireMayDelete({ kind, owner_id }: EntryRow, principal: Principal, isAdministrator: boolean): void {
  if (kind !== 'note') {
    const message = `The entry goes with the ${kind} that it describes.`;
    throw new Failure('FORBIDDEN', { message, hint: 'Remove its description, tags and domain with a PATCH.' });
  }
  if (isAdministrator || (owner_id !== null && accountsOf(principal).includes(owner_id))) return;
  throw new Failure('FORBIDDEN', { message: 'A note is deleted by its owner, or by an owner or admin of the workspace.' });
}

async function recorded(
  tx: Queries,
  call: AuditedCall,
  workspaceId: WorkspaceId,
  action: string,
  { id, name, kind }: EntryRow,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await audit(tx, call, { workspaceId, action, target: { type: 'catalog_entry', id, name }, detail: { kind, ...detail } });
}

function shown(row: EntryRow) {
  return { reply: 'ok', body: presentEntry(row), etag: etagOf(row) } as const;
}
