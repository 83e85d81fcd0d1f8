/** Comments as callers see them, and the cursors of their pages. */
import type { StoredComment } from '../../../../actors/comments/changes.ts';
import type { Comment, CommentPage, CommentPlace } from '../../../../actors/comments/comment-threads.ts';
import { commentOf } from '../../../../actors/comments/comments-part.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { PublicComment } from '../../../../protocol/data/comments.ts';
import { dateTime } from '../../../platform/date-time.ts';

/** Fields of a reply to one caller that a live event, which goes to everybody, leaves out. */
export interface ReplyFields {
  /** The ids that are the caller's own, as `CommentPerson` has them. */
  readonly own: ReadonlySet<string>;
  readonly replyCount: number;
  readonly outdated: boolean;
}

/** Without `reply` as live events show it. */
export function presentComment(comment: Comment, reply?: ReplyFields): PublicComment {
  const { resolvedAtMs, dueAtMs } = comment;
  const reactions = Object.entries(comment.reactions).map(([emoji, people]) => {
    const mine = reply === undefined ? {} : { mine: people.some((id) => reply.own.has(id)) };
    return [emoji, { count: people.length, ...mine }] as const;
  });
  return {
    id: comment.id,
    contextId: comment.contextId,
    parentId: comment.parentId,
    authorId: comment.authorId,
    authorName: comment.authorName,
    authorType: comment.authorType,
    content: comment.content,
    position: comment.position,
    quote: comment.quote,
    versionId: comment.versionId,
    ...(reply !== undefined && { outdated: reply.outdated }),
    mentions: [...comment.mentions],
    reactions: Object.fromEntries(reactions),
    resolved: resolvedAtMs !== null,
    resolvedBy: comment.resolvedBy,
    resolvedAt: resolvedAtMs === null ? null : dateTime(resolvedAtMs),
    assigneeUserId: comment.assigneeUserId,
    dueAt: dueAtMs === null ? null : dateTime(dueAtMs),
    edited: comment.edits > 0,
    ...(reply !== undefined && { replyCount: reply.replyCount }),
    seq: comment.seq,
    createdAt: dateTime(comment.createdAtMs),
    updatedAt: dateTime(comment.updatedAtMs),
  };
}

/** The JSON text of a stored comment for live events. */
export function commentText(stored: StoredComment): string {
  return JSON.stringify(presentComment(commentOf(stored)));
}

/** The cursor of the next page; null after the last. */
export function nextCursor({ comments, hasMore }: CommentPage): string | null {
  const last = comments.at(-1);
  return hasMore && last !== undefined ? Buffer.from(`${last.createdAtMs}.${last.id}`).toString('base64url') : null;
}

/** Throws INVALID_REQUEST when the cursor does not come from `nextCursor`. */
export function placeOf(cursor: string | undefined): CommentPlace | undefined {
  if (cursor === undefined) return undefined;
  const parts = /^(\d{1,16})\.(cmt_[a-z0-9]{24})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (parts?.[2] === undefined) {
    throw new Failure('INVALID_REQUEST', { message: 'cursor: must be the nextCursor of the previous page.', param: 'cursor' });
  }
  return { createdAtMs: Number(parts[1]), id: parts[2] };
}
