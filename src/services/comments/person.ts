/** Who a caller is where comments are concerned, and which people an artifact has. */
import type { ArtifactHead, Role } from '../../../actors/access.ts';
import type { CommentPerson } from '../../../actors/comment-rules.ts';
import type { UserId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Call } from '../../edge/call.ts';
import type { Queries } from '../deps.ts';
import type { Identities } from '../identities.ts';

type Caller = Pick<Call, 'principal' | 'head' | 'role'>;

/** The caller without a name, which only a writer needs. */
export function readerOf({ principal, head, role }: Caller): CommentPerson {
  switch (principal.kind) {
    case 'user':
      return { id: principal.userId, name: null, type: 'human', role };
    case 'agent':
      return { id: principal.tokenId, name: null, type: 'agent', role };
    case 'guest':
      // Elsewhere than where the address was proved it proves nothing.
      if (principal.artifactId !== head?.id) return { id: null, name: null, type: 'guest', role };
      return { id: principal.guestId, name: principal.name, type: 'guest', role };
    case 'anonymous':
      return { id: null, name: null, type: 'guest', role };
    default:
      return principal satisfies never;
  }
}

export async function writerOf(identities: Identities, call: Caller): Promise<CommentPerson> {
  const person = readerOf(call);
  if (person.id === null) return person;
  return { ...person, name: (await identities.of(call.principal, '')).name };
}

/** Somebody with an account and access. */
export interface Member {
  readonly userId: UserId;
  readonly name: string | null;
  readonly username: string | null;
  /** Never shown to others. */
  readonly email: string | null;
  readonly role: Role;
}

/**
 * The people whom a caller of this role may mention: everybody with a role, or, for a caller without one, those who show themselves by
 * having written (`writers`, ids of accounts). Who has written and may not read any more is left out.
 */
export async function readMembers(sql: Queries, head: ArtifactHead, caller: Role, writers: ReadonlySet<string>): Promise<Member[]> {
  const withRole = new Set<string>([...head.collaborators.keys(), ...(head.ownerId === null ? [] : [head.ownerId])]);
  const seen = caller === 'none' ? [...writers] : [...withRole, ...writers];
  const ids = [...new Set(seen)].filter((id) => withRole.has(id) || head.visibility === 'public');
  if (ids.length === 0) return [];
  const rows = await sql<Omit<Member, 'role'>[]>`
    select id as "userId", name, username, email from account where id = any(${ids}::text[]) order by coalesce(name, username, id), id`;
  return rows.map((row) => ({ ...row, role: memberRole(head, row.userId) }));
}

function memberRole({ ownerId, collaborators }: ArtifactHead, userId: UserId): Role {
  return ownerId === userId ? 'owner' : (collaborators.get(userId) ?? 'none');
}

// `@[Any name](usr_…)`, or `@username` not in the middle of a word or an address of mail.
const MENTION = /@\[[^\]\n]{1,80}\]\((usr_[a-z0-9]{24})\)|(?<![\w@.])@([a-z0-9][a-z0-9_-]{1,38})/gi;

/** Whether a text can mention anybody; then the people have to be looked up. */
export function hasMention(content: string): boolean {
  return content.includes('@');
}

/** The accounts that a text mentions, in its order, each once. */
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
