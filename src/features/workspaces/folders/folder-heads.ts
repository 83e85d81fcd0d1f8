/** What decides about access to folders, cached; and the caller's seat in one, for access rules by folder. */
import type { Principal } from '../../../../actors/access/access.ts';
import type { FolderId } from '../../../../protocol/core/ids.ts';
import type { FolderSeat, SubjectResolver } from '../../../edge/subjects.ts';
import type { Bus } from '../../../platform/bus.ts';
import { ReadCache } from '../../../platform/cache.ts';
import type { Sql } from '../../../storage/sql.ts';
import { type FolderHead, readFolderHead } from './rows.ts';
import { folderRoleOf } from './rules.ts';

const CACHED_FOLDERS_MAX = 20_000;

export class FolderHeads implements SubjectResolver<FolderSeat> {
  readonly #known: ReadCache<FolderId, FolderHead>;

  constructor({ sql, bus }: { readonly sql: Sql; readonly bus: Bus }) {
    this.#known = new ReadCache({ entriesMax: CACHED_FOLDERS_MAX, load: (id) => readFolderHead(sql, id) });
    bus.cache('folders', {
      everything: () => this.#known.clear(),
      'folder.changed': (fact) =>
        this.#known.invalidateWhere(({ workspaceId, ownerId }) => workspaceId === fact.workspaceId && ownerId === fact.ownerId),
      'workspace.changed': (fact) => this.#known.invalidateWhere(({ workspaceId }) => workspaceId === fact.workspaceId),
    });
  }

  find(id: string, principal: Principal): FolderSeat | null | Promise<FolderSeat | null> {
    const found = this.#known.get(id as FolderId);
    return found instanceof Promise ? found.then((head) => seatIn(head, principal)) : seatIn(found, principal);
  }
}

function seatIn(head: FolderHead | null, principal: Principal): FolderSeat | null {
  const role = head === null ? null : folderRoleOf(head, principal);
  return head === null || role === null ? null : { id: head.id, workspaceId: head.workspaceId, ownerId: head.ownerId, role };
}
