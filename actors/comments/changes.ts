/** Comments as the journal takes their changes and as the store gives them back. */
import type { ArtifactId } from '../../protocol/core/ids.ts';

export type CommentChange =
  | {
      readonly kind: 'comment.put';
      readonly commentId: string;
      /** The event that followers receive. */
      readonly cause: 'added' | 'updated' | 'resolved' | 'reaction';
      /** The whole comment as JSON text, as `comments-part.ts` has it. */
      readonly data: string;
      readonly createdAtMs: number;
      readonly updatedAtMs: number;
      /** What an edit has replaced, kept in the history of the comment. */
      readonly replaced: { readonly content: string; readonly atMs: number } | null;
    }
  | { readonly kind: 'comment.delete'; readonly commentId: string; readonly atMs: number }
  /** The comment settings as JSON text. */
  | { readonly kind: 'comments.config'; readonly config: string; readonly atMs: number };

export interface StoredComment {
  readonly id: string;
  /** JSON text. */
  readonly data: string;
  readonly seq: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface StoredComments {
  /** JSON text; null while nothing was ever set. */
  readonly config: string | null;
  /** In the order in which they were made. */
  readonly comments: readonly StoredComment[];
}

export interface CommentReads {
  /** Null if `epoch` is stale: another owner may have written since. */
  readComments(artifactId: ArtifactId, epoch: number): Promise<StoredComments | null>;
}
