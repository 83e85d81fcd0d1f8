/** Who may do what with the comments of an artifact, beyond who may see it. Source: spec.md "Comments", contract.md §7. */
import { Failure } from '../protocol/errors.ts';
import type { IdentityMode } from '../protocol/schemas/comment.ts';
import type { Role } from './access.ts';

export interface CommentSettings {
  readonly enabled: boolean;
  readonly identityMode: IdentityMode;
  readonly allowReplies: boolean;
  /** Of replies below the first comment of a thread, 1 to 10. */
  readonly maxDepth: number;
  /** Whether the page itself shows its comments. */
  readonly overlayEnabled: boolean;
  /** Null follows the folder. */
  readonly guestComments: boolean | null;
}

/** A page is neither changed nor opened to strangers' words before its owner asks for that. */
export const DEFAULT_COMMENT_SETTINGS: CommentSettings = {
  enabled: true,
  identityMode: 'authenticated',
  allowReplies: true,
  maxDepth: 3,
  overlayEnabled: false,
  guestComments: null,
};

/** What an artifact in no folder follows. */
const GUESTS_BY_FOLDER = false;

/** Who acts. `id`: of an account, an agent's token or a guest who has proved an address; null for anybody else. */
export interface CommentPerson {
  readonly id: string | null;
  readonly name: string | null;
  readonly type: 'human' | 'agent' | 'guest';
  readonly role: Role;
}

interface Authored {
  readonly authorId: string | null;
}

/** Whether people without an account may comment after they have proved an address. */
export function guestsMay({ guestComments }: CommentSettings): boolean {
  return guestComments ?? GUESTS_BY_FOLDER;
}

export function mayModerate({ role }: Pick<CommentPerson, 'role'>): boolean {
  return role === 'owner' || role === 'editor';
}

/** Nobody is the author of what was written without a name that can be proved. */
export function isAuthor({ authorId }: Authored, { id }: Pick<CommentPerson, 'id'>): boolean {
  return authorId !== null && authorId === id;
}

/** Comments that are turned off stay with owner and editors. Throws COMMENTS_DISABLED. */
export function assertMayRead({ enabled }: CommentSettings, person: Pick<CommentPerson, 'role'>): void {
  if (!enabled && !mayModerate(person)) throw new Failure('COMMENTS_DISABLED');
}

/** Throws COMMENTS_DISABLED (to everybody: nothing is written where comments are off) or AUTH_REQUIRED. */
export function assertMayWrite(settings: CommentSettings, { id, type }: CommentPerson): void {
  if (!settings.enabled) throw new Failure('COMMENTS_DISABLED');
  if (settings.identityMode !== 'authenticated' || (id !== null && type !== 'guest')) return;
  if (!guestsMay(settings)) throw new Failure('AUTH_REQUIRED', { hint: 'Send a token of an account.' });
  if (id === null)
    throw new Failure('AUTH_REQUIRED', { hint: 'Send a token of an account, or prove an address with …/comments/_guest/start.' });
}

/** The name under which somebody writes. Throws NAME_REQUIRED. */
export function authorName({ identityMode }: CommentSettings, person: CommentPerson, given: string | undefined): string | null {
  const name = person.id === null ? (given ?? null) : person.name;
  if (name === null && identityMode === 'named') throw new Failure('NAME_REQUIRED', { param: 'authorName' });
  return name;
}

/** Throws FORBIDDEN. */
export function assertAuthor(comment: Authored, person: CommentPerson, what: string): void {
  if (!isAuthor(comment, person)) throw new Failure('FORBIDDEN', { message: `Only its author may ${what}.` });
}

/** Throws FORBIDDEN. */
export function assertAuthorOrModerator(comment: Authored, person: CommentPerson, what: string): void {
  if (isAuthor(comment, person) || mayModerate(person)) return;
  throw new Failure('FORBIDDEN', { message: `Only its author, the owner and editors may ${what}.` });
}

/** Throws FORBIDDEN. */
export function assertModerator(person: CommentPerson, what: string): void {
  if (!mayModerate(person)) throw new Failure('FORBIDDEN', { message: `Only the owner and editors may ${what}.` });
}
