/** The endpoints of `/v1/admin/people`. */

import type { z } from 'zod';
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import type { instancePerson } from '../../../../protocol/business/instance-people.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { contentDigest } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { mailNotices } from '../../automation/notifications/notice-mails.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { lockPerson } from '../../people/persons/rows.ts';
import type { SessionService } from '../../people/sessions/sessions.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { isBeingRemoved } from '../person-data/rows.ts';
import { allowanceOf } from '../tiers/rules.ts';
import { adminOf, lockAdmins, requireAnAdmin } from './admins.ts';
import {
  countPeople,
  listPeople,
  type PersonRow,
  readPerson,
  suspendPerson,
  unsuspendPerson,
  writeAdmin,
  writeStaff,
  writeTier,
} from './people-rows.ts';
import { presentSuspension, verbOf } from './suspension.ts';

export interface InstanceDeps extends Pick<ServiceDeps, 'sql' | 'bus' | 'config' | 'clock'> {
  readonly mail: { wake(): void };
}

type Ids = 'instancePeople.list' | 'instancePeople.get' | 'instancePeople.update' | 'instancePeople.signOut';
type Updating = Call<Endpoints['instancePeople.update']>;

export interface PeopleDeps extends InstanceDeps {
  readonly sessions: Pick<SessionService, 'endAll' | 'tell'>;
}

export function instancePeopleHandlers(deps: PeopleDeps): Handlers<Ids> {
  const { sql, bus, sessions } = deps;
  return {
    'instancePeople.list': async ({ query }) => {
      const { q, role, tier, suspended } = query;
      const filter = { q, role, tier, suspended };
      const rows = await listPeople(sql, filter, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countPeople(sql, filter) } : {};
      return { reply: 'ok', body: { people: items.map(present), ...page, ...total } };
    },
    'instancePeople.get': async ({ params }) => shown(await requirePerson(sql, params.userId)),
    'instancePeople.update': async (call) => {
      const row = await sql.begin((tx) => change(deps, tx, call));
      bus.tell({ kind: 'person.changed', userIds: [row.id, ...row.linked] });
      deps.mail.wake();
      return shown(row);
    },
    'instancePeople.signOut': async (call) => {
      const ended = await sql.begin(async (tx) => {
        await lockAdmins(tx, adminOf(call.principal).userId);
        await lockPerson(tx, call.params.userId);
        const person = await requirePerson(tx, call.params.userId);
        const all = await sessions.endAll(tx, [person.id, ...person.linked], null);
        if (all.length > 0) await audit(tx, call, { ...targetOf(person), action: 'person.sign_out', detail: { sessions: all.length } });
        return all;
      });
      sessions.tell(ended);
      return { reply: 'ok', body: { ended: ended.length } };
    },
  };
}

async function requirePerson(sql: Queries, id: UserId): Promise<PersonRow> {
  const row = await readPerson(sql, id);
  if (row === null) throw new Failure('USER_NOT_FOUND');
  return row;
}

/** Throws USER_NOT_FOUND, ADMIN_REQUIRED, LAST_ADMIN, SELF_SUSPENSION, DELETION_UNDER_WAY, VERSION_CONFLICT. */
async function change(deps: InstanceDeps, tx: Queries, call: Updating): Promise<PersonRow> {
  const { body, params } = call;
  const caller = adminOf(call.principal);
  await lockAdmins(tx, caller.userId);
  await lockPerson(tx, params.userId);
  const before = await requirePerson(tx, params.userId);
  checkConditions({ etag: shown(before).etag }, call);
  const changed: Record<string, unknown> = {};
  if (body.tier !== undefined && body.tier !== before.tier) {
    await writeTier(tx, before.id, body.tier);
    changed.tier = { from: before.tier, to: body.tier };
  }
  if (body.is_staff !== undefined && body.is_staff !== before.is_staff) {
    await writeStaff(tx, before, body.is_staff);
    changed.is_staff = { from: before.is_staff, to: body.is_staff };
  }
  if (body.is_admin !== undefined && body.is_admin !== before.is_admin) {
    await writeAdmin(tx, before, body.is_admin);
    changed.is_admin = { from: before.is_admin, to: body.is_admin };
  }
  if (body.suspended !== undefined) await changeSuspension(deps, tx, call, before, body.suspended);
  await requireAnAdmin(tx);
  const target = targetOf(before);
  if (Object.keys(changed).length > 0) await audit(tx, call, { ...target, action: 'person.update', detail: changed });
  return requirePerson(tx, before.id);
}

async function changeSuspension(
  { config }: InstanceDeps,
  tx: Queries,
  call: Updating,
  before: PersonRow,
  wanted: { readonly reason: string } | null,
): Promise<void> {
  const { nowMs } = call;
  const caller = adminOf(call.principal);
  if (wanted !== null && caller.person.accounts.has(before.id)) throw new Failure('SELF_SUSPENSION', { param: 'suspended' });
  if (wanted === null && (await isBeingRemoved(tx, before.id)))
    throw new Failure('DELETION_UNDER_WAY', { param: 'suspended', hint: 'A removal that has begun goes on to its end.' });
  if (wanted === null) await unsuspendPerson(tx, before);
  else if (wanted.reason !== before.suspended_reason) await suspendPerson(tx, before, { ...wanted, by: caller.userId, nowMs });
  const verb = verbOf(before, wanted);
  if (verb === undefined) return;
  const detail = wanted === null ? {} : { reason: wanted.reason, public_pages: before.public_pages };
  await audit(tx, call, { ...targetOf(before), action: `person.${verb}`, detail });
  const told =
    wanted === null
      ? { title: 'Your account can be used again', body: 'An administrator has lifted its suspension. Everything is as you left it.' }
      : { title: 'Your account has been suspended', body: `An administrator of the installation gives this reason: ${wanted.reason}` };
  // By mail alone: the bell cannot be opened.
  await mailNotices(tx, [{ userId: before.id, kind: `account.${verb}`, ...told, artifactId: null, url: null }], { config, nowMs });
}

function targetOf({ id, name, username, email }: PersonRow) {
  return { workspaceId: null, target: { type: 'person', id, name: name || username || email } } as const;
}

type Person = z.input<typeof instancePerson>;

function present(row: PersonRow): Person {
  const { id, username, name, email, linked, tier, is_admin, is_staff, workspaces, artifacts, public_pages, bytes } = row;
  return {
    ...{ id, username, name, email, linked: [...linked], tier, is_admin, is_staff },
    suspended: presentSuspension(row),
    created_at: dateTime(row.created_at_ms),
    last_seen_at: row.last_seen_at_ms === null ? null : dateTime(row.last_seen_at_ms),
    ...{ workspaces, artifacts, public_pages, bytes, bytes_max: allowanceOf(tier).bytesMax },
  };
}

/** The version is what a change can set; use and contents, which change by themselves, are the view. */
function shown(row: PersonRow) {
  const body = present(row);
  const { tier, is_admin, is_staff, suspended } = body;
  const version = contentDigest(JSON.stringify([tier, is_admin, is_staff, suspended]));
  return { reply: 'ok', body, etag: `"${version}.${contentDigest(JSON.stringify(body))}"` } as const;
}
