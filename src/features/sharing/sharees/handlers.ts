/** The endpoints of client organisations and their people. */
import type { z } from 'zod';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { externalMember, sharee } from '../../../../protocol/sharing/sharees.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { changeTimeMs } from '../../artifacts/artifacts/rules.ts';
import type { ServiceDeps } from '../../deps.ts';
import { type AuditedCall, audit } from '../../workspaces/audit/audit.ts';
import { endGrantsThrough } from '../grants/rows.ts';
import { accountsOfExternals, lockSharing, lockToShare, memberIdsOf, takeExternal } from './externals.ts';
import {
  countSharees,
  countShareesOf,
  deleteSharee,
  deleteShareeMember,
  insertSharee,
  insertShareeMember,
  listShareeMembers,
  listSharees,
  readShareeMember,
  requireSharee,
  requireShareeMember,
  type ShareeMemberRow,
  type ShareeRow,
  writeSharee,
} from './rows.ts';
import { requireRoom } from './rules.ts';
import { revokeExternalTokens, tellRevoked } from './tokens.ts';

type OrgIds = 'sharees.list' | 'sharees.create' | 'sharees.get' | 'sharees.update' | 'sharees.delete';
type MemberIds = 'sharees.members' | 'sharees.addMember' | 'sharees.removeMember';
export type ShareeDeps = Pick<ServiceDeps, 'sql' | 'bus' | 'clock'>;

export function shareeHandlers(deps: ShareeDeps): Handlers<OrgIds | MemberIds> {
  return { ...orgHandlers(deps), ...memberHandlers(deps) };
}

function orgHandlers({ sql, bus, clock }: ShareeDeps): Handlers<OrgIds> {
  return {
    'sharees.list': async ({ workspace, query }) => {
      const rows = await listSharees(sql, workspace.id, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countSharees(sql, workspace.id) } : {};
      return { reply: 'ok', body: { sharees: items.map(present), ...page, ...total } };
    },
    'sharees.create': async (call) => {
      const { workspace, user, nowMs, body } = call;
      const row = await sql.begin(async (tx) => {
        await lockToShare(tx, call, workspace.id);
        requireRoom(await countSharees(tx, workspace.id), LIMITS.shareesMax, 'client organisations in a workspace');
        const id = await insertSharee(tx, workspace.id, { name: body.name, type: body.type ?? null, createdBy: user, nowMs });
        const made = await requireSharee(tx, workspace.id, id);
        await record(tx, call, workspace.id, 'sharee.create', made, { type: made.type });
        return made;
      });
      return { reply: 'created', body: present(row) };
    },
    'sharees.get': async ({ workspace, params }) => reply(await requireSharee(sql, workspace.id, params.shareeId)),
    'sharees.update': async (call) => {
      const { workspace, params, body } = call;
      const row = await sql.begin(async (tx) => {
        await lockSharing(tx, call, workspace.id);
        const before = await requireSharee(tx, workspace.id, params.shareeId);
        checkConditions(stateOf(before), call);
        const { branding } = body;
        const next: ShareeRow = {
          ...before,
          name: body.name ?? before.name,
          type: body.type === undefined ? before.type : body.type,
          properties: body.properties === undefined ? before.properties : (body.properties as ShareeRow['properties']),
          logo: branding?.logo === undefined ? before.logo : branding.logo,
          color: branding?.color === undefined ? before.color : branding.color,
          updated_at_ms: changeTimeMs(before, clock.nowMs()),
        };
        await writeSharee(tx, next);
        await record(tx, call, workspace.id, 'sharee.update', next, { fields: Object.keys(body) });
        return next;
      });
      return reply(row);
    },
    'sharees.delete': async (call) => {
      const { workspace, params, nowMs } = call;
      const { accounts, ended } = await sql.begin(async (tx) => {
        await lockSharing(tx, call, workspace.id);
        const before = await requireSharee(tx, workspace.id, params.shareeId);
        checkConditions(stateOf(before), call);
        const accounts = await accountsOfExternals(tx, await memberIdsOf(tx, before.id));
        const ended = await revokeExternalTokens(tx, { shareeId: before.id }, nowMs);
        await deleteSharee(tx, before.id);
        await record(tx, call, workspace.id, 'sharee.delete', before, { members: before.member_count });
        return { accounts, ended };
      });
      if (accounts.length > 0) bus.tell({ kind: 'person.changed', userIds: accounts });
      tellRevoked(bus, ended);
      return { reply: 'ok', body: { success: true } };
    },
  };
}

function memberHandlers({ sql, bus }: ShareeDeps): Handlers<MemberIds> {
  return {
    'sharees.members': async ({ workspace, params, query }) => {
      const { id, member_count } = await requireSharee(sql, workspace.id, params.shareeId);
      const rows = await listShareeMembers(sql, id, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.added_at_ms, id: row.id }));
      return { reply: 'ok', body: { members: items.map(presentMember), ...page, ...(query.count && { total: member_count }) } };
    },
    'sharees.addMember': async (call) => {
      const { workspace, params, body, user, nowMs } = call;
      const { member, isNew, accounts } = await sql.begin(async (tx) => {
        await lockToShare(tx, call, workspace.id);
        const org = await requireSharee(tx, workspace.id, params.shareeId);
        const external = await takeExternal(tx, call, workspace.id, body.email);
        const known = await readShareeMember(tx, workspace.id, org.id, external.id);
        if (known !== null) return { member: known, isNew: false, accounts: [] };
        requireRoom(org.member_count, LIMITS.shareeMembersMax, 'people in a client organisation');
        requireRoom(await countShareesOf(tx, external.id), LIMITS.shareesPerExternalMax, 'client organisations of one person');
        await insertShareeMember(tx, org.id, external.id, user, nowMs);
        await record(tx, call, workspace.id, 'sharee.add_member', org, { email: external.email });
        const member = await requireShareeMember(tx, workspace.id, org.id, external.id);
        return { member, isNew: true, accounts: await accountsOfExternals(tx, [external.id]) };
      });
      if (accounts.length > 0) bus.tell({ kind: 'person.changed', userIds: accounts });
      return { reply: isNew ? 'created' : 'ok', body: presentMember(member) };
    },
    'sharees.removeMember': async (call) => {
      const { workspace, params, nowMs } = call;
      const { accounts, ended } = await sql.begin(async (tx) => {
        await lockSharing(tx, call, workspace.id);
        const member = await requireShareeMember(tx, workspace.id, params.shareeId, params.memberId);
        const accounts = await accountsOfExternals(tx, [member.id]);
        const ended = await revokeExternalTokens(tx, { shareeId: params.shareeId, externalId: member.id }, nowMs);
        await endGrantsThrough(tx, params.shareeId, member.id);
        await deleteShareeMember(tx, params.shareeId, member.id);
        const org = await requireSharee(tx, workspace.id, params.shareeId);
        await record(tx, call, workspace.id, 'sharee.remove_member', org, { email: member.email });
        return { accounts, ended };
      });
      if (accounts.length > 0) bus.tell({ kind: 'person.changed', userIds: accounts });
      tellRevoked(bus, ended);
      return { reply: 'ok', body: { success: true } };
    },
  };
}

function record(
  tx: Parameters<typeof audit>[0],
  call: AuditedCall,
  workspaceId: WorkspaceId,
  action: string,
  { id, name }: ShareeRow,
  detail: Readonly<Record<string, unknown>>,
): Promise<void> {
  return audit(tx, call, { workspaceId, action, target: { type: 'sharee', id, name }, detail });
}

function stateOf(row: ShareeRow) {
  return { etag: etagOf(row), updatedAtMs: row.updated_at_ms };
}

/** The number of its people is a view of it, which writes do not compare. */
function etagOf(row: ShareeRow): string {
  return `"${row.updated_at_ms.toString(36)}.${row.member_count}"`;
}

function reply(row: ShareeRow) {
  return { reply: 'ok', body: present(row), etag: etagOf(row) } as const;
}

function present(row: ShareeRow): z.input<typeof sharee> {
  const { id, name, type, member_count, logo, color, properties } = row;
  return {
    ...{ id, name, type, member_count, branding: { logo, color }, properties: properties as z.input<typeof sharee>['properties'] },
    ...{ created_at: dateTime(row.created_at_ms), updated_at: dateTime(row.updated_at_ms) },
  };
}

function presentMember({ id, email, name, has_account, added_at_ms }: ShareeMemberRow): z.input<typeof externalMember> {
  return { id, email, name, has_account, added_at: dateTime(added_at_ms) };
}
