/** A comment as everybody is told of it: without what depends on who reads it. */
import type { CommentData } from '../../../actors/comment-threads.ts';
import type { StoredComment } from '../../../actors/ports.ts';
import type { PublicComment } from '../../../protocol/schemas/comment.ts';
import { dateTime } from '../artifact-rows.ts';

/** JSON text of a `PublicComment`. */
export function commentText({ id, data, seq, createdAtMs, updatedAtMs }: StoredComment): string {
  const { reactions, resolvedAtMs, dueAtMs, edits, saidSeq: _, mentions, ...rest } = JSON.parse(data) as CommentData;
  const comment: PublicComment = {
    id,
    ...rest,
    mentions: [...mentions],
    reactions: Object.fromEntries(Object.entries(reactions).map(([emoji, { length: count }]) => [emoji, { count }])),
    resolved: resolvedAtMs !== null,
    resolvedAt: resolvedAtMs === null ? null : dateTime(resolvedAtMs),
    dueAt: dueAtMs === null ? null : dateTime(dueAtMs),
    edited: edits > 0,
    seq,
    createdAt: dateTime(createdAtMs),
    updatedAt: dateTime(updatedAtMs),
  };
  return JSON.stringify(comment);
}
