/** The endpoints of `/v1/admin/artifacts`. */
import type { z } from 'zod';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { instanceArtifact } from '../../../../protocol/business/instance-artifacts.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { contentDigest } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import type { Fact } from '../../../platform/bus.ts';
import { type Config, pageUrl } from '../../../platform/config.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { lockRow } from '../../artifacts/artifacts/rows.ts';
import { mailNotices } from '../../automation/notifications/notice-mails.ts';
import { addNotices } from '../../automation/notifications/notices.ts';
import type { Queries } from '../../deps.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { adminOf, lockAdmins } from './admins.ts';
import {
  countInstanceArtifacts,
  type InstanceArtifactRow,
  listInstanceArtifacts,
  readInstanceArtifact,
  suspendArtifact,
  unsuspendArtifact,
} from './artifact-rows.ts';
import type { InstanceDeps } from './people.ts';
import { presentSuspension, verbOf } from './suspension.ts';
import { readInstanceWorkspace } from './workspace-rows.ts';

type Ids = 'instanceArtifacts.list' | 'instanceArtifacts.get' | 'instanceArtifacts.update';
type Updating = Call<Endpoints['instanceArtifacts.update']>;

export function instanceArtifactHandlers(deps: InstanceDeps): Handlers<Ids> {
  const { sql, bus, config } = deps;
  return {
    'instanceArtifacts.list': async ({ query }) => {
      const filter = { q: query.q, ownerId: query.owner_id, suspended: query.suspended };
      const rows = await listInstanceArtifacts(sql, filter, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countInstanceArtifacts(sql, filter) } : {};
      return { reply: 'ok', body: { artifacts: items.map((row) => present(config, row)), ...page, ...total } };
    },
    'instanceArtifacts.get': async ({ params }) => shown(config, await found(sql, params.id)),
    'instanceArtifacts.update': async (call) => {
      const { row, bell } = await sql.begin((tx) => change(deps, tx, call));
      bus.tell({ kind: 'artifact.changed', artifactId: row.id, slugs: [row.slug] });
      if (bell !== undefined) bus.tell(bell);
      deps.mail.wake();
      return shown(config, row);
    },
  };
}

/** Throws ARTIFACT_NOT_FOUND. */
async function found(sql: Queries, id: ArtifactId): Promise<InstanceArtifactRow> {
  const row = await readInstanceArtifact(sql, id);
  if (row === null) throw new Failure('ARTIFACT_NOT_FOUND');
  return row;
}

/** Throws ARTIFACT_NOT_FOUND, ADMIN_REQUIRED, VERSION_CONFLICT. */
async function change(
  deps: InstanceDeps,
  tx: Queries,
  call: Updating,
): Promise<{ readonly row: InstanceArtifactRow; readonly bell?: Fact }> {
  const { id } = call.params;
  const { nowMs, body } = call;
  const caller = adminOf(call.principal);
  await lockAdmins(tx, caller.userId);
  await lockRow(tx, id);
  const before = await found(tx, id);
  checkConditions({ etag: shown(deps.config, before).etag, updatedAtMs: before.updated_at_ms }, call);
  const wanted = body.suspended;
  if (wanted === undefined) return { row: before };
  if (wanted === null && before.suspended_at_ms !== null) await unsuspendArtifact(tx, id, nowMs);
  else if (wanted !== null && wanted.reason !== before.suspended_reason)
    await suspendArtifact(tx, id, { ...wanted, by: caller.userId, nowMs });
  const verb = verbOf(before, wanted);
  const row = await found(tx, id);
  if (verb === undefined) return { row };
  const target = { type: 'artifact', id, name: before.name };
  await audit(tx, call, { workspaceId: before.workspace_id, action: `artifact.${verb}`, target, detail: wanted ?? {} });
  return { row, bell: await tell(deps, tx, before, wanted, nowMs) };
}

/** Its owner, or those who own its workspace. */
async function tell(
  { config }: InstanceDeps,
  tx: Queries,
  { owner_id, workspace_id, name, slug }: InstanceArtifactRow,
  wanted: { readonly reason: string } | null,
  nowMs: number,
): Promise<Fact> {
  const workspace = owner_id !== null || workspace_id === null ? null : await readInstanceWorkspace(tx, workspace_id);
  const owners = owner_id === null ? (workspace?.owners ?? []) : [owner_id];
  const said =
    wanted === null
      ? { title: `${name} can be used again`, body: `An administrator has lifted the suspension of ${slug}. Everything is as it was.` }
      : {
          title: `${name} has been suspended`,
          body: `Nobody can open ${slug} or use its data. An administrator of the installation gives this reason: ${wanted.reason}`,
        };
  // Not tied to the artifact: who may not use it would not see the notice.
  const kind = wanted === null ? 'artifact.unsuspend' : 'artifact.suspend';
  const notices = owners.map((userId) => ({ userId, kind, ...said, artifactId: null, url: null }));
  await mailNotices(tx, notices, { config, nowMs });
  return addNotices(tx, notices, nowMs);
}

type Shown = z.input<typeof instanceArtifact>;

function present(config: Pick<Config, 'baseUrl' | 'contentHost'>, row: InstanceArtifactRow): Shown {
  const { id, slug, name, visibility, owner_id, owner_name, owner_email, workspace_id } = row;
  return {
    ...{ id, slug, name, visibility, url: pageUrl(config, slug) },
    owner: owner_id === null ? null : { id: owner_id, name: owner_name, email: owner_email },
    ...{ workspace_id, suspended: presentSuspension(row) },
    created_at: dateTime(row.created_at_ms),
    updated_at: dateTime(row.updated_at_ms),
    deleted_at: row.deleted_at_ms === null ? null : dateTime(row.deleted_at_ms),
  };
}

/** The version is what a change can set; the rest is the view. */
function shown(config: Pick<Config, 'baseUrl' | 'contentHost'>, row: InstanceArtifactRow) {
  const body = present(config, row);
  const version = contentDigest(JSON.stringify(body.suspended));
  return { reply: 'ok', body, etag: `"${version}.${contentDigest(JSON.stringify(body))}"` } as const;
}
