/** The SQL of `asset_link`. */
import { Failure } from '../../../../protocol/core/errors.ts';
import type { DeliverableId, ShareLinkId } from '../../../../protocol/core/ids.ts';
import type { LinkGate } from '../../../../protocol/library/assets.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

export interface LinkRow {
  readonly id: ShareLinkId;
  readonly gate: LinkGate;
  readonly domain: string | null;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly views: number;
  readonly createdAtMs: number;
}

function columns(sql: Queries) {
  return sql`
    k.id, k.gate, k.domain, k.expires_at_ms as "expiresAtMs", k.revoked_at_ms as "revokedAtMs", k.views, k.created_at_ms as "createdAtMs"`;
}

export function listLinks(sql: Queries, id: DeliverableId, after: PageKey, rowsMax: number) {
  return sql<LinkRow[]>`
    select ${columns(sql)} from asset_link k
    where k.deliverable_id = ${id} and (k.created_at_ms, k.id) < (${after.number}, ${after.id})
    order by k.created_at_ms desc, k.id desc limit ${rowsMax}`;
}

export async function countLinks(sql: Queries, id: DeliverableId): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from asset_link where deliverable_id = ${id}`;
  return row?.total ?? 0;
}

export async function countOpenLinks(tx: Queries, id: DeliverableId, nowMs: number): Promise<number> {
  const [row] = await tx<{ total: number }[]>`
    select count(*)::int as total from asset_link
    where deliverable_id = ${id} and revoked_at_ms is null and (expires_at_ms is null or expires_at_ms > ${nowMs})`;
  return row?.total ?? 0;
}

export interface NewLink {
  readonly id: ShareLinkId;
  readonly deliverableId: DeliverableId;
  readonly secretSha256: Buffer;
  readonly gate: LinkGate;
  readonly passwordHash: string | null;
  readonly domain: string | null;
  readonly expiresAtMs: number | null;
  readonly createdBy: string;
  readonly nowMs: number;
}

export async function insertLink(tx: Queries, link: NewLink): Promise<LinkRow> {
  const { id, gate, domain, expiresAtMs, nowMs } = link;
  await tx`
    insert into asset_link (id, deliverable_id, secret_sha256, gate, password_hash, domain, expires_at_ms, created_by, created_at_ms)
    values (${id}, ${link.deliverableId}, ${link.secretSha256}, ${gate}, ${link.passwordHash}, ${domain}, ${expiresAtMs}, ${link.createdBy},
      ${nowMs})`;
  return { id, gate, domain, expiresAtMs, revokedAtMs: null, views: 0, createdAtMs: nowMs };
}

/** A link that was revoked before stays as it is. Throws SHARE_LINK_NOT_FOUND. */
export async function revokeLink(tx: Queries, deliverableId: DeliverableId, id: ShareLinkId, nowMs: number): Promise<void> {
  const revoked = await tx`
    update asset_link set revoked_at_ms = coalesce(revoked_at_ms, ${nowMs}) where id = ${id} and deliverable_id = ${deliverableId}`;
  if (revoked.count === 0) throw new Failure('SHARE_LINK_NOT_FOUND');
}

export async function deleteEndedLinks(sql: Queries, endedBeforeMs: number): Promise<number> {
  return (await sql`delete from asset_link where least(revoked_at_ms, expires_at_ms) <= ${endedBeforeMs}`).count;
}

export interface OpenLink {
  readonly id: ShareLinkId;
  readonly deliverableId: DeliverableId;
  readonly name: string;
  readonly gate: LinkGate;
  readonly passwordHash: string | null;
  readonly domain: string | null;
  readonly expiresAtMs: number | null;
}

/** Read with each call, so that a link ends at once. Null where there is none that is open. */
export async function findOpenLink(sql: Queries, secretSha256: Buffer, nowMs: number): Promise<OpenLink | null> {
  const [row] = await sql<OpenLink[]>`
    select k.id, k.deliverable_id as "deliverableId", d.name, k.gate, k.password_hash as "passwordHash", k.domain,
      k.expires_at_ms as "expiresAtMs"
    from asset_link k join asset_deliverable d on d.id = k.deliverable_id left join workspace w on w.id = d.workspace_id
    where k.secret_sha256 = ${secretSha256} and k.revoked_at_ms is null and (k.expires_at_ms is null or k.expires_at_ms > ${nowMs})
      and w.deleted_at_ms is null and w.suspended_at_ms is null`;
  return row ?? null;
}

export async function countView(sql: Queries, id: ShareLinkId): Promise<void> {
  await sql`update asset_link set views = views + 1 where id = ${id}`;
}
