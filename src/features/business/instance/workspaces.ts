/** The endpoints of `/v1/admin/workspaces`. */

import type { z } from 'zod';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { instanceWorkspace } from '../../../../protocol/business/instance-workspaces.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { contentDigest } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import type { Fact } from '../../../platform/bus.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { mailNotices } from '../../automation/notifications/notice-mails.ts';
import { addNotices } from '../../automation/notifications/notices.ts';
import type { Queries } from '../../deps.ts';
import { readLinked } from '../../people/persons/rows.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { listMemberIds } from '../../workspaces/members/rows.ts';
import { lockWorkspace } from '../../workspaces/workspaces/rows.ts';
import { allowanceOf, tierInForce } from '../tiers/rules.ts';
import { adminOf, lockAdmins } from './admins.ts';
import type { InstanceDeps } from './people.ts';
import { presentSuspension, verbOf } from './suspension.ts';
import {
  countInstanceWorkspaces,
  type InstanceWorkspaceRow,
  listArtifactsOf,
  listInstanceWorkspaces,
  readInstanceWorkspace,
  suspendWorkspace,
  unsuspendWorkspace,
  writePlan,
} from './workspace-rows.ts';

type Ids = 'instanceWorkspaces.list' | 'instanceWorkspaces.get' | 'instanceWorkspaces.update';
type Updating = Call<Endpoints['instanceWorkspaces.update']>;

export function instanceWorkspaceHandlers(deps: InstanceDeps): Handlers<Ids> {
  const { sql, bus } = deps;
  return {
    'instanceWorkspaces.list': async ({ query }) => {
      const filter = { q: query.q, planTier: query.plan_tier, suspended: query.suspended };
      const rows = await listInstanceWorkspaces(sql, filter, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countInstanceWorkspaces(sql, filter) } : {};
      return { reply: 'ok', body: { workspaces: items.map(present), ...page, ...total } };
    },
    'instanceWorkspaces.get': async ({ params }) => shown(await found(sql, params.workspaceId)),
    'instanceWorkspaces.update': async (call) => {
      const { row, facts } = await sql.begin((tx) => change(deps, tx, call));
      for (const fact of facts) bus.tell(fact);
      deps.mail.wake();
      return shown(row);
    },
  };
}

/** Throws WORKSPACE_NOT_FOUND. */
async function found(sql: Queries, ref: string): Promise<InstanceWorkspaceRow> {
  const row = await readInstanceWorkspace(sql, ref);
  if (row === null) throw new Failure('WORKSPACE_NOT_FOUND');
  return row;
}

interface Changed {
  readonly row: InstanceWorkspaceRow;
  readonly facts: readonly Fact[];
}

/** Throws WORKSPACE_NOT_FOUND, ADMIN_REQUIRED, VERSION_CONFLICT. */
async function change(deps: InstanceDeps, tx: Queries, call: Updating): Promise<Changed> {
  const { body, params } = call;
  await lockAdmins(tx, adminOf(call.principal).userId);
  const { id } = await found(tx, params.workspaceId);
  await lockWorkspace(tx, id);
  const before = await found(tx, id);
  checkConditions({ etag: shown(before).etag }, call);
  const { plan_tier = before.plan_tier, plan_status = before.plan_status } = body;
  if (plan_tier !== before.plan_tier || plan_status !== before.plan_status) {
    await writePlan(tx, id, { plan_tier, plan_status });
    const detail = { plan_tier: { from: before.plan_tier, to: plan_tier }, plan_status: { from: before.plan_status, to: plan_status } };
    await audit(tx, call, { ...targetOf(before), action: 'workspace.plan', detail });
  }
  const facts = body.suspended === undefined ? [] : await changeSuspension(deps, tx, call, before, body.suspended);
  return { row: await found(tx, id), facts: [{ kind: 'workspace.changed', workspaceId: id }, ...facts] };
}

async function changeSuspension(
  { config }: InstanceDeps,
  tx: Queries,
  call: Updating,
  before: InstanceWorkspaceRow,
  wanted: { readonly reason: string } | null,
): Promise<readonly Fact[]> {
  const { id, name } = before;
  const { nowMs } = call;
  if (wanted === null) await unsuspendWorkspace(tx, id);
  else if (wanted.reason !== before.suspended_reason)
    await suspendWorkspace(tx, id, { ...wanted, by: adminOf(call.principal).userId, nowMs });
  const verb = verbOf(before, wanted);
  if (verb === undefined) return [];
  await audit(tx, call, { ...targetOf(before), action: `workspace.${verb}`, detail: wanted ?? {} });
  const told =
    wanted === null
      ? { title: `The workspace ${name} can be used again`, body: 'An administrator has lifted its suspension. Everything is as it was.' }
      : {
          title: `The workspace ${name} has been suspended`,
          body: `An administrator of the installation gives this reason: ${wanted.reason}`,
        };
  const notices = before.owners.map((userId) => ({ userId, kind: `workspace.${verb}`, ...told, artifactId: null, url: null }));
  await mailNotices(tx, notices, { config, nowMs });
  const bell = await addNotices(tx, notices, nowMs);
  const members = await readLinked(tx, await listMemberIds(tx, id));
  const artifacts = await listArtifactsOf(tx, id);
  return [
    { kind: 'person.changed', userIds: members },
    { kind: 'folder.changed', workspaceId: id, ownerId: null },
    ...artifacts.map((artifact): Fact => ({ kind: 'artifact.changed', artifactId: artifact.id, slugs: [artifact.slug] })),
    bell,
  ];
}

function targetOf({ id, name }: InstanceWorkspaceRow) {
  return { workspaceId: id, target: { type: 'workspace', id, name } } as const;
}

type Shown = z.input<typeof instanceWorkspace>;

function present(row: InstanceWorkspaceRow): Shown {
  const { id, slug, name, plan_tier, plan_status, owners, members, artifacts, bytes } = row;
  return {
    ...{ id, slug, name, plan_tier, plan_status, suspended: presentSuspension(row), owners: [...owners], members, artifacts },
    ...{ bytes, bytes_max: allowanceOf(tierInForce(row)).bytesMax, created_at: dateTime(row.created_at_ms) },
  };
}

/** The version is what a change can set; the rest is the view. */
function shown(row: InstanceWorkspaceRow) {
  const body = present(row);
  const { plan_tier, plan_status, suspended } = body;
  const version = contentDigest(JSON.stringify([plan_tier, plan_status, suspended]));
  return { reply: 'ok', body, etag: `"${version}.${contentDigest(JSON.stringify(body))}"` } as const;
}
