/** What is done with collections. Every member of a workspace orders its files; a collection is deleted by who has made it. */
import { checkConditions } from '../../../../actors/json/json-conditions.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import { lockUsage } from '../../people/usage/rows.ts';
import {
  type CollectionRow,
  countCollections,
  deleteCollection,
  deleteItem,
  insertCollection,
  insertItem,
  listCollections,
  renameCollection,
  requireCollection,
} from './collection-rows.ts';
import type { AssetCall, AssetDeps } from './files.ts';
import { camelPage, type Library, note, requireFewer, requireKeeper } from './library.ts';
import { presentCollection } from './present.ts';
import { requireDeliverable } from './rows.ts';

export function collectionActions({ sql }: Pick<AssetDeps, 'sql'>) {
  return {
    async listCollections(library: Library, { query }: AssetCall<'listCollections'>) {
      const rows = await listCollections(sql, library, query.file, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, (row) => ({ number: row.createdAtMs, id: row.id }));
      const total = query.count && { total: await countCollections(sql, library, query.file) };
      return { reply: 'ok', body: { collections: items.map(presentCollection), ...camelPage(page), ...total } } as const;
    },
    async createCollection(library: Library, call: AssetCall<'createCollection'>) {
      const { name } = call.body;
      const row = await sql.begin(async (tx) => {
        // The lock of the library, so that collections that are made together cannot exceed the maximum.
        await lockUsage(tx, library.holder);
        requireFewer(await countCollections(tx, library, undefined), LIMITS.assetCollectionsMax, 'collections in a library');
        const id = await insertCollection(tx, library, name, call.nowMs);
        await note(tx, library, call, { action: 'asset_collection.create', target: { type: 'collection', id, name } });
        return requireCollection(tx, library, id);
      });
      return { reply: 'created', body: presentCollection(row) } as const;
    },
    async getCollection(library: Library, { params }: AssetCall<'getCollection'>) {
      return shown(await requireCollection(sql, library, params.collectionId));
    },
    async updateCollection(library: Library, call: AssetCall<'updateCollection'>) {
      const row = await sql.begin(async (tx) => {
        const before = await requireCollection(tx, library, call.params.collectionId, true);
        checkConditions({ etag: etagOf(before), updatedAtMs: before.updatedAtMs }, call);
        await renameCollection(tx, before.id, call.body.name, call.nowMs);
        const target = { type: 'collection', id: before.id, name: call.body.name };
        await note(tx, library, call, { action: 'asset_collection.update', target });
        return requireCollection(tx, library, before.id);
      });
      return shown(row);
    },
    async removeCollection(library: Library, call: AssetCall<'removeCollection'>) {
      await sql.begin(async (tx) => {
        const row = await requireCollection(tx, library, call.params.collectionId, true);
        requireKeeper(library, row.createdBy);
        checkConditions({ etag: etagOf(row), updatedAtMs: row.updatedAtMs }, call);
        await deleteCollection(tx, row.id);
        await note(tx, library, call, { action: 'asset_collection.delete', target: { type: 'collection', id: row.id, name: row.name } });
      });
      return { reply: 'ok', body: { success: true } } as const;
    },
    async addItem(library: Library, call: AssetCall<'addItem'>) {
      const row = await sql.begin(async (tx) => {
        const { id, name, itemCount } = await requireCollection(tx, library, call.params.collectionId, true);
        const item = await requireDeliverable(tx, library, call.body.deliverableId, true);
        requireFewer(itemCount, LIMITS.assetCollectionItemsMax, 'files in a collection');
        if (await insertItem(tx, id, item.id, call.nowMs)) {
          const target = { type: 'collection', id, name };
          await note(tx, library, call, { action: 'asset_collection.add', target, detail: { file_id: item.id } });
        }
        return requireCollection(tx, library, id);
      });
      return { reply: 'ok', body: presentCollection(row) } as const;
    },
    async removeItem(library: Library, call: AssetCall<'removeItem'>) {
      const { params, nowMs } = call;
      await sql.begin(async (tx) => {
        const { id, name } = await requireCollection(tx, library, params.collectionId, true);
        if (!(await deleteItem(tx, id, params.fileId, nowMs))) throw new Failure('FILE_NOT_FOUND');
        const target = { type: 'collection', id, name };
        await note(tx, library, call, { action: 'asset_collection.remove', target, detail: { file_id: params.fileId } });
      });
      return { reply: 'ok', body: { success: true } } as const;
    },
  };
}

function etagOf(row: CollectionRow): string {
  return bodyEtag(presentCollection(row));
}

function shown(row: CollectionRow) {
  const body = presentCollection(row);
  return { reply: 'ok', body, etag: bodyEtag(body) } as const;
}
