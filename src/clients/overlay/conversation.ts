/** The comments that this visitor has loaded, grouped in threads. */
import type { CommentChange } from '../page/api.ts';
import type { Comment } from '../page/wire.ts';

export interface Thread {
  readonly root: Comment;
  /** Replies at every depth, oldest first. */
  readonly replies: readonly Comment[];
}

export class Conversation {
  readonly #comments = new Map<string, Comment>();

  /** Applies a live change. */
  take(change: CommentChange): void {
    if (change.type === 'comments') {
      const before = new Map(this.#comments);
      this.#comments.clear();
      for (const comment of change.comments) {
        const known = before.get(comment.id);
        // The list may be older than the answer to a write that was made while it was read.
        this.#comments.set(comment.id, known !== undefined && known.seq > comment.seq ? known : comment);
      }
    } else if (change.type === 'put') this.put(change.comment);
    else if (change.type === 'delete') this.delete(change.id);
  }

  put(comment: Comment): void {
    const known = this.#comments.get(comment.id);
    if (known !== undefined && known.seq > comment.seq) return;
    this.#comments.set(comment.id, known === undefined ? comment : withMine(comment, known));
  }

  /** Deletes the comment and all replies below it. */
  delete(id: string): void {
    this.#comments.delete(id);
    for (const { id: below, parentId } of [...this.#comments.values()]) if (parentId === id) this.delete(below);
  }

  get(id: string): Comment | undefined {
    return this.#comments.get(id);
  }

  all(): Iterable<Comment> {
    return this.#comments.values();
  }

  /** Oldest first. */
  threads(): Thread[] {
    const roots = new Map<string, { root: Comment; replies: Comment[] }>();
    const sorted = [...this.#comments.values()].sort((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
    for (const comment of sorted) {
      const root = this.#rootOf(comment);
      if (root === comment) roots.set(root.id, { root, replies: [] });
      else roots.get(root.id)?.replies.push(comment);
    }
    return [...roots.values()];
  }

  #rootOf(comment: Comment): Comment {
    let root = comment;
    for (let above: Comment | undefined = comment; above !== undefined; above = this.#comments.get(above.parentId ?? '')) root = above;
    return root;
  }
}

/** Live events are the same for everybody, so fields about this visitor are kept from the known comment. */
function withMine(comment: Comment, known: Comment): Comment {
  const reactions = Object.entries(comment.reactions).map(([emoji, { count, mine }]) => {
    return [emoji, { count, mine: mine ?? known.reactions[emoji]?.mine ?? false }] as const;
  });
  return { ...known, ...comment, reactions: Object.fromEntries(reactions) };
}
