/** Decisions about comments that need neither the actor nor the database. */
import { isDeepStrictEqual } from 'node:util';
import { type ArtifactHead, type Role, roleOfPerson } from '../../../../actors/access/access.ts';
import type { Comment } from '../../../../actors/comments/comment-threads.ts';
import type { CommentEdit } from '../../../../actors/comments/comments-part.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { charsOf } from '../../../../protocol/core/text.ts';
import type { Standing } from '../../people/persons/rows.ts';
import type { AccountRow } from './rows.ts';

/** An account with access to the artifact. `email` is never shown to other people. */
export interface Member extends AccountRow {
  readonly role: Role;
}

/** Why somebody gets a notice. */
export type NoticeKind = 'mention' | 'assigned';

export interface Recipients {
  readonly kind: NoticeKind;
  readonly people: readonly Member[];
}

// `@[Any name](usr_…)` or `@username`. The lookbehind excludes e-mail addresses and `@` inside a word.
const MENTION = /@\[[^\]\n]{1,80}\]\((usr_[a-z0-9]{24})\)|(?<![\w@.])@([a-z0-9][a-z0-9_-]{1,38})/gi;

/** Throws CONTENT_TOO_LONG, and INVALID_REQUEST for a text of white space only. */
export function checkedContent(content: string): string {
  if (content.trim() === '') throw new Failure('INVALID_REQUEST', { message: 'content: must not be empty.', param: 'content' });
  if (charsOf(content) > LIMITS.commentCharsMax) throw new Failure('CONTENT_TOO_LONG', { param: 'content' });
  return content;
}

/**
 * Drops the fields that equal the current comment. A client that sends a comment back as it read it therefore changes nothing, and the
 * comment stays on the version that it was written on.
 */
export function differing(change: CommentEdit, before: Comment): CommentEdit {
  const isSamePlace = isSame(change.position, before.position) && isSame(change.quote, before.quote);
  const isSameText = change.content === before.content;
  return {
    ...change,
    ...(isSameText && { content: undefined, mentions: undefined }),
    ...(isSamePlace && { position: undefined, quote: undefined, versionId: undefined }),
  };
}

/** An absent field changes nothing. */
function isSame(given: unknown, before: unknown): boolean {
  return given === undefined || isDeepStrictEqual(given, before);
}

/**
 * The accounts that a caller of this role may mention: the owner, collaborators and `writers` (accounts that have commented), or for a caller
 * without a role only the writers.
 */
export function mentionableIds(head: ArtifactHead, caller: Role, writers: ReadonlySet<string>): UserId[] {
  const given = [...head.collaborators.keys(), ...(head.ownerId === null ? [] : [head.ownerId])];
  const visible = caller === 'none' ? [...writers] : [...given, ...writers];
  return [...new Set(visible)] as UserId[];
}

/** With the role of each account's person. Left out: who can no longer read the artifact, and accounts that are gone. */
export function membersOf(head: ArtifactHead, accounts: readonly AccountRow[], standings: ReadonlyMap<UserId, Standing>): Member[] {
  return accounts.flatMap((account) => {
    const standing = standings.get(account.userId);
    const role = standing === undefined ? 'none' : roleOfPerson(head, standing.person);
    return role !== 'none' || head.visibility === 'public' ? [{ ...account, role }] : [];
  });
}

/** False when a text certainly mentions nobody, so that the caller can skip reading the members. */
export function mayMention(content: string): boolean {
  return content.includes('@');
}

/** The accounts that a text mentions, in order of appearance, without repetition. */
export function mentionsOf(content: string, members: readonly Member[]): UserId[] {
  const byId = new Map<string, UserId>(members.map(({ userId }) => [userId, userId]));
  const byName = new Map(members.map(({ username, userId }) => [username, userId]));
  const mentioned = new Set<UserId>();
  for (const [, id, username] of content.matchAll(MENTION)) {
    const userId = id === undefined ? byName.get(username?.toLowerCase() ?? '') : byId.get(id);
    if (userId !== undefined) mentioned.add(userId);
    if (mentioned.size === LIMITS.commentMentionsMax) break;
  }
  return [...mentioned];
}

/** Throws ASSIGNEE_NOT_FOUND. */
export function requireAssignee(members: readonly Member[], id: UserId | null): UserId | null {
  if (id === null || members.some(({ userId }) => userId === id)) return id;
  throw new Failure('ASSIGNEE_NOT_FOUND', { param: 'assigneeUserId' });
}

/** Who gets a notice of a change: people newly mentioned, and a new assignee. An assignee who is also mentioned gets one notice. */
export function recipientsOf(now: Comment, before: Comment | undefined, members: readonly Member[]): Recipients[] {
  const mentioned = members.filter(({ userId }) => now.mentions.includes(userId) && before?.mentions.includes(userId) !== true);
  const isReassigned = now.assigneeUserId !== null && now.assigneeUserId !== before?.assigneeUserId;
  const assigned = isReassigned ? members.filter(({ userId }) => userId === now.assigneeUserId) : [];
  return [
    { kind: 'mention', people: mentioned.filter((member) => !assigned.includes(member)) },
    { kind: 'assigned', people: assigned },
  ];
}
