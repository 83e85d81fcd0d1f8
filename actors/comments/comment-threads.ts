/** The comments of an artifact in memory: by id, in the order in which they were made, and what hangs below what. */
import type { CommentPosition, CommentQuote, PublicComment } from '../../protocol/data/comments.ts';

/** A comment as it is stored as JSON text, beside its id, seq and times. */
export interface CommentData {
  readonly contextId: string | null;
  readonly parentId: string | null;
  readonly authorId: string | null;
  readonly authorName: string | null;
  readonly authorType: PublicComment['authorType'];
  readonly content: string;
  readonly position: CommentPosition | null;
  readonly quote: CommentQuote | null;
  /** The version that was looked at. */
  readonly versionId: string | null;
  /** Ids of accounts. */
  readonly mentions: readonly string[];
  /** Who reacted with what, in the order in which they did. */
  readonly reactions: Readonly<Record<string, readonly string[]>>;
  readonly resolvedBy: string | null;
  /** Unix ms; null while open. */
  readonly resolvedAtMs: number | null;
  readonly assigneeUserId: string | null;
  /** Unix ms. */
  readonly dueAtMs: number | null;
  readonly edits: number;
  /** Seq of the change that wrote its current text. */
  readonly saidSeq: number;
}

export interface Comment extends CommentData {
  readonly id: string;
  /** Seq of its last change. */
  readonly seq: number;
  /** Unix ms. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface CommentQuery {
  readonly contextId?: string | undefined;
  /** `root`: no reply. */
  readonly parentId?: string | undefined;
  /** The first comment of a thread of which all are wanted, itself with them. */
  readonly rootId?: string | undefined;
  readonly resolved?: boolean | undefined;
  readonly assignee?: string | undefined;
  /** Begins after the comment of this time and id. */
  readonly after?: CommentPlace | undefined;
  readonly limit: number;
}

export interface CommentPlace {
  readonly createdAtMs: number;
  readonly id: string;
}

export interface CommentPage {
  readonly comments: readonly Comment[];
  /** Number of matches on all pages. */
  readonly count: number;
  readonly hasMore: boolean;
}

interface Node {
  comment: Comment;
  /** Size of the comment as stored. */
  bytes: number;
  /** 0 for the first comment of a thread. */
  readonly depth: number;
  readonly rootId: string;
  readonly replies: Set<string>;
}

// A node with its strings, its set and its place in the map; the texts are counted apart.
const NODE_BYTES = 1200;

export class CommentThreads {
  readonly #nodes = new Map<string, Node>();
  /** Total size of all comments as stored. */
  storedBytes = 0;
  lastCreatedAtMs = 0;

  /** An estimate from above, in bytes of memory. */
  get residentBytes(): number {
    return this.#nodes.size * NODE_BYTES + this.storedBytes * 2;
  }

  get count(): number {
    return this.#nodes.size;
  }

  find(id: string): Comment | undefined {
    return this.#nodes.get(id)?.comment;
  }

  /** Depth of a comment that exists. */
  depthOf(id: string): number {
    return this.#nodes.get(id)?.depth ?? 0;
  }

  rootOf(id: string): string {
    return this.#nodes.get(id)?.rootId ?? id;
  }

  replyCount(id: string): number {
    return this.#nodes.get(id)?.replies.size ?? 0;
  }

  /** Bytes that the comment has as it is stored. */
  bytesOf(id: string): number {
    return this.#nodes.get(id)?.bytes ?? 0;
  }

  /** A new comment is appended; its parent must already exist. */
  put(comment: Comment, bytes: number): void {
    const { id, parentId } = comment;
    const node = this.#nodes.get(id);
    this.storedBytes += bytes - (node?.bytes ?? 0);
    if (node !== undefined) {
      node.comment = comment;
      node.bytes = bytes;
      return;
    }
    const parent = parentId === null ? undefined : this.#nodes.get(parentId);
    parent?.replies.add(id);
    this.#nodes.set(id, {
      comment,
      bytes,
      depth: parent === undefined ? 0 : parent.depth + 1,
      rootId: parent?.rootId ?? id,
      replies: new Set(),
    });
    this.lastCreatedAtMs = Math.max(this.lastCreatedAtMs, comment.createdAtMs);
  }

  /** The comment and all below it, each before its replies. */
  *below(id: string): Generator<string> {
    const waiting = [id];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      yield next;
      waiting.push(...(this.#nodes.get(next)?.replies ?? []));
    }
  }

  delete(id: string): void {
    const node = this.#nodes.get(id);
    if (node === undefined) return;
    this.#nodes.delete(id);
    this.storedBytes -= node.bytes;
    if (node.comment.parentId !== null) this.#nodes.get(node.comment.parentId)?.replies.delete(id);
  }

  *all(): Generator<Comment> {
    for (const { comment } of this.#nodes.values()) yield comment;
  }

  page(query: CommentQuery): CommentPage {
    const comments: Comment[] = [];
    let count = 0;
    let hasMore = false;
    for (const { comment, rootId } of this.#nodes.values()) {
      if (!matches(comment, rootId, query)) continue;
      count += 1;
      if (query.after !== undefined && !isAfter(comment, query.after)) continue;
      if (comments.length < query.limit) comments.push(comment);
      else hasMore = true;
    }
    return { comments, count, hasMore };
  }
}

function matches(comment: Comment, rootId: string, query: CommentQuery): boolean {
  const { contextId, parentId, resolved, assignee } = query;
  if (contextId !== undefined && comment.contextId !== contextId) return false;
  if (parentId !== undefined && comment.parentId !== (parentId === 'root' ? null : parentId)) return false;
  if (query.rootId !== undefined && rootId !== query.rootId) return false;
  if (resolved !== undefined && (comment.resolvedAtMs !== null) !== resolved) return false;
  return assignee === undefined || comment.assigneeUserId === assignee;
}

function isAfter({ createdAtMs, id }: Comment, place: CommentPlace): boolean {
  return createdAtMs > place.createdAtMs || (createdAtMs === place.createdAtMs && id > place.id);
}
