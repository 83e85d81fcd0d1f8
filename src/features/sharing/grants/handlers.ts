/** The endpoints of grants, and of what is shared with the caller. */
import type { z } from 'zod';
import { NO_GRANTS } from '../../../../actors/access/access.ts';
import type { Conditions } from '../../../../actors/json/json-conditions.ts';
import type { ArtifactId, ExternalId } from '../../../../protocol/core/ids.ts';
import type { PlannedChange } from '../../../../protocol/sharing/explain.ts';
import type { grant, sharedItem } from '../../../../protocol/sharing/grants.ts';
import type { Handlers } from '../../../edge/call.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { queueMail } from '../../../mail/outbox.ts';
import { composeMail } from '../../../mail/templates/compose.ts';
import { localeOf } from '../../../mail/templates/message.ts';
import { type Config, pageUrl } from '../../../platform/config.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { Queries, ServiceDeps } from '../../deps.ts';
import { contentUrl } from '../../library/assets/present.ts';
import { readShownName } from '../../people/accounts/rows.ts';
import { readLocale } from '../../people/persons/rows.ts';
import { expiryOf } from '../../people/tokens/rules.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import type { WorkspaceRow } from '../../workspaces/workspaces/rows.ts';
import { checkSimulated, requireNoOther } from '../explain/revision.ts';
import { accountsOfExternals, lockSharing, lockToShare, memberIdsOf, type SharingCall, takeExternal } from '../sharees/externals.ts';
import { grantIn, resourceOf, subjectOf } from './granting.ts';
import {
  countGrants,
  countShared,
  deleteGrant,
  type GrantRow,
  listGrants,
  listShared,
  type Resource,
  requireGrant,
  type SharedRow,
} from './rows.ts';

type Ids = 'grants.list' | 'grants.create' | 'grants.delete' | 'grants.sharePerson' | 'shared.list';
export type GrantDeps = Pick<ServiceDeps, 'sql' | 'bus' | 'config'> & { readonly mail: { wake(): void } };

export function grantHandlers(deps: GrantDeps): Handlers<Ids> {
  return { ...changingHandlers(deps), ...readingHandlers(deps) };
}

type ReadingIds = 'grants.list' | 'shared.list';

function readingHandlers({ sql, config }: GrantDeps): Handlers<ReadingIds> {
  return {
    'grants.list': async ({ workspace, query }) => {
      const rows = await listGrants(sql, workspace.id, query, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countGrants(sql, workspace.id, query) } : {};
      return { reply: 'ok', body: { grants: items.map(presentGrant), ...page, ...total } };
    },
    'shared.list': async ({ principal, query }) => {
      const grants = principal.kind === 'user' ? principal.person.grants : NO_GRANTS;
      const rows = await listShared(sql, grants, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.created_at_ms, id: row.id }));
      const total = query.count ? { total: await countShared(sql, grants) } : {};
      return { reply: 'ok', body: { shared: items.map((row) => presentShared(row, config)), ...page, ...total } };
    },
  };
}

function changingHandlers({ sql, bus, config, mail }: GrantDeps): Handlers<Exclude<Ids, ReadingIds>> {
  return {
    'grants.create': async (call) => {
      const { workspace, body, nowMs } = call;
      const expiresAtMs = expiryOf(body.expires_at, nowMs);
      const granted = await sql.begin(async (tx) => {
        const { subject_type, subject_id, capability } = body;
        const plan = { subject_type, subject_id, capability, expires_at: body.expires_at };
        await requireSimulated(tx, call, body, { grant: plan });
        await lockToShare(tx, call, workspace.id);
        const subject = await subjectOf(tx, workspace.id, body.subject_type, body.subject_id);
        const resource = await resourceOf(tx, workspace.id, body.resource_type, body.resource_id, body.capability);
        return grantIn(tx, call, { workspaceId: workspace.id, subject, resource, capability: body.capability, expiresAtMs });
      });
      if (granted.accounts.length > 0) bus.tell({ kind: 'person.changed', userIds: granted.accounts });
      return { reply: granted.isNew ? 'created' : 'ok', body: presentGrant(granted.row) };
    },
    'grants.sharePerson': async (call) => {
      const { workspace, body, nowMs } = call;
      const expiresAtMs = expiryOf(body.expires_at, nowMs);
      const granted = await sql.begin(async (tx) => {
        const { capability, expires_at } = body;
        await requireSimulated(tx, call, body, { grant: { email: body.email, capability, expires_at } });
        const row = await lockToShare(tx, call, workspace.id);
        const resource = await resourceOf(tx, workspace.id, body.resource_type, body.resource_id, body.capability);
        const { id, email } = await takeExternal(tx, call, workspace.id, body.email);
        const subject = { type: 'external_user', id, name: email } as const;
        const done = await grantIn(tx, call, { workspaceId: workspace.id, subject, resource, capability: body.capability, expiresAtMs });
        if (done.isNew) await invite(tx, config, call, row, email, resource);
        return done;
      });
      if (granted.accounts.length > 0) bus.tell({ kind: 'person.changed', userIds: granted.accounts });
      if (granted.isNew) mail.wake();
      return { reply: granted.isNew ? 'created' : 'ok', body: presentGrant(granted.row) };
    },
    'grants.delete': async (call) => {
      const { workspace, params } = call;
      const accounts = await sql.begin(async (tx) => {
        await requireEndSimulated(tx, call, presentGrant(await requireGrant(tx, workspace.id, params.grantId)));
        await lockSharing(tx, call, workspace.id);
        const row = await requireGrant(tx, workspace.id, params.grantId);
        await deleteGrant(tx, row.id);
        const { subject_id, subject_name: subject, resource_type: type, resource_id: id, resource_name: name } = presentGrant(row);
        const detail = { grant_id: row.id, subject_id, subject, capability: row.capability };
        await audit(tx, call, { workspaceId: workspace.id, action: 'grant.delete', target: { type, id, name }, detail });
        return accountsOfExternals(tx, await externalsOf(tx, row));
      });
      if (accounts.length > 0) bus.tell({ kind: 'person.changed', userIds: accounts });
      return { reply: 'ok', body: { success: true } };
    },
  };
}

async function externalsOf(tx: Queries, { sharee_id, external_id }: GrantRow): Promise<ExternalId[]> {
  if (sharee_id !== null) return memberIdsOf(tx, sharee_id);
  return external_id === null ? [] : [external_id];
}

/** Only what is done with an artifact can be simulated. Throws INVALID_REQUEST, VERSION_CONFLICT. */
async function requireSimulated(
  tx: Queries,
  call: SharingCall & Conditions,
  { resource_type, resource_id }: { readonly resource_type: string; readonly resource_id: string },
  plan: PlannedChange,
): Promise<void> {
  const isArtifact = resource_type === 'artifact';
  requireNoOther(isArtifact ? await checkSimulated(tx, call, resource_id as ArtifactId, plan, call.nowMs) : call);
}

/** Throws what `requireSimulated` throws. */
function requireEndSimulated(tx: Queries, call: SharingCall & Conditions, shared: z.input<typeof grant>): Promise<void> {
  const { subject_type, subject_id } = shared;
  return requireSimulated(tx, call, shared, { grant: { subject_type, subject_id, capability: null, expires_at: undefined } });
}

async function invite(
  tx: Queries,
  config: Config,
  { user, nowMs }: SharingCall,
  workspace: WorkspaceRow,
  recipient: string,
  resource: Resource,
): Promise<void> {
  const by = (await readShownName(tx, user))?.name ?? null;
  // A file's own address is that of its bytes, which nobody opens without being signed in.
  const elsewhere = resource.type === 'file' ? `${config.baseUrl}/my/shared` : config.baseUrl;
  const url = resource.type === 'artifact' ? pageUrl(config, resource.slug) : elsewhere;
  const locale = localeOf(await readLocale(tx, recipient), workspace.locale);
  const facts = { by, workspace: workspace.name, artifact: resource.name, url };
  await queueMail(tx, [composeMail('shared_outside', facts, { recipient, locale })], nowMs);
}

export function presentGrant(row: GrantRow): z.input<typeof grant> {
  const subject = subjectIn(row);
  return {
    id: row.id,
    ...subject,
    subject_name: row.subject_name,
    ...resourceIn(row),
    resource_name: row.resource_name,
    capability: row.capability,
    expires_at: row.expires_at_ms === null ? null : dateTime(row.expires_at_ms),
    created_at: dateTime(row.created_at_ms),
    updated_at: dateTime(row.updated_at_ms),
  };
}

function subjectIn({ id, sharee_id, external_id }: GrantRow) {
  if (sharee_id !== null) return { subject_type: 'sharee', subject_id: sharee_id } as const;
  if (external_id !== null) return { subject_type: 'external_user', subject_id: external_id } as const;
  throw new Error(`the grant ${id} is nobody's`);
}

function resourceIn({ id, artifact_id, folder_id, deliverable_id }: GrantRow) {
  if (artifact_id !== null) return { resource_type: 'artifact', resource_id: artifact_id } as const;
  if (folder_id !== null) return { resource_type: 'folder', resource_id: folder_id } as const;
  if (deliverable_id !== null) return { resource_type: 'file', resource_id: deliverable_id } as const;
  throw new Error(`the grant ${id} shares nothing`);
}

/** A folder has none. */
function sharedUrl({ slug, deliverable_id }: SharedRow, config: Pick<Config, 'baseUrl' | 'contentHost'>): string | null {
  if (deliverable_id !== null) return contentUrl(config, deliverable_id);
  return slug === null ? null : pageUrl(config, slug);
}

function presentShared(row: SharedRow, config: Pick<Config, 'baseUrl' | 'contentHost'>): z.input<typeof sharedItem> {
  return {
    grant_id: row.id,
    workspace: { name: row.workspace_name },
    through: row.through,
    ...resourceIn(row),
    name: row.resource_name,
    url: sharedUrl(row, config),
    capability: row.capability,
    expires_at: row.expires_at_ms === null ? null : dateTime(row.expires_at_ms),
    shared_at: dateTime(row.created_at_ms),
  };
}
