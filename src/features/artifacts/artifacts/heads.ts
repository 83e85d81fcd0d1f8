/** The part of an artifact that access decisions need, cached until it changes. */
import type { ArtifactHead } from '../../../../actors/access/access.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { type Bus, type Fact, onArtifact } from '../../../platform/bus.ts';
import { ReadCache } from '../../../platform/cache.ts';
import type { Sql } from '../../../storage/sql.ts';
import { readHead } from './rows.ts';

type FolderFact = Extract<Fact, { kind: 'folder.changed' }>;

const CACHED_HEADS_MAX = 20_000;

export class ArtifactHeads {
  readonly #sql: Sql;
  readonly #live: ReadCache<ArtifactId, ArtifactHead>;

  constructor(deps: { readonly sql: Sql; readonly bus: Bus }) {
    this.#sql = deps.sql;
    this.#live = new ReadCache({
      entriesMax: CACHED_HEADS_MAX,
      load: async (id) => {
        const head = await readHead(this.#sql, id);
        return head === null || head.deletedAtMs !== null ? null : head;
      },
    });
    deps.bus.cache('artifact heads', {
      everything: () => this.#live.clear(),
      ...onArtifact(({ artifactId }) => this.#live.invalidate(artifactId)),
      'folder.changed': (fact) => this.#live.invalidateWhere((head) => isInFolderOf(head, fact)),
    });
  }

  /** A live artifact; null when there is none or it is in the trash. */
  get(id: ArtifactId): ArtifactHead | Promise<ArtifactHead | null> {
    return this.#live.get(id);
  }

  /** An artifact in the trash; null otherwise. */
  async trashed(id: ArtifactId): Promise<ArtifactHead | null> {
    const head = await readHead(this.#sql, id);
    return head === null || head.deletedAtMs === null ? null : head;
  }
}

function isInFolderOf({ folder, workspaceId, ownerId }: ArtifactHead, fact: FolderFact): boolean {
  if (folder === null) return false;
  return fact.workspaceId === null ? ownerId === fact.ownerId : workspaceId === fact.workspaceId;
}
