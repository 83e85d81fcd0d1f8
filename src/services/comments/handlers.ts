/** Handlers of the comments: each is one turn of the artifact's actor, with what it needs of accounts and pages read around it. */
import type { ArtifactActor } from '../../../actors/artifact-actor.ts';
import { assertAuthorOrModerator, assertMayRead, type CommentPerson } from '../../../actors/comment-rules.ts';
import type { Comment, CommentQuery } from '../../../actors/comment-threads.ts';
import type { ActorRuntime } from '../../../actors/runtime.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Call, Handlers } from '../../edge/call.ts';
import { dateTime } from '../artifact-rows.ts';
import type { Queries } from '../deps.ts';
import { type NotifyDeps, notify } from './notify.ts';
import { type Member, readerOf } from './person.ts';
import { nextCursor, placeOf, presentComment } from './present.ts';
import type { Quotes } from './quotes.ts';

export interface CommentDeps extends NotifyDeps {
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  readonly quotes: Quotes;
}

/** A comment as a turn leaves it. */
export interface Seen {
  readonly comment: Comment;
  readonly replyCount: number;
}

type Caller = Pick<Call, 'principal' | 'head' | 'role'>;
type Reading = 'comments.list' | 'comments.get' | 'comments.replies' | 'comments.thread' | 'comments.history';
type Changing = 'comments.delete' | 'comments.deleteResolved' | 'comments.resolve' | 'comments.react';

/** One turn with the comments in memory. */
export function askComments<T>(
  { runtime }: Pick<CommentDeps, 'runtime'>,
  id: ArtifactId,
  turn: (actor: ArtifactActor) => T,
): T | Promise<T> {
  return runtime.ask(id, turn, ({ comments }) => comments.prepare());
}

export function commentReadHandlers(deps: CommentDeps): Handlers<Reading> {
  return {
    'comments.list': async (call) => {
      const { cursor, ...query } = call.query;
      return { reply: 'ok', body: { success: true, data: await pageOf(deps, call, () => ({ ...query, after: placeOf(cursor) })) } };
    },
    'comments.get': async (call) => {
      const seen = await askComments(deps, call.params.artifactId, ({ comments }) => {
        assertMayRead(comments.settings, call);
        return { comment: comments.get(call.params.commentId), replyCount: comments.replyCount(call.params.commentId) };
      });
      return oneReply(deps, call, seen);
    },
    'comments.replies': async (call) => {
      const { params, query } = call;
      const data = await pageOf(deps, call, ({ comments }) => {
        comments.get(params.commentId);
        return { limit: query.limit, after: placeOf(query.cursor), parentId: params.commentId };
      });
      return { reply: 'ok', body: { success: true, data } };
    },
    'comments.thread': async (call) => {
      const { params, query } = call;
      let rootId = '';
      const data = await pageOf(deps, call, ({ comments }) => {
        rootId = comments.rootOf(comments.get(params.commentId).id);
        return { limit: query.limit, after: placeOf(query.cursor), rootId };
      });
      return { reply: 'ok', body: { success: true, data: { ...data, rootId } } };
    },
    'comments.history': async (call) => {
      const { artifactId, commentId } = call.params;
      await askComments(deps, artifactId, ({ comments }) => {
        assertMayRead(comments.settings, call);
        assertAuthorOrModerator(comments.get(commentId), readerOf(call), 'see what it was before');
      });
      return { reply: 'ok', body: { success: true, data: { history: await readHistory(deps.sql, artifactId, commentId) } } };
    },
  };
}

export function commentChangeHandlers(deps: CommentDeps): Handlers<Changing> {
  return {
    'comments.delete': (call) =>
      askComments(deps, call.params.artifactId, ({ comments }) => {
        const deleted = comments.delete(readerOf(call), call.params.commentId, commentConditions(call));
        return { reply: 'ok', body: { success: true, data: { deleted } } } as const;
      }),
    'comments.deleteResolved': ({ params }) =>
      askComments(deps, params.artifactId, ({ comments }) => {
        return { reply: 'ok', body: { success: true, data: { deleted: comments.deleteResolved() } } } as const;
      }),
    'comments.resolve': async (call) => {
      const { params, body } = call;
      const seen = await askComments(deps, params.artifactId, ({ comments }) => ({
        comment: comments.resolve(readerOf(call), params.commentId, body.resolved),
        replyCount: comments.replyCount(params.commentId),
      }));
      return oneReply(deps, call, seen);
    },
    'comments.react': async (call) => {
      const { params, body } = call;
      const seen = await askComments(deps, params.artifactId, ({ comments }) => ({
        comment: comments.react(readerOf(call), params.commentId, body.emoji),
        replyCount: comments.replyCount(params.commentId),
      }));
      return oneReply(deps, call, seen);
    },
  };
}

/** A page of what `queryOf` asks for, which may refuse what is not there. */
async function pageOf(
  deps: CommentDeps,
  call: Caller & { readonly params: { readonly artifactId: ArtifactId } },
  queryOf: (actor: ArtifactActor) => CommentQuery,
) {
  const viewerId = readerOf(call).id;
  const page = await askComments(deps, call.params.artifactId, (actor) => {
    assertMayRead(actor.comments.settings, call);
    const found = actor.comments.page(queryOf(actor));
    return { ...found, replyCounts: found.comments.map(({ id }) => actor.comments.replyCount(id)) };
  });
  const outdated = await deps.quotes.outdated(call.head?.liveVersionId ?? null, page.comments);
  const comments = page.comments.map((comment, at) =>
    presentComment(comment, { viewerId, replyCount: page.replyCounts[at] ?? 0, outdated: outdated.has(comment.id) }),
  );
  return { comments, count: page.count, hasMore: page.hasMore, nextCursor: nextCursor(page) };
}

/** The whole of one comment. Its ETag also tells what is no part of the comment itself: its replies and the live page. */
export async function oneReply({ quotes }: Pick<CommentDeps, 'quotes'>, call: Caller, { comment, replyCount }: Seen) {
  const outdated = await quotes.isOutdated(call.head?.liveVersionId ?? null, comment);
  const data = presentComment(comment, { viewerId: readerOf(call).id, replyCount, outdated });
  const etag = `"${comment.seq.toString(36)}.${replyCount.toString(36)}${outdated ? '.o' : ''}"`;
  return { reply: 'ok', body: { success: true, data }, etag } as const;
}

/** If-Match is about the comment itself: what else its ETag tells is left out. */
export function commentConditions({ ifMatch }: Pick<Call, 'ifMatch'>) {
  return { ifMatch: ifMatch?.replace(/"([0-9a-z]+)\.[0-9a-z.]+"/g, '"$1"') };
}

/** Throws CONTENT_TOO_LONG, and INVALID_REQUEST where there is nothing to read. */
export function checkedContent(content: string): string {
  if (content.trim() === '') throw new Failure('INVALID_REQUEST', { message: 'content: must not be empty.', param: 'content' });
  if (content.length > LIMITS.commentCharsMax) throw new Failure('CONTENT_TOO_LONG', { param: 'content' });
  return content;
}

/** Tells those who are mentioned and were not before, and who is asked to do it now. */
export async function tell(
  deps: CommentDeps,
  call: Caller,
  by: CommentPerson,
  now: Comment,
  before: Comment | undefined,
  members: readonly Member[],
) {
  if (call.head === undefined) return;
  const mentioned = members.filter(({ userId }) => now.mentions.includes(userId) && before?.mentions.includes(userId) !== true);
  const isNew = now.assigneeUserId !== null && now.assigneeUserId !== before?.assigneeUserId;
  const assigned = isNew ? members.filter(({ userId }) => userId === now.assigneeUserId) : [];
  await notify(deps, call.head, now, by, [
    { kind: 'mention', people: mentioned.filter((member) => !assigned.includes(member)) },
    { kind: 'assigned', people: assigned },
  ]);
}

async function readHistory(sql: Queries, artifactId: ArtifactId, commentId: string) {
  const rows = await sql<{ content: string; at_ms: number }[]>`
    select content, at_ms from comment_revision where artifact_id = ${artifactId} and comment_id = ${commentId}
    order by seq desc limit ${LIMITS.commentEditsMax}`;
  return rows.map(({ content, at_ms }) => ({ content, replacedAt: dateTime(at_ms) }));
}
