/** Writing, editing and assigning comments: where people and versions have to be looked up before the turn. */
import type { Comment } from '../../../actors/comment-threads.ts';
import type { CommentEdit } from '../../../actors/comments-part.ts';
import { Failure } from '../../../protocol/errors.ts';
import type { ArtifactId, UserId, VersionId } from '../../../protocol/ids.ts';
import type { Endpoints } from '../../../protocol/table.ts';
import type { Call, Handlers } from '../../edge/call.ts';
import { requireHead } from '../artifacts.ts';
import type { Queries } from '../deps.ts';
import type { Identities } from '../identities.ts';
import { askComments, type CommentDeps, checkedContent, commentConditions, oneReply, tell } from './handlers.ts';
import { hasMention, type Member, mentionsOf, readMembers, writerOf } from './person.ts';

interface WritingDeps extends CommentDeps {
  readonly identities: Identities;
}

type Writing = 'comments.create' | 'comments.update' | 'comments.assign';
type WritingCall<I extends Writing = Writing> = Call<Endpoints[I]>;

export function commentWriteHandlers(deps: WritingDeps): Handlers<Writing> {
  return {
    'comments.create': (call) => create(deps, call),
    'comments.update': (call) => update(deps, call),
    'comments.assign': (call) => assign(deps, call),
  };
}

async function create(deps: WritingDeps, call: WritingCall<'comments.create'>) {
  const { params, body } = call;
  const content = checkedContent(body.content);
  const head = requireHead(call.head);
  const person = await writerOf(deps.identities, call);
  const members = await membersFor(deps, call, hasMention(content) || body.assigneeUserId != null);
  const assigneeUserId = requireAssignee(members, body.assigneeUserId ?? null);
  const versionId = await requireOwnVersion(deps.sql, params.artifactId, body.versionId ?? head.liveVersionId, head.liveVersionId);
  const seen = await askComments(deps, params.artifactId, ({ comments }) => {
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
  await tell(deps, call, person, seen.comment, undefined, members);
  return { ...(await oneReply(deps, call, seen)), reply: 'created' } as const;
}

async function update(deps: WritingDeps, call: WritingCall<'comments.update'>) {
  const { params, body } = call;
  const content = body.content === undefined ? undefined : checkedContent(body.content);
  const head = requireHead(call.head);
  const person = await writerOf(deps.identities, call);
  const members = await membersFor(deps, call, content !== undefined && hasMention(content));
  const change: CommentEdit = {
    content,
    mentions: content === undefined ? undefined : mentionsOf(content, members),
    position: body.position,
    quote: body.quote,
    // Whoever finds the place again finds it on the page as it is now.
    versionId: body.quote === undefined && body.position === undefined ? undefined : head.liveVersionId,
    dueAtMs: timeOf(body.dueAt),
  };
  let before: Comment | undefined;
  const seen = await askComments(deps, params.artifactId, ({ comments }) => {
    before = comments.get(params.commentId);
    const comment = comments.edit(person, params.commentId, change, commentConditions(call));
    return { comment, replyCount: comments.replyCount(params.commentId) };
  });
  await tell(deps, call, person, seen.comment, before, members);
  return oneReply(deps, call, seen);
}

async function assign(deps: WritingDeps, call: WritingCall<'comments.assign'>) {
  const { params, body } = call;
  const person = await writerOf(deps.identities, call);
  const members = await membersFor(deps, call, body.assigneeUserId !== null);
  const assigneeUserId = requireAssignee(members, body.assigneeUserId);
  let before: Comment | undefined;
  const seen = await askComments(deps, params.artifactId, ({ comments }) => {
    before = comments.get(params.commentId);
    const comment = comments.assign(params.commentId, assigneeUserId, timeOf(body.dueAt));
    return { comment, replyCount: comments.replyCount(params.commentId) };
  });
  await tell(deps, call, person, seen.comment, before, members);
  return oneReply(deps, call, seen);
}

/** The people whom the caller may name; none where nobody is named. */
async function membersFor(
  deps: WritingDeps,
  call: Pick<WritingCall, 'params' | 'head' | 'role'>,
  isNeeded: boolean,
): Promise<readonly Member[]> {
  if (!isNeeded) return [];
  const writers = await askComments(deps, call.params.artifactId, ({ comments }) => comments.writers());
  return readMembers(deps.sql, requireHead(call.head), call.role, writers);
}

/** Throws ASSIGNEE_NOT_FOUND. */
function requireAssignee(members: readonly Member[], id: UserId | null): UserId | null {
  if (id === null || members.some(({ userId }) => userId === id)) return id;
  throw new Failure('ASSIGNEE_NOT_FOUND', { param: 'assigneeUserId' });
}

/** Throws VERSION_NOT_FOUND. */
async function requireOwnVersion(
  sql: Queries,
  artifactId: ArtifactId,
  id: VersionId | null,
  live: VersionId | null,
): Promise<VersionId | null> {
  if (id === null || id === live) return id;
  const [row] = await sql`select 1 from artifact_version where id = ${id} and artifact_id = ${artifactId}`;
  if (row === undefined) throw new Failure('VERSION_NOT_FOUND', { param: 'versionId' });
  return id;
}

/** Undefined stays undefined. */
function timeOf(time: string | null | undefined): number | null | undefined {
  return typeof time === 'string' ? Date.parse(time) : time;
}
