/** The caller as a participant in comments, and the people of an artifact. */
import { grantsAlone } from '../../../../actors/access/access.ts';
import type { CommentPerson } from '../../../../actors/comments/comment-rules.ts';
import type { ArtifactCall } from '../../../edge/call.ts';
import { mayReview } from '../../artifacts/reviews/rules.ts';
import type { Queries } from '../../deps.ts';
import type { Identities } from '../../people/identities/identities.ts';
import { readStandings } from '../../people/persons/rows.ts';
import { readAccounts } from './rows.ts';
import { type Member, membersOf, mentionableIds } from './rules.ts';

const NOBODY: ReadonlySet<string> = new Set();

export type Caller = Pick<ArtifactCall, 'principal' | 'head' | 'role'>;

/** The caller without an account name: only a writer needs one, and reading it may cost a query. */
export function readerOf({ principal, head, role }: Caller): CommentPerson {
  const here = { role, guestsByFolder: head.folder?.guestComments ?? false };
  switch (principal.kind) {
    case 'user':
      return {
        id: principal.userId,
        own: principal.person.accounts,
        name: null,
        type: 'human',
        reviews: mayReview(head, principal, role),
        ...here,
      };
    case 'agent':
      return { id: principal.principalId, own: new Set([principal.principalId]), name: null, type: 'agent', ...here };
    case 'guest':
      // A guest token is valid for one artifact. On any other artifact the guest is anonymous.
      if (principal.artifactId !== head.id) return { id: null, own: NOBODY, name: null, type: 'guest', ...here };
      return { id: principal.guestId, own: new Set([principal.guestId]), name: principal.name, type: 'guest', ...here };
    case 'anonymous':
      return { id: null, own: NOBODY, name: null, type: 'guest', ...here };
    default:
      return principal satisfies never;
  }
}

export async function writerOf(identities: Identities, call: Caller): Promise<CommentPerson> {
  const person = readerOf(call);
  if (person.id === null) return person;
  return { ...person, name: (await identities.of(call.principal, '')).name };
}

/** The people whom the caller may mention. `writers`: ids of the accounts that have commented. */
export async function readMembers(
  sql: Queries,
  { principal, head, role, nowMs }: Caller & Pick<ArtifactCall, 'nowMs'>,
  writers: ReadonlySet<string>,
): Promise<Member[]> {
  // Those with whom it is shared from outside do not learn who else is inside.
  const known = grantsAlone(head, principal).length > 0 ? 'none' : role;
  const ids = mentionableIds(head, known, writers);
  if (ids.length === 0) return [];
  return membersOf(head, await readAccounts(sql, ids), await readStandings(sql, ids, nowMs));
}
