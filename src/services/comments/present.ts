/** A comment as callers see it. */
import type { Comment, CommentPage, CommentPlace } from '../../../actors/comment-threads.ts';
import { commentOf } from '../../../actors/comments-part.ts';
import type { StoredComment } from '../../../actors/ports.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { PublicComment } from '../../../protocol/schemas/comment.ts';
import { dateTime } from '../artifact-rows.ts';

/** What only one caller, or only a reader of the whole, is told. */
export interface Beside {
  /** `authorId` of the caller, null for nobody. */
  readonly viewerId: string | null;
  readonly replyCount: number;
  readonly outdated: boolean;
}

/** Without `beside` as live events tell it to everybody. */
export function presentComment(comment: Comment, beside?: Beside): PublicComment {
  const { resolvedAtMs, dueAtMs } = comment;
  const viewerId = beside?.viewerId ?? null;
  const reactions = Object.entries(comment.reactions).map(([emoji, people]) => {
    const mine = beside === undefined ? {} : { mine: viewerId !== null && people.includes(viewerId) };
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
    ...(beside !== undefined && { outdated: beside.outdated }),
    mentions: [...comment.mentions],
    reactions: Object.fromEntries(reactions),
    resolved: resolvedAtMs !== null,
    resolvedBy: comment.resolvedBy,
    resolvedAt: resolvedAtMs === null ? null : dateTime(resolvedAtMs),
    assigneeUserId: comment.assigneeUserId,
    dueAt: dueAtMs === null ? null : dateTime(dueAtMs),
    edited: comment.edits > 0,
    ...(beside !== undefined && { replyCount: beside.replyCount }),
    seq: comment.seq,
    createdAt: dateTime(comment.createdAtMs),
    updatedAt: dateTime(comment.updatedAtMs),
  };
}

/** A stored comment as everybody is told of it, as JSON text. */
export function commentText(stored: StoredComment): string {
  return JSON.stringify(presentComment(commentOf(stored)));
}

/** The cursor after a page, or null where it is the last. */
export function nextCursor({ comments, hasMore }: CommentPage): string | null {
  const last = comments.at(-1);
  return hasMore && last !== undefined ? Buffer.from(`${last.createdAtMs}.${last.id}`).toString('base64url') : null;
}

/** Throws INVALID_REQUEST where the cursor is not `nextCursor` of a page. */
export function placeOf(cursor: string | undefined): CommentPlace | undefined {
  if (cursor === undefined) return undefined;
  const parts = /^(\d{1,16})\.(cmt_[a-z0-9]{24})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (parts?.[2] === undefined) {
    throw new Failure('INVALID_REQUEST', { message: 'cursor must be nextCursor of the page before.', param: 'cursor' });
  }
  return { createdAtMs: Number(parts[1]), id: parts[2] };
}
