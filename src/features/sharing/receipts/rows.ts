/** The SQL of `sharee_receipt`. */
import { type ArtifactId, type ExternalId, newId, type ShareeId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';

export interface Receipt {
  readonly workspaceId: WorkspaceId;
  readonly externalId: ExternalId;
  readonly artifactId: ArtifactId;
  readonly atMs: number;
}

/** Left out: what another process has recorded within `everyMs`, and what is gone. */
export async function insertReceipts(sql: Queries, receipts: readonly Receipt[], everyMs: number): Promise<void> {
  await sql`
    insert into sharee_receipt (id, workspace_id, external_id, artifact_id, opened_at_ms)
    select n.id, n.workspace_id, n.external_id, n.artifact_id, n.at_ms
    from unnest(
      ${receipts.map(() => newId('receipt'))}::text[], ${receipts.map(({ workspaceId }) => workspaceId)}::text[],
      ${receipts.map(({ externalId }) => externalId)}::text[], ${receipts.map(({ artifactId }) => artifactId)}::text[],
      ${receipts.map(({ atMs }) => atMs)}::bigint[]
    ) as n (id, workspace_id, external_id, artifact_id, at_ms)
    join external_user e on e.id = n.external_id join artifact a on a.id = n.artifact_id
    where not exists (
      select from sharee_receipt r
      where r.external_id = n.external_id and r.artifact_id = n.artifact_id and r.opened_at_ms > n.at_ms - ${everyMs}::bigint)`;
}

export interface ReceiptRow {
  readonly id: string;
  readonly opened_at_ms: number;
  readonly external_id: ExternalId;
  readonly email: string;
  readonly artifact_id: ArtifactId;
  readonly artifact_name: string;
}

export interface ReceiptFilter {
  readonly sharee_id?: ShareeId | undefined;
  readonly member_id?: ExternalId | undefined;
  readonly artifact_id?: ArtifactId | undefined;
}

function meant(sql: Queries, workspaceId: WorkspaceId, { sharee_id, member_id, artifact_id }: ReceiptFilter) {
  return sql`
    r.workspace_id = ${workspaceId}
    ${sharee_id === undefined ? sql`` : sql`and r.external_id in (select m.external_id from sharee_member m where m.sharee_id = ${sharee_id})`}
    ${member_id === undefined ? sql`` : sql`and r.external_id = ${member_id}`}
    ${artifact_id === undefined ? sql`` : sql`and r.artifact_id = ${artifact_id}`}`;
}

/** Latest first. */
export function listReceipts(sql: Queries, workspaceId: WorkspaceId, filter: ReceiptFilter, after: PageKey, rowsMax: number) {
  return sql<ReceiptRow[]>`
    select r.id, r.opened_at_ms, r.external_id, e.email, r.artifact_id, a.name as artifact_name
    from sharee_receipt r join external_user e on e.id = r.external_id join artifact a on a.id = r.artifact_id
    where ${meant(sql, workspaceId, filter)}
      and (r.opened_at_ms < ${after.number} or (r.opened_at_ms = ${after.number} and r.id > ${after.id}))
    order by r.opened_at_ms desc, r.id limit ${rowsMax}`;
}

export async function countReceipts(sql: Queries, workspaceId: WorkspaceId, filter: ReceiptFilter): Promise<number> {
  const [row] = await sql<
    { total: number }[]
  >`select count(*)::int as total from sharee_receipt r where ${meant(sql, workspaceId, filter)}`;
  return row?.total ?? 0;
}

/** Those from before that time, and the oldest of each workspace beyond `rowsMax`. */
export async function deleteOldReceipts(sql: Queries, beforeMs: number, rowsMax: number): Promise<number> {
  const old = await sql`delete from sharee_receipt where opened_at_ms < ${beforeMs}`;
  const beyond = await sql`
    delete from sharee_receipt r using (
      select id, row_number() over (partition by workspace_id order by opened_at_ms desc, id) as place from sharee_receipt
    ) ranked
    where ranked.id = r.id and ranked.place > ${rowsMax}`;
  return old.count + beyond.count;
}
