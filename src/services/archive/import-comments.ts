/**
 * The comments of an imported zip. Whoever made the zip can have written anything into it, so nobody is made the author of a comment, or
 * somebody who reacted, by it but the importer: names stay as they are shown, the people behind them do not.
 */
import { z } from 'zod';
import type { CommentData } from '../../../actors/comment-threads.ts';
import { Failure } from '../../../protocol/errors.ts';
import { type ArtifactId, idSchema, type UserId, type VersionId } from '../../../protocol/ids.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import {
  AUTHOR_TYPES,
  commentContextId,
  commentId,
  commentPosition,
  commentQuote,
  personName,
  reactionEmoji,
} from '../../../protocol/schemas/comment.ts';
import { storedText } from '../../../protocol/schemas/common.ts';
import type { Queries } from '../deps.ts';
import { COMMENTS_ENTRY, type Manifest } from './manifest.ts';
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
  // Beside its data a line has its id and times.
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
    if (depth > LIMITS.commentDepthMax) throw archiveFailure(COMMENTS_ENTRY, `has ${id} below nothing, or too deep`);
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
  const result = line.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw archiveFailure(COMMENTS_ENTRY, `line ${number}: ${issue?.path.join('.')} ${issue?.message}`);
}

interface Into {
  readonly id: ArtifactId;
  readonly importer: UserId;
  readonly versionId: VersionId;
  readonly seqBefore: number;
  readonly nowMs: number;
}

/** Written as the actor would have: the settings and each comment are one change. The seq of the last. */
export async function insertComments(tx: Queries, into: Into, said: Manifest, lines: readonly Line[]): Promise<number> {
  const settings = said.comments?.settings ?? null;
  let seq = into.seqBefore;
  if (settings !== null) {
    seq += 1;
    await tx`
      insert into comment_config (artifact_id, config, seq, updated_at_ms)
      values (${into.id}, ${JSON.stringify(settings)}::text::jsonb, ${seq}, ${into.nowMs})`;
  }
  if (lines.length === 0) return seq;
  const texts = lines.map((one, at) => JSON.stringify(dataOf(one.data, into, said.comments?.version_id, seq + at + 1)));
  await tx`
    insert into comment (artifact_id, id, data, seq, created_at_ms, updated_at_ms)
    select ${into.id}, u.id, data::jsonb, ${seq} + n, created, updated
    from unnest(
      ${lines.map(({ id }) => id)}::text[], ${texts}::text[],
      ${lines.map(({ createdAtMs }) => createdAtMs)}::bigint[], ${lines.map(({ updatedAtMs }) => updatedAtMs)}::bigint[]
    ) with ordinality as u (id, data, created, updated, n)`;
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
    // Of other versions than the one that was exported nothing is known here.
    versionId: data.versionId !== null && data.versionId === exportedVersionId ? versionId : null,
    saidSeq,
  };
}
