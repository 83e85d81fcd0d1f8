import type { RestoredKind } from '../runtime/live-kind.ts';
import type { CommentChange } from './changes.ts';
import { type CommentsDeps, CommentsPart } from './comments-part.ts';

/** The part is made with its actor and reads the comments when somebody first asks for them. */
export const commentsKind: RestoredKind<CommentChange, object, CommentsDeps, CommentsPart> = {
  changes: { 'comment.put': 'put', 'comment.delete': 'deletion', 'comments.config': 'put' },
  valueBytes: (change) => (change.kind === 'comment.put' ? change.data.length : 0),
  restore: (deps) => new CommentsPart(deps),
};
