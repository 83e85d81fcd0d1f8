/** Handlers of comments. Each runs one turn of the artifact's actor; accounts, versions and pages are read before or after it. */
import { assertAuthorOrModerator, assertMayAssign, assertMayRead, type CommentPerson } from '../../../../actors/comments/comment-rules.ts';
import type { Comment, CommentQuery } from '../../../../actors/comments/comment-threads.ts';
import { type CommentEdit, commentEtag } from '../../../../actors/comments/comments-part.ts';
import type { ArtifactActor } from '../../../../actors/runtime/artifact-actor.ts';
import type { ActorRuntime } from '../../../../actors/runtime/runtime.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, VersionId } from '../../../../protocol/core/ids.ts';
import type { EndpointId, Endpoints } from '../../../../protocol/table.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { LimiterDeps, Queries, ServiceDeps } from '../../deps.ts';
import type { Identities } from '../../people/identities/identities.ts';
import { guestHandlers } from './guests/handlers.ts';
import { notify } from './notify.ts';
import { type Caller, readerOf, readMembers, writerOf } from './person.ts';
import { nextCursor, placeOf, presentComment } from './present.ts';
import type { Quotes } from './quotes.ts';
import { hasVersion, readRevisions } from './rows.ts';
import { checkedContent, differing, type Member, mayMention, mentionsOf, recipientsOf, requireAssignee } from './rules.ts';
import { commentSettingsHandlers } from './settings/handlers.ts';
import { askComments, type CommentCall } from './turns.ts';

export interface CommentServiceDeps extends ServiceDeps, LimiterDeps {
  readonly runtime: Pick<ActorRuntime, 'ask'>;
  readonly identities: Identities;
  readonly quotes: Quotes;
  /** Woken after mail is queued. */
  readonly mail: { wake(): void };
}

interface Deps extends CommentServiceDeps {
  /** For reads before the turn: an atomic batch collects the turns of `runtime`, so a handler cannot wait for them. */
  readonly ahead: Pick<ActorRuntime, 'ask'>;
}

/** A comment at the end of a turn. */
interface CommentState {
  readonly comment: Comment;
  readonly replyCount: number;
}

type Reading = 'comments.list' | 'comments.get' | 'comments.replies' | 'comments.thread' | 'comments.history';
type Changing = 'comments.delete' | 'comments.deleteResolved' | 'comments.resolve' | 'comments.react';
type Writing = 'comments.create' | 'comments.update' | 'comments.assign';
type WritingCall<I extends Writing = Writing> = Call<Endpoints[I]>;

export function commentHandlers(deps: CommentServiceDeps): Handlers<Extract<EndpointId, `comments.${string}`>> {
  return { ...commentTurnHandlers(deps, deps.runtime), ...commentSettingsHandlers(deps), ...guestHandlers(deps) };
}

/** The handlers that change comments in one turn of `turns`, which an atomic batch can therefore run. */
export function commentTurnHandlers(deps: CommentServiceDeps, turns: Pick<ActorRuntime, 'ask'>): Handlers<Reading | Changing | Writing> {
  const all: Deps = { ...deps, runtime: turns, ahead: deps.runtime };
  return { ...readHandlers(all), ...changeHandlers(all), ...writeHandlers(all) };
}

function readHandlers(deps: Deps): Handlers<Reading> {
  return {
    'comments.list': async (call) => {
      const { cursor, count: _, ...query } = call.query;
      return { reply: 'ok', body: { success: true, data: await pageOf(deps, call, () => ({ ...query, after: placeOf(cursor) })) } };
    },
    'comments.get': async (call) => {
      const state = await askComments(deps, call, ({ comments }) => {
        assertMayRead(comments.settings, call);
        return { comment: comments.get(call.params.commentId), replyCount: comments.replyCount(call.params.commentId) };
      });
      return commentReply(deps, call, state);
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
      await askComments(deps, call, ({ comments }) => {
        assertMayRead(comments.settings, call);
        assertAuthorOrModerator(comments.get(commentId), readerOf(call), 'read its earlier texts');
      });
      const revisions = await readRevisions(deps.sql, artifactId, commentId);
      const history = revisions.map(({ content, at_ms }) => ({ content, replacedAt: dateTime(at_ms) }));
      return { reply: 'ok', body: { success: true, data: { history } } };
    },
  };
}

function changeHandlers(deps: Deps): Handlers<Changing> {
  return {
    'comments.delete': (call) =>
      askComments(deps, call, ({ comments }) => {
        const deleted = comments.delete(readerOf(call), call.params.commentId, call);
        return { reply: 'ok', body: { success: true, data: { deleted } } } as const;
      }),
    'comments.deleteResolved': (call) =>
      askComments(deps, call, ({ comments }) => {
        return { reply: 'ok', body: { success: true, data: { deleted: comments.deleteResolved() } } } as const;
      }),
    'comments.resolve': async (call) => {
      const { params, body } = call;
      const state = await askComments(deps, call, ({ comments }) => ({
        comment: comments.resolve(readerOf(call), params.commentId, body.resolved, call),
        replyCount: comments.replyCount(params.commentId),
      }));
      return commentReply(deps, call, state);
    },
    'comments.react': async (call) => {
      const { params, body } = call;
      const state = await askComments(deps, call, ({ comments }) => ({
        comment: comments.react(readerOf(call), params.commentId, body.emoji),
        replyCount: comments.replyCount(params.commentId),
      }));
      return commentReply(deps, call, state);
    },
  };
}

function writeHandlers(deps: Deps): Handlers<Writing> {
  return {
    'comments.create': (call) => create(deps, call),
    'comments.update': (call) => update(deps, call),
    'comments.assign': (call) => assign(deps, call),
  };
}

async function create(deps: Deps, call: WritingCall<'comments.create'>) {
  const { params, body, head } = call;
  const content = checkedContent(body.content);
  const person = await writerOf(deps.identities, call);
  const members = await membersFor(deps, call, mayMention(content) || body.assigneeUserId != null);
  const assigneeUserId = requireAssignee(members, body.assigneeUserId ?? null);
  const versionId = await requireOwnVersion(deps.sql, params.artifactId, body.versionId ?? head.liveVersionId, head.liveVersionId);
  const state = await askComments(deps, call, ({ comments }) => {
    const comment = comments.add(person, {
      content,
      contextId: body.contextId ?? null,
      parentId: body.parentId ?? null,
      position: body.position ?? null,
      quote: body.quote ?? null,
      versionId,
      mentions: mentionsOf(content, members),
      authorName: body.authorName,
      assigneeUserId,
      dueAtMs: timeOf(body.dueAt) ?? null,
    });
    return { comment, replyCount: 0 };
  });
  await notifyOfChange(deps, call, person, state.comment, undefined, members);
  return { ...(await commentReply(deps, call, state)), reply: 'created' } as const;
}

async function update(deps: Deps, call: WritingCall<'comments.update'>) {
  const { params, body, head } = call;
  const content = body.content === undefined ? undefined : checkedContent(body.content);
  const person = await writerOf(deps.identities, call);
  const members = await membersFor(deps, call, content !== undefined && mayMention(content));
  const change: CommentEdit = {
    content,
    mentions: content === undefined ? undefined : mentionsOf(content, members),
    position: body.position,
    quote: body.quote,
    // A new quote or position refers to the live version, where the caller has just found it.
    versionId: body.quote === undefined && body.position === undefined ? undefined : head.liveVersionId,
    dueAtMs: timeOf(body.dueAt),
  };
  let before: Comment | undefined;
  const state = await askComments(deps, call, ({ comments }) => {
    before = comments.get(params.commentId);
    const comment = comments.edit(person, params.commentId, differing(change, before), call);
    return { comment, replyCount: comments.replyCount(params.commentId) };
  });
  await notifyOfChange(deps, call, person, state.comment, before, members);
  return commentReply(deps, call, state);
}

async function assign(deps: Deps, call: WritingCall<'comments.assign'>) {
  const { params, body } = call;
  const person = await writerOf(deps.identities, call);
  // Before anything is told of whom it names.
  assertMayAssign(person);
  const members = await membersFor(deps, call, body.assigneeUserId !== null);
  const assigneeUserId = requireAssignee(members, body.assigneeUserId);
  let before: Comment | undefined;
  const state = await askComments(deps, call, ({ comments }) => {
    assertMayRead(comments.settings, call);
    before = comments.get(params.commentId);
    const comment = comments.assign(params.commentId, assigneeUserId, timeOf(body.dueAt), call);
    return { comment, replyCount: comments.replyCount(params.commentId) };
  });
  await notifyOfChange(deps, call, person, state.comment, before, members);
  return commentReply(deps, call, state);
}

/** One page of comments. `queryOf` runs in the turn and may throw, for instance COMMENT_NOT_FOUND. */
async function pageOf(
  deps: Deps,
  call: Caller & CommentCall & { readonly query: { readonly count: boolean } },
  queryOf: (actor: ArtifactActor) => CommentQuery,
) {
  const { own } = readerOf(call);
  const page = await askComments(deps, call, (actor) => {
    assertMayRead(actor.comments.settings, call);
    const found = actor.comments.page(queryOf(actor));
    return { ...found, replyCounts: found.comments.map(({ id }) => actor.comments.replyCount(id)) };
  });
  const outdated = await deps.quotes.outdated(call.head.liveVersionId, page.comments);
  const comments = page.comments.map((comment, at) =>
    presentComment(comment, { own, replyCount: page.replyCounts[at] ?? 0, outdated: outdated.has(comment.id) }),
  );
  const total = call.query.count ? { total: page.count } : {};
  return { comments, count: page.count, hasMore: page.hasMore, nextCursor: nextCursor(page), ...total };
}

/** The ETag also covers the reply count and `outdated`, which can change while the comment itself does not. */
async function commentReply({ quotes }: Deps, call: Caller, { comment, replyCount }: CommentState) {
  const outdated = await quotes.isOutdated(call.head.liveVersionId, comment);
  const data = presentComment(comment, { own: readerOf(call).own, replyCount, outdated });
  const etag = commentEtag(comment, replyCount, outdated);
  return { reply: 'ok', body: { success: true, data }, etag } as const;
}

function notifyOfChange(
  deps: Deps,
  { head }: Caller,
  person: CommentPerson,
  now: Comment,
  before: Comment | undefined,
  members: readonly Member[],
): Promise<void> {
  return notify(deps, head, now, person, recipientsOf(now, before, members));
}

/** The people whom the caller may mention or assign. Skips the query when `isNeeded` is false. */
async function membersFor(deps: Deps, call: WritingCall, isNeeded: boolean): Promise<readonly Member[]> {
  if (!isNeeded) return [];
  const writers = await askComments({ runtime: deps.ahead }, call, ({ comments }) => comments.writers());
  return readMembers(deps.sql, call, writers);
}

/** Throws VERSION_NOT_FOUND. The live version needs no query. */
async function requireOwnVersion(
  sql: Queries,
  artifactId: ArtifactId,
  id: VersionId | null,
  live: VersionId | null,
): Promise<VersionId | null> {
  if (id === null || id === live || (await hasVersion(sql, artifactId, id))) return id;
  throw new Failure('VERSION_NOT_FOUND', { param: 'versionId' });
}

/** Unix ms. Undefined and null stay as they are. */
function timeOf(time: string | null | undefined): number | null | undefined {
  return typeof time === 'string' ? Date.parse(time) : time;
}
