/** Comments: the part of an artifact that holds what people say about it. Read as a whole when it is first needed. Source: contract.md §7. */
import { Failure } from '../../protocol/core/errors.ts';
import { newId } from '../../protocol/core/ids.ts';
import { LIMITS } from '../../protocol/core/limits.ts';
import { type Conditions, checkConditions } from '../json/json-conditions.ts';
import type { Ledger } from '../runtime/live-kind.ts';
import type { Clock } from '../runtime/ports.ts';
import type { CommentChange, CommentReads, StoredComment } from './changes.ts';
import {
  assertAuthor,
  assertAuthorOrModerator,
  assertMayAssign,
  assertMayWrite,
  authorName,
  type CommentPerson,
  type CommentSettings,
  DEFAULT_COMMENT_SETTINGS,
  isAuthor,
  mayModerate,
  mayReview,
} from './comment-rules.ts';
import { type Comment, type CommentData, type CommentPage, type CommentQuery, CommentThreads } from './comment-threads.ts';

interface CommentsLedger extends Ledger<CommentChange> {
  readonly epoch: number;
}

export interface CommentsDeps {
  readonly ledger: CommentsLedger;
  readonly clock: Clock;
  readonly store: CommentReads;
}

export type NewComment = Pick<CommentData, 'content' | 'contextId' | 'parentId' | 'position' | 'quote' | 'versionId' | 'mentions'> & {
  /** Name given by an author without an id. */
  readonly authorName: string | undefined;
  readonly assigneeUserId: string | null;
  readonly dueAtMs: number | null;
};

/** Undefined fields stay as they are. */
export interface CommentEdit {
  readonly content?: string | undefined;
  readonly mentions?: readonly string[] | undefined;
  readonly position?: CommentData['position'] | undefined;
  readonly quote?: CommentData['quote'] | undefined;
  readonly versionId?: string | null | undefined;
  readonly dueAtMs?: number | null | undefined;
}

type Cause = Extract<CommentChange, { kind: 'comment.put' }>['cause'];

const PART_BYTES = 150;

export class CommentsPart {
  readonly #ledger: CommentsLedger;
  readonly #clock: Clock;
  readonly #store: CommentReads;
  #settings: CommentSettings = DEFAULT_COMMENT_SETTINGS;
  #threads: CommentThreads | undefined;
  #reading: Promise<void> | undefined;

  constructor(deps: CommentsDeps) {
    this.#ledger = deps.ledger;
    this.#clock = deps.clock;
    this.#store = deps.store;
  }

  /** Undefined when the comments are in memory, else what to wait for; for `prepare` of `runtime.ask`. Rejects with OWNER_MOVED. */
  prepare(): Promise<void> | undefined {
    if (this.#threads !== undefined) return undefined;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** An estimate from above, in bytes of memory. */
  get residentBytes(): number {
    return PART_BYTES + (this.#threads?.residentBytes ?? 0);
  }

  get settings(): CommentSettings {
    return this.#settings;
  }

  /** Changes the settings that are named. */
  configure(change: Partial<CommentSettings>): CommentSettings {
    this.#ledger.admit();
    this.#settings = { ...this.#settings, ...change };
    this.#ledger.record({
      seq: this.#ledger.seq + 1,
      kind: 'comments.config',
      config: JSON.stringify(this.#settings),
      atMs: this.#clock.nowMs(),
    });
    return this.#settings;
  }

  /** Throws COMMENT_NOT_FOUND. */
  get(id: string, param = 'commentId'): Comment {
    const comment = this.#held.find(id);
    if (comment === undefined) throw new Failure('COMMENT_NOT_FOUND', { param });
    return comment;
  }

  page(query: CommentQuery): CommentPage {
    return this.#held.page(query);
  }

  rootOf(id: string): string {
    return this.#held.rootOf(id);
  }

  replyCount(id: string): number {
    return this.#held.replyCount(id);
  }

  /** Accounts that have written here. */
  writers(): Set<string> {
    const writers = new Set<string>();
    for (const { authorId, authorType } of this.#held.all()) if (authorId !== null && authorType === 'human') writers.add(authorId);
    return writers;
  }

  /** Number of comments that others wrote or edited after `seq`; `latestSeq` is the seq of the last one by anybody. */
  unread(person: Pick<CommentPerson, 'own'>, seq: number): { readonly unread: number; readonly latestSeq: number } {
    let unread = 0;
    let latestSeq = 0;
    for (const comment of this.#held.all()) {
      if (comment.saidSeq > seq && !isAuthor(comment, person)) unread += 1;
      latestSeq = Math.max(latestSeq, comment.saidSeq);
    }
    return { unread, latestSeq };
  }

  /**
   * Throws COMMENTS_DISABLED, AUTH_REQUIRED, NAME_REQUIRED, FORBIDDEN, COMMENT_NOT_FOUND (of the parent), REPLIES_DISABLED, MAX_DEPTH,
   * COMMENT_LIMIT_EXCEEDED.
   */
  add(person: CommentPerson, { authorName: given, ...said }: NewComment): Comment {
    assertMayWrite(this.#settings, person);
    const name = authorName(this.#settings, person, given);
    if (said.assigneeUserId !== null) assertMayAssign(person);
    const parent = this.#parentOf(said.parentId);
    if (this.#held.count >= LIMITS.commentsMax) throw new Failure('COMMENT_LIMIT_EXCEEDED');
    const createdAtMs = Math.max(this.#clock.nowMs(), this.#held.lastCreatedAtMs + 1);
    return this.#put('added', {
      ...said,
      contextId: parent === undefined ? said.contextId : parent.contextId,
      authorId: person.id,
      authorName: name,
      authorType: person.type,
      reactions: {},
      resolvedBy: null,
      resolvedAtMs: null,
      edits: 0,
      saidSeq: this.#ledger.seq + 1,
      id: newId('comment'),
      createdAtMs,
      updatedAtMs: createdAtMs,
    });
  }

  /** Throws COMMENTS_DISABLED, AUTH_REQUIRED, COMMENT_NOT_FOUND, FORBIDDEN, VERSION_CONFLICT, COMMENT_LIMIT_EXCEEDED. */
  edit(person: CommentPerson, id: string, change: CommentEdit, conditions: Conditions): Comment {
    const comment = this.get(id);
    this.#assertMayChange(person);
    if (change.content !== undefined) assertAuthor(comment, person, 'change its text');
    else assertAuthorOrModerator(comment, person, 'change it');
    this.#check(comment, conditions);
    const edited = { ...comment, ...withoutUndefined(change) };
    const says = edited.content !== comment.content;
    if (!says) return this.#put('updated', this.#later(edited));
    if (comment.edits >= LIMITS.commentEditsMax) {
      throw new Failure('COMMENT_LIMIT_EXCEEDED', {
        message: `A comment may be edited ${LIMITS.commentEditsMax} times.`,
        hint: 'Write a new one.',
      });
    }
    const later = this.#later({ ...edited, edits: comment.edits + 1, saidSeq: this.#ledger.seq + 1 });
    return this.#put('updated', later, { content: comment.content, atMs: later.updatedAtMs });
  }

  /** Throws COMMENTS_DISABLED, AUTH_REQUIRED, COMMENT_NOT_FOUND, FORBIDDEN, VERSION_CONFLICT. */
  resolve(person: CommentPerson, id: string, resolved: boolean, conditions: Conditions = {}): Comment {
    const comment = this.get(id);
    this.#assertMayChange(person);
    const root = this.get(this.#held.rootOf(id));
    if (!isAuthor(root, person) && !mayReview(person)) {
      throw new Failure('FORBIDDEN', { message: 'Only the author of the thread, the owner, editors and reviewers may resolve it.' });
    }
    this.#check(comment, conditions);
    if ((comment.resolvedAtMs !== null) === resolved) return comment;
    const later = this.#later(comment);
    const state = resolved ? { resolvedBy: person.id, resolvedAtMs: later.updatedAtMs } : { resolvedBy: null, resolvedAtMs: null };
    return this.#put('resolved', { ...later, ...state });
  }

  /** Of a person who may assign (`assertMayAssign`). `dueAtMs` undefined leaves the date as it is. Throws COMMENT_NOT_FOUND, VERSION_CONFLICT. */
  assign(id: string, assigneeUserId: string | null, dueAtMs: number | null | undefined, conditions: Conditions = {}): Comment {
    const comment = this.get(id);
    this.#check(comment, conditions);
    const due = dueAtMs === undefined ? comment.dueAtMs : dueAtMs;
    if (comment.assigneeUserId === assigneeUserId && comment.dueAtMs === due) return comment;
    return this.#put('updated', this.#later({ ...comment, assigneeUserId, dueAtMs: due }));
  }

  /** Adds a reaction of this person, or takes it back, by whichever linked account it was given. Throws COMMENTS_DISABLED, AUTH_REQUIRED, COMMENT_NOT_FOUND, COMMENT_LIMIT_EXCEEDED. */
  react(person: CommentPerson, id: string, emoji: string): Comment {
    const comment = this.get(id);
    assertMayWrite(this.#settings, person);
    const { id: personId, own } = person;
    if (personId === null) throw new Failure('AUTH_REQUIRED', { message: 'A reaction needs somebody who can take it back.' });
    const { [emoji]: others = [], ...rest } = comment.reactions;
    const isBack = others.some((other) => own.has(other));
    const reactors = isBack ? others.filter((other) => !own.has(other)) : [...others, personId];
    if (!isBack) assertReactionRoom(comment.reactions, emoji);
    const reactions = reactors.length === 0 ? rest : { ...comment.reactions, [emoji]: reactors };
    return this.#put('reaction', this.#later({ ...comment, reactions }));
  }

  /** Deletes a comment and all below it; how many. Throws COMMENTS_DISABLED, COMMENT_NOT_FOUND, FORBIDDEN, VERSION_CONFLICT. */
  delete(person: CommentPerson, id: string, conditions: Conditions): number {
    const comment = this.get(id);
    this.#assertMayChange(person);
    assertAuthorOrModerator(comment, person, 'delete it');
    this.#check(comment, conditions);
    return this.#remove([...this.#held.below(id)]);
  }

  /** Deletes everything that is resolved, with all below; how many. */
  deleteResolved(): number {
    const doomed = new Set<string>();
    for (const { id, resolvedAtMs } of this.#held.all()) {
      if (resolvedAtMs !== null && !doomed.has(id)) for (const below of this.#held.below(id)) doomed.add(below);
    }
    return this.#remove([...doomed]);
  }

  get #held(): CommentThreads {
    if (this.#threads === undefined) throw new Error('comments are used before they were prepared');
    return this.#threads;
  }

  async #read(): Promise<void> {
    const stored = await this.#store.readComments(this.#ledger.id, this.#ledger.epoch);
    if (stored === null) throw new Failure('OWNER_MOVED', { retryAfterS: 1 });
    const threads = new CommentThreads();
    for (const comment of stored.comments) threads.put(commentOf(comment), Buffer.byteLength(comment.data));
    if (stored.config !== null) this.#settings = { ...DEFAULT_COMMENT_SETTINGS, ...(JSON.parse(stored.config) as CommentSettings) };
    this.#threads = threads;
  }

  /** Owner and editors may always tidy up; everybody else needs what a new comment needs. */
  #assertMayChange(person: CommentPerson): void {
    if (!mayModerate(person)) assertMayWrite(this.#settings, person);
  }

  #check(comment: Comment, conditions: Conditions): void {
    checkConditions({ etag: commentEtag(comment, this.replyCount(comment.id)), updatedAtMs: comment.updatedAtMs }, conditions);
  }

  #parentOf(parentId: string | null): Comment | undefined {
    if (parentId === null) return undefined;
    const parent = this.get(parentId, 'parentId');
    if (!this.#settings.allowReplies) throw new Failure('REPLIES_DISABLED', { param: 'parentId' });
    if (this.#held.depthOf(parentId) >= this.#settings.maxDepth) throw new Failure('MAX_DEPTH', { param: 'parentId' });
    return parent;
  }

  /** The comment with a later update time than before. */
  #later<C extends Comment>(comment: C): C {
    return { ...comment, updatedAtMs: Math.max(this.#clock.nowMs(), comment.updatedAtMs + 1) };
  }

  #put(cause: Cause, changed: Omit<Comment, 'seq'>, replaced: { content: string; atMs: number } | null = null): Comment {
    const seq = this.#ledger.seq + 1;
    const comment: Comment = { ...changed, seq };
    const data = dataText(comment);
    const bytes = Buffer.byteLength(data);
    const grown = bytes - this.#held.bytesOf(comment.id);
    if (grown > 0 && this.#held.storedBytes + grown > LIMITS.commentsBytesMax) throw new Failure('COMMENT_LIMIT_EXCEEDED');
    this.#ledger.admit();
    const { id: commentId, createdAtMs, updatedAtMs } = comment;
    this.#ledger.record({ seq, kind: 'comment.put', commentId, cause, data, createdAtMs, updatedAtMs, replaced });
    this.#held.put(comment, bytes);
    return comment;
  }

  #remove(ids: readonly string[]): number {
    if (ids.length > 0) this.#ledger.admit();
    const atMs = this.#clock.nowMs();
    for (const commentId of ids) {
      this.#ledger.record({ seq: this.#ledger.seq + 1, kind: 'comment.delete', commentId, atMs });
      this.#held.delete(commentId);
    }
    return ids.length;
  }
}

/** ETag of a comment's view: includes its number of replies and whether its quote is outdated. Quotes included. */
export function commentEtag({ seq }: Pick<Comment, 'seq'>, replyCount: number, isOutdated = false): string {
  return `"${seq.toString(36)}.${replyCount.toString(36)}${isOutdated ? '.o' : ''}"`;
}

/** What was stored, or what a change says of it. */
export function commentOf({ id, data, seq, createdAtMs, updatedAtMs }: StoredComment): Comment {
  return { ...(JSON.parse(data) as CommentData), id, seq, createdAtMs, updatedAtMs };
}

function dataText({ id: _id, seq: _seq, createdAtMs: _created, updatedAtMs: _updated, ...data }: Comment): string {
  return JSON.stringify(data satisfies CommentData);
}

function assertReactionRoom(reactions: Comment['reactions'], emoji: string): void {
  const kinds = Object.keys(reactions).length;
  const reactors = Object.values(reactions).reduce((sum, people) => sum + people.length, 0);
  if (reactors < LIMITS.commentReactorsMax && (Object.hasOwn(reactions, emoji) || kinds < LIMITS.commentEmojiMax)) return;
  throw new Failure('COMMENT_LIMIT_EXCEEDED', {
    message: 'The comment has as many reactions as it may have.',
    hint: 'Take a reaction back.',
  });
}

function withoutUndefined(change: CommentEdit): Partial<Comment> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<Comment>;
}
