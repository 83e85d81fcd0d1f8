/**
 * The comments of an imported zip. A zip can claim anything, so the importer is the only account that stays the author of a comment or of a
 * reaction: other authors keep their displayed names and lose their accounts.
 */
import { z } from 'zod';
import type { CommentData } from '../../../../actors/comments/comment-threads.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import { storedText } from '../../../../protocol/core/fields.ts';
import { type ArtifactId, idSchema, type UserId, type VersionId } from '../../../../protocol/core/ids.ts';
import { readInput } from '../../../../protocol/core/issues.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import {
  AUTHOR_TYPES,
  commentContextId,
  commentId,
  commentPosition,
  commentQuote,
  personName,
  reactionEmoji,
} from '../../../../protocol/data/comments.ts';
import type { Queries } from '../../deps.ts';
import { COMMENTS_ENTRY, type Manifest } from './manifest.ts';
import { insertCommentSettings, insertComments } from './rows.ts';
import { archiveFailure, type ZipReader } from './zip-reader.ts';

const ms = z.number().int().min(0);
const somebody = storedText(64).nullable();

const line = z.object({
  id: commentId,
  createdAtMs: ms,
  updatedAtMs: ms,
  data: z.object({
    contextId: commentContextId.nullable(),
    parentId: commentId.nullable(),
    authorId: somebody,
    authorName: personName.nullable(),
    authorType: z.enum(AUTHOR_TYPES),
    content: storedText(LIMITS.commentCharsMax).refine((text) => !/\p{Cs}/u.test(text), 'must not contain half a surrogate pair'),
    position: commentPosition.nullable(),
    quote: commentQuote.nullable(),
    versionId: idSchema('version').nullable(),
    reactions: z
      .record(reactionEmoji, z.array(z.string()).max(LIMITS.commentReactorsMax))
      .refine((reactions) => Object.keys(reactions).length <= LIMITS.commentEmojiMax, 'has too many emoji'),
    resolvedBy: somebody,
    resolvedAtMs: ms.nullable(),
    assigneeUserId: somebody,
    dueAtMs: z.number().int().nullable(),
    edits: z.number().int().min(0).max(LIMITS.commentEditsMax),
  }),
});
type Line = z.output<typeof line>;

/** Throws INVALID_REQUEST or COMMENT_LIMIT_EXCEEDED, naming the entry. */
export async function readComments(zip: ZipReader, said: Manifest): Promise<readonly Line[]> {
  if (said.comments === undefined) return [];
  const tooMuch = () => new Failure('COMMENT_LIMIT_EXCEEDED', { param: COMMENTS_ENTRY });
  // A line has an id and times beside its data.
  const bytes = await zip.read(COMMENTS_ENTRY, LIMITS.commentsBytesMax + LIMITS.commentsMax * 256, tooMuch);
  const texts = bytes
    .toString('utf8')
    .split('\n')
    .filter((text) => text !== '');
  if (texts.length > LIMITS.commentsMax) throw tooMuch();
  const lines = texts.map((text, at) => parsed(text, at + 1));
  lines.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  const depths = new Map<string, number>();
  for (const { id, data } of lines) {
    const depth = data.parentId === null ? 0 : (depths.get(data.parentId) ?? Number.POSITIVE_INFINITY) + 1;
    if (depth > LIMITS.commentDepthMax)
      throw archiveFailure(COMMENTS_ENTRY, `has ${id} without its parent before it, or nested too deeply`);
    if (depths.has(id)) throw archiveFailure(COMMENTS_ENTRY, `has ${id} twice`);
    depths.set(id, depth);
  }
  return lines;
}

function parsed(text: string, number: number): Line {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw archiveFailure(COMMENTS_ENTRY, `line ${number} is not JSON`);
  }
  const { value: read, issues } = readInput(line, value);
  if (issues === undefined) return read;
  const [issue] = issues;
  throw archiveFailure(COMMENTS_ENTRY, `line ${number}: ${issue?.path} ${issue?.message}`);
}

interface Into {
  readonly id: ArtifactId;
  readonly importer: UserId;
  readonly versionId: VersionId;
  readonly seqBefore: number;
  readonly nowMs: number;
}

/** The settings and each comment are one change. Answers the `seq` of the last. */
export async function importComments(tx: Queries, into: Into, said: Manifest, lines: readonly Line[]): Promise<number> {
  const settings = said.comments?.settings ?? null;
  let seq = into.seqBefore;
  if (settings !== null) {
    seq += 1;
    await insertCommentSettings(tx, into.id, settings, seq, into.nowMs);
  }
  if (lines.length === 0) return seq;
  const comments = lines.map(({ data, ...line }, at) => ({
    ...line,
    data: JSON.stringify(dataOf(data, into, said.comments?.version_id, seq + at + 1)),
  }));
  await insertComments(tx, into.id, seq, comments);
  return seq + lines.length;
}

function dataOf(data: Line['data'], { importer, versionId }: Into, exportedVersionId: string | undefined, saidSeq: number): CommentData {
  const own = (id: string | null) => (id === importer ? id : null);
  let unknown = 0;
  const reactions = Object.entries(data.reactions).map(([emoji, people]) => {
    const kept = people.map((id) => own(id) ?? `imported:${++unknown}`);
    return [emoji, kept] as const;
  });
  return {
    ...data,
    authorId: own(data.authorId),
    mentions: [],
    reactions: Object.fromEntries(reactions),
    resolvedBy: own(data.resolvedBy),
    assigneeUserId: own(data.assigneeUserId),
    // Only the exported version exists here; comments on other versions lose theirs.
    versionId: data.versionId !== null && data.versionId === exportedVersionId ? versionId : null,
    saidSeq,
  };
}
