/** The comments of an artifact in its zip: the settings are in the manifest, each comment is a line of JSON. Earlier texts of edited comments are not exported. */
import type { CommentSettings } from '../../../../actors/comments/comment-rules.ts';
import type { ExportedComment } from './rows.ts';

export interface ExportedComments {
  /** Null where nothing was ever set. */
  readonly settings: CommentSettings | null;
  readonly comments: readonly ExportedComment[];
}

/** One line with its line break. */
export function commentLine({ id, data, createdAtMs, updatedAtMs }: ExportedComment): string {
  return `{"id":"${id}","createdAtMs":${createdAtMs},"updatedAtMs":${updatedAtMs},"data":${data}}\n`;
}
