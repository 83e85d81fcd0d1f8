/** The comments of an artifact as an export has them: the settings in the manifest, each comment a line of JSON. What edits replaced stays behind. */
import type { CommentSettings } from '../../../actors/comment-rules.ts';
import type { StoredComment } from '../../../actors/ports.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import type { Queries } from '../deps.ts';

export interface ExportedComments {
  /** Null while nothing was ever set. */
  readonly settings: CommentSettings | null;
  readonly comments: readonly Omit<StoredComment, 'seq'>[];
}

/** In the transaction of the snapshot. */
export async function readComments(sql: Queries, id: ArtifactId): Promise<ExportedComments> {
  const [config] = await sql<{ config: CommentSettings }[]>`select config from comment_config where artifact_id = ${id}`;
  const comments = await sql<Omit<StoredComment, 'seq'>[]>`
    select id, data::text as data, created_at_ms as "createdAtMs", updated_at_ms as "updatedAtMs"
    from comment where artifact_id = ${id} order by created_at_ms, id`;
  return { settings: config?.config ?? null, comments };
}

/** One line, with its end. */
export function commentLine({ id, data, createdAtMs, updatedAtMs }: Omit<StoredComment, 'seq'>): string {
  return `{"id":"${id}","createdAtMs":${createdAtMs},"updatedAtMs":${updatedAtMs},"data":${data}}\n`;
}
