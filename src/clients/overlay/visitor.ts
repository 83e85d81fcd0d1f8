/** The visitor of the page and what they may do: somebody who is signed in, a guest who has verified an e-mail address, or anonymous. */
import type * as api from '../page/api.ts';
import type { Guest, Keeper } from '../page/comments.ts';
import type { Comment, CommentPeople } from '../page/wire.ts';

export interface OverlaySite {
  readonly artifactId: string;
  readonly versionId: string;
  /** Path of the current file. */
  readonly page: string;
  readonly identity: 'anonymous' | 'named' | 'authenticated';
  readonly replies: boolean;
  readonly guests: boolean;
}

export class Visitor {
  readonly site: OverlaySite;
  readonly #keeper: Keeper;
  readonly #guest: Guest;
  readonly #comments: api.Comments;
  /** Ids of comments written in this window, anonymous ones included. */
  readonly #written = new Set<string>();
  #you: CommentPeople['you'] | undefined;
  #readUntil: string | undefined;

  constructor(deps: { readonly site: OverlaySite; readonly keeper: Keeper; readonly guest: Guest; readonly comments: api.Comments }) {
    this.site = deps.site;
    this.#keeper = deps.keeper;
    this.#guest = deps.guest;
    this.#comments = deps.comments;
  }

  /** True if the comments of the visitor can be attributed. */
  get isKnown(): boolean {
    return this.#you?.id != null && (this.#you.type !== 'guest' || this.#guest.token !== undefined);
  }

  /** True if the visitor has verified an e-mail address and is not signed in. */
  get isGuest(): boolean {
    return this.isKnown && this.#you?.type === 'guest';
  }

  get mayWrite(): boolean {
    return this.isKnown || this.site.identity !== 'authenticated';
  }

  /** True if verifying an e-mail address would allow more. */
  get mayProve(): boolean {
    return this.site.guests && !this.isKnown;
  }

  get asksName(): 'required' | 'optional' | 'no' {
    if (this.isKnown) return 'no';
    return this.site.identity === 'named' ? 'required' : 'optional';
  }

  /** The name used last. */
  get name(): string {
    return (this.isKnown ? this.#you?.name : this.#keeper.kept('easel-name')) ?? '';
  }

  set name(name: string) {
    this.#keeper.keep('easel-name', name === '' ? undefined : name);
  }

  /** `createdAt` of the newest comment that the visitor has read. */
  get readUntil(): string {
    this.#readUntil ??= this.#keeper.kept(this.#readName) ?? '';
    return this.#readUntil;
  }

  /** Marks comments as read. */
  read(comments: Iterable<Comment>): void {
    const before = this.readUntil;
    let last = before;
    for (const { createdAt } of comments) if (createdAt > last) last = createdAt;
    if (last === before) return;
    this.#readUntil = last;
    this.#keeper.keep(this.#readName, last);
  }

  get #readName(): string {
    return `easel-read-${this.site.artifactId}`;
  }

  wrote({ id }: Comment): void {
    this.#written.add(id);
  }

  isAuthor({ authorId }: Comment): boolean {
    return this.isKnown && authorId !== null && this.#you?.ids.includes(authorId) === true;
  }

  /** True for comments that the visitor may delete and resolve: their own, and all of them for editors and the owner. */
  maySettle(comment: Comment): boolean {
    const role = this.#you?.role;
    return (this.isKnown && (role === 'owner' || role === 'editor')) || this.isAuthor(comment);
  }

  isMine(comment: Comment): boolean {
    return this.#written.has(comment.id) || this.isAuthor(comment);
  }

  isUnread(comment: Comment): boolean {
    return comment.createdAt > this.readUntil && !this.isMine(comment);
  }

  /** Loads the identity of who is signed in on the page, or of the guest whose token this browser keeps. */
  async recognize(): Promise<void> {
    const isSignedIn = this.#keeper.isSignedIn?.() === true;
    this.#you = isSignedIn || this.#guest.token !== undefined ? (await this.#comments.people()).you : undefined;
    // The sign-in has ended: a guest counts again from the next visit on.
    if (isSignedIn && this.#you?.id === null) this.#keeper.forgetSignIn?.();
  }

  leave(): void {
    this.#comments.guest.leave();
    this.#you = undefined;
  }
}
