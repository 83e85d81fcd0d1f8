/** Who may do what with the comments of an artifact, beyond who may see it. Source: spec.md "Comments", contract.md §7. */
import { Failure } from '../../protocol/core/errors.ts';
import type { IdentityMode } from '../../protocol/data/comment-settings.ts';
import type { Role } from '../access/access.ts';

export interface CommentSettings {
  readonly enabled: boolean;
  readonly identityMode: IdentityMode;
  readonly allowReplies: boolean;
  /** Maximum depth of replies below the first comment of a thread, 1 to 10. */
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

/** Who acts. `id`: of an account, an agent or a guest who has proved an address; null for anybody else. */
export interface CommentPerson {
  readonly id: string | null;
  /** `id` and the accounts that are linked with it: what any of them wrote is this person's own. Empty where `id` is null. */
  readonly own: ReadonlySet<string>;
  readonly name: string | null;
  readonly type: 'human' | 'agent' | 'guest';
  readonly role: Role;
  /** Runs the workspace of the artifact, which is enough to resolve and to assign. Source: spec.md "Review state", can_review. */
  readonly reviews?: boolean;
  /** What the folder of the artifact says of comments by guests; false in none. */
  readonly guestsByFolder: boolean;
}

interface Authored {
  readonly authorId: string | null;
}

/** Whether people without an account may comment after they have proved an address. */
export function guestsMay({ guestComments }: Pick<CommentSettings, 'guestComments'>, guestsByFolder: boolean): boolean {
  return guestComments ?? guestsByFolder;
}

export function mayModerate({ role }: Pick<CommentPerson, 'role'>): boolean {
  return role === 'owner' || role === 'editor';
}

/** Whether somebody resolves threads of others and assigns comments. */
export function mayReview(person: Pick<CommentPerson, 'role' | 'reviews'>): boolean {
  return mayModerate(person) || person.reviews === true;
}

/** A comment written without a verified identity has no author, so nobody may act as one. */
export function isAuthor({ authorId }: Authored, { own }: Pick<CommentPerson, 'own'>): boolean {
  return authorId !== null && own.has(authorId);
}

/** Comments that are turned off stay with owner and editors. Throws COMMENTS_DISABLED. */
export function assertMayRead({ enabled }: CommentSettings, person: Pick<CommentPerson, 'role'>): void {
  if (!enabled && !mayModerate(person)) throw new Failure('COMMENTS_DISABLED');
}

/** Throws COMMENTS_DISABLED (to everybody: nothing is written where comments are off) or AUTH_REQUIRED. */
export function assertMayWrite(settings: CommentSettings, { id, type, guestsByFolder }: CommentPerson): void {
  if (!settings.enabled) throw new Failure('COMMENTS_DISABLED');
  if (settings.identityMode !== 'authenticated' || (id !== null && type !== 'guest')) return;
  if (!guestsMay(settings, guestsByFolder)) throw new Failure('AUTH_REQUIRED', { hint: 'Send a token of an account.' });
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
export function assertMayAssign(person: CommentPerson): void {
  if (mayReview(person)) return;
  throw new Failure('FORBIDDEN', { message: 'Only the owner, editors, and owners and admins of the workspace may assign a comment.' });
}
