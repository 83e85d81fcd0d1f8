/** Who looks at the page, and what they may do. Visitors of a page have no account here: they are nobody, or a guest who has proved an address. */
import type * as api from '../page/api.ts';
import type { Guest, Keeper } from '../page/comments.ts';
import type { Comment, CommentPeople } from '../page/wire.ts';

export interface OverlaySite {
  readonly artifactId: string;
  readonly versionId: string;
  /** Path of the file that is shown. */
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
  /** Of this window, by nobody who could prove it. */
  readonly #written = new Set<string>();
  #you: CommentPeople['you'] | undefined;
  #readUntil: string | undefined;

  constructor(deps: { readonly site: OverlaySite; readonly keeper: Keeper; readonly guest: Guest; readonly comments: api.Comments }) {
    this.site = deps.site;
    this.#keeper = deps.keeper;
    this.#guest = deps.guest;
    this.#comments = deps.comments;
  }

  /** Somebody whose own comments are theirs. */
  get isGuest(): boolean {
    return this.#guest.token !== undefined && this.#you?.id != null;
  }

  get mayWrite(): boolean {
    return this.isGuest || this.site.identity !== 'authenticated';
  }

  /** Whether proving an address would let them do more. */
  get mayProve(): boolean {
    return this.site.guests && !this.isGuest;
  }

  get asksName(): 'required' | 'optional' | 'no' {
    if (this.isGuest) return 'no';
    return this.site.identity === 'named' ? 'required' : 'optional';
  }

  /** By which they were known last. */
  get name(): string {
    return (this.isGuest ? this.#you?.name : this.#keeper.kept('easel-name')) ?? '';
  }

  set name(name: string) {
    this.#keeper.keep('easel-name', name === '' ? undefined : name);
  }

  /** When what they have read last was written. */
  get readUntil(): string {
    this.#readUntil ??= this.#keeper.kept(this.#readName) ?? '';
    return this.#readUntil;
  }

  /** They have all these before their eyes. */
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
    return this.isGuest && authorId !== null && authorId === this.#you?.id;
  }

  isMine(comment: Comment): boolean {
    return this.#written.has(comment.id) || this.isAuthor(comment);
  }

  isUnread(comment: Comment): boolean {
    return comment.createdAt > this.readUntil && !this.isMine(comment);
  }

  /** Asks who the guest is whom this browser keeps. */
  async recognize(): Promise<void> {
    this.#you = this.#guest.token === undefined ? undefined : (await this.#comments.people()).you;
  }

  leave(): void {
    this.#comments.guest.leave();
    this.#you = undefined;
  }
}
