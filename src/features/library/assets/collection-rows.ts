/** The SQL of `asset_collection` and what is in collections. */
import { Failure } from '../../../../protocol/core/errors.ts';
import { type CollectionId, type DeliverableId, newId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import { type Library, ownership, within } from './library.ts';

export interface CollectionRow {
  readonly id: CollectionId;
  readonly name: string;
  readonly itemCount: number;
  readonly createdBy: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

function collections(sql: Queries) {
  return sql`
    select l.id, l.name, (select count(*)::int from asset_collection_item i where i.collection_id = l.id) as "itemCount",
      l.created_by as "createdBy", l.created_at_ms as "createdAtMs", l.updated_at_ms as "updatedAtMs"
    from asset_collection l`;
}

function having(sql: Queries, file: DeliverableId | undefined) {
  if (file === undefined) return sql``;
  return sql`and exists (select from asset_collection_item i where i.collection_id = l.id and i.deliverable_id = ${file})`;
}

export function listCollections(sql: Queries, library: Library, file: DeliverableId | undefined, after: PageKey, rowsMax: number) {
  return sql<CollectionRow[]>`
    ${collections(sql)} where ${within(sql, library)} ${having(sql, file)} and (l.created_at_ms, l.id) < (${after.number}, ${after.id})
    order by l.created_at_ms desc, l.id desc limit ${rowsMax}`;
}

export async function countCollections(sql: Queries, library: Library, file: DeliverableId | undefined): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from asset_collection l where ${within(sql, library)} ${having(sql, file)}`;
  return row?.total ?? 0;
}

/** Throws COLLECTION_NOT_FOUND. `lock`: changes of it wait for each other until the transaction ends. */
export async function requireCollection(sql: Queries, library: Library, id: CollectionId, lock = false): Promise<CollectionRow> {
  if (lock) await sql`select 1 from asset_collection l where l.id = ${id} and ${within(sql, library)} for update`;
  const [row] = await sql<CollectionRow[]>`${collections(sql)} where l.id = ${id} and ${within(sql, library)}`;
  if (row === undefined) throw new Failure('COLLECTION_NOT_FOUND');
  return row;
}

export async function insertCollection(tx: Queries, library: Library, name: string, nowMs: number): Promise<CollectionId> {
  const id = newId('collection');
  await tx`
    insert into asset_collection (owner_id, workspace_id, id, name, created_by, created_at_ms, updated_at_ms)
    values (${ownership(tx, library)}, ${id}, ${name}, ${library.creator}, ${nowMs}, ${nowMs})`;
  return id;
}

export async function renameCollection(tx: Queries, id: CollectionId, name: string, nowMs: number): Promise<void> {
  await tx`update asset_collection set name = ${name}, updated_at_ms = greatest(${nowMs}, updated_at_ms + 1) where id = ${id}`;
}

export async function deleteCollection(tx: Queries, id: CollectionId): Promise<void> {
  await tx`delete from asset_collection where id = ${id}`;
}

/** Adding what is there changes nothing: false. */
export async function insertItem(tx: Queries, id: CollectionId, deliverableId: DeliverableId, nowMs: number): Promise<boolean> {
  const added = await tx`
    insert into asset_collection_item (collection_id, deliverable_id) values (${id}, ${deliverableId}) on conflict do nothing`;
  if (added.count > 0) await touch(tx, id, nowMs);
  return added.count > 0;
}

/** False where it was not in the collection. */
export async function deleteItem(tx: Queries, id: CollectionId, deliverableId: DeliverableId, nowMs: number): Promise<boolean> {
  const gone = await tx`delete from asset_collection_item where collection_id = ${id} and deliverable_id = ${deliverableId}`;
  if (gone.count > 0) await touch(tx, id, nowMs);
  return gone.count > 0;
}

async function touch(tx: Queries, id: CollectionId, nowMs: number): Promise<void> {
  await tx`update asset_collection set updated_at_ms = greatest(${nowMs}, updated_at_ms + 1) where id = ${id}`;
}
