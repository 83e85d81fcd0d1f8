/** What access decisions know of an artifact, read once and kept until it changes. */
import type { ArtifactHead } from '../../actors/access.ts';
import type { ArtifactId, UserId, VersionId } from '../../protocol/ids.ts';
import type { Visibility } from '../../protocol/schemas/artifact.ts';
import { ReadCache } from '../cache.ts';
import type { Sql } from '../storage/sql.ts';
import type { Queries } from './deps.ts';
import type { ArtifactNotices } from './notices.ts';

const CACHED_HEADS_MAX = 20_000;

export class ArtifactHeads {
  readonly #sql: Sql;
  readonly #live: ReadCache<ArtifactId, ArtifactHead>;

  constructor(deps: { readonly sql: Sql; readonly notices: ArtifactNotices }) {
    this.#sql = deps.sql;
    this.#live = new ReadCache({
      entriesMax: CACHED_HEADS_MAX,
      load: async (id) => {
        const head = await readHead(this.#sql, id);
        return head === null || head.deletedAtMs !== null ? null : head;
      },
    });
    deps.notices.on((notice) => this.#live.invalidate(notice.artifactId));
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

interface HeadRow {
  readonly id: ArtifactId;
  readonly slug: string;
  readonly owner_id: UserId | null;
  readonly workspace_id: string | null;
  readonly visibility: Visibility;
  readonly allow_anon_write: boolean;
  readonly allow_anon_collab: boolean;
  readonly live_version_id: VersionId | null;
  readonly deleted_at_ms: number | null;
  readonly collaborators: Readonly<Record<UserId, 'editor' | 'viewer'>>;
}

/** The head of an artifact, live or in the trash, as this transaction sees it. */
export async function readHead(sql: Queries, id: ArtifactId): Promise<ArtifactHead | null> {
  const [row] = await sql<HeadRow[]>`
    select a.id, a.slug, a.owner_id, a.workspace_id, a.visibility, a.allow_anon_write, a.allow_anon_collab,
      a.live_version_id, a.deleted_at_ms,
      coalesce((select json_object_agg(c.user_id, c.role) from collaborator c where c.artifact_id = a.id), '{}') as collaborators
    from artifact a where a.id = ${id}`;
  if (row === undefined) return null;
  return {
    id: row.id,
    slug: row.slug,
    ownerId: row.owner_id,
    workspaceId: row.workspace_id,
    visibility: row.visibility,
    allowAnonWrite: row.allow_anon_write,
    allowAnonCollab: row.allow_anon_collab,
    liveVersionId: row.live_version_id,
    deletedAtMs: row.deleted_at_ms,
    collaborators: new Map(Object.entries(row.collaborators) as [UserId, 'editor' | 'viewer'][]),
  };
}
