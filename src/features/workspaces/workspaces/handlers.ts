/** The endpoints of workspaces themselves. Members, invitations, policy and features have their own folders. */
import type { z } from 'zod';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { newWorkspace, workspaceUpdate } from '../../../../protocol/workspaces/workspaces.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { violates } from '../../../storage/pg-errors.ts';
import { changeTimeMs } from '../../artifacts/artifacts/rules.ts';
import { freeSlugOf, requireSlug, slugify } from '../../artifacts/artifacts/slugs.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { tierOf } from '../../people/accounts/rows.ts';
import { type Accounts, accountsOf } from '../../people/accounts/rules.ts';
import { lockPerson } from '../../people/persons/rows.ts';
import { type AuditedCall, audit } from '../audit/audit.ts';
import { insertMember, requireActor } from '../members/rows.ts';
import { workspaceEtag, workspaceState } from './conditions.ts';
import { type DeleteDeps, endWorkspace } from './end.ts';
import { presentWorkspace } from './present.ts';
import {
  countWorkspaces,
  insertWorkspace,
  isSlugTaken,
  listWorkspaces,
  lockWorkspace,
  type ShownWorkspace,
  showWorkspace,
  writeWorkspace,
} from './rows.ts';
import { changedFields, differences, requireRoomForWorkspace } from './rules.ts';

type Ids = 'workspaces.list' | 'workspaces.create' | 'workspaces.get' | 'workspaces.update' | 'workspaces.delete';
type Deps = Pick<ServiceDeps, 'bus' | 'config'> & DeleteDeps;
type PersonCall = AuditedCall & { readonly user: UserId };

export function workspaceHandlers(deps: Deps): Handlers<Ids> {
  const { sql, bus } = deps;
  return {
    'workspaces.list': async ({ principal, query }) => {
      const accounts = accountsOf(principal);
      const rows = await listWorkspaces(sql, accounts, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.joined_at_ms, id: row.id }));
      const total = query.count ? { total: (await countWorkspaces(sql, accounts)).all } : {};
      return { reply: 'ok', body: { workspaces: items.map(presentWorkspace), ...page, ...total } };
    },
    'workspaces.create': async (call) => {
      const accounts = accountsOf(call.principal);
      const id = await sql
        .begin((tx) => makeWorkspace(tx, deps, call, call.body))
        .catch((error) => {
          throw violates(error, 'workspace_slug') ? new Failure('WORKSPACE_SLUG_TAKEN', { param: 'slug' }) : error;
        });
      bus.tell({ kind: 'person.changed', userIds: accounts });
      return { reply: 'created', body: presentWorkspace(await showWorkspace(sql, id, accounts)) };
    },
    'workspaces.get': async ({ principal, workspace }) => {
      const row = await showWorkspace(sql, workspace.id, accountsOf(principal));
      // An agent is a member of its workspace without being a person in it.
      return shown(principal.kind === 'agent' ? { ...row, role: workspace.role } : row);
    },
    'workspaces.update': async (call) => {
      const { id } = call.workspace;
      if (call.body.slug !== undefined) requireSlug(call.body.slug);
      const row = await sql
        .begin((tx) => changeWorkspace(tx, call, id, call.body))
        .catch((error) => {
          throw violates(error, 'workspace_slug') ? new Failure('WORKSPACE_SLUG_TAKEN', { param: 'slug' }) : error;
        });
      bus.tell({ kind: 'workspace.changed', workspaceId: id });
      return shown(row);
    },
    'workspaces.delete': (call) => endWorkspace(deps, call, call.workspace.id, call.query.confirm),
  };
}

function shown(row: ShownWorkspace) {
  const body = presentWorkspace(row);
  return { reply: 'ok', body, etag: workspaceEtag(row, body) } as const;
}

async function makeWorkspace(
  tx: Queries,
  { config }: Pick<Deps, 'config'>,
  call: PersonCall,
  body: z.output<typeof newWorkspace>,
): Promise<WorkspaceId> {
  const { user, nowMs } = call;
  if (body.slug !== undefined) requireSlug(body.slug);
  // Locked, so that workspaces that are made together cannot exceed the maximum.
  await lockPerson(tx, user);
  requireRoomForWorkspace(await countWorkspaces(tx, accountsOf(call.principal)), true, await tierOf(tx, user));
  const slug = body.slug ?? (await freeSlugOf(slugify(body.name), (slug) => isSlugTaken(tx, slug)));
  const { name, description = null, locale = 'en' } = body;
  const id = await insertWorkspace(tx, { slug, name, description, locale, tier: config.DEFAULT_TIER, createdBy: user, nowMs });
  if (id === null) throw new Failure('WORKSPACE_SLUG_TAKEN', { param: 'slug' });
  await insertMember(tx, { workspaceId: id, userId: user, role: 'owner', addedBy: null, nowMs });
  await audit(tx, call, { workspaceId: id, action: 'workspace.create', target: { type: 'workspace', id, name }, detail: { slug } });
  return id;
}

async function changeWorkspace(
  tx: Queries,
  call: PersonCall & Parameters<typeof checkConditions>[1],
  id: WorkspaceId,
  change: z.output<typeof workspaceUpdate>,
): Promise<ShownWorkspace> {
  const accounts: Accounts = accountsOf(call.principal);
  await lockWorkspace(tx, id);
  await requireActor(tx, call, id, 'admin');
  const before = await showWorkspace(tx, id, accounts);
  checkConditions(workspaceState(before), call);
  const fields = changedFields(before, change);
  await writeWorkspace(tx, id, fields, changeTimeMs(before, call.nowMs));
  const target = { type: 'workspace', id, name: before.name };
  await audit(tx, call, { workspaceId: id, action: 'workspace.update', target, detail: differences(before, fields) });
  return showWorkspace(tx, id, accounts);
}
