/** Tells people by mail that they were mentioned or are asked to do something. A comment stands whether or not this works. */
import type { ArtifactHead } from '../../../actors/access.ts';
import type { Comment } from '../../../actors/comment-threads.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { pageUrl } from '../../config.ts';
import type { ServiceDeps } from '../deps.ts';
import { countMail, type Mail, queueMail } from '../mail/outbox.ts';
import type { Member } from './person.ts';

const DAY_MS = 24 * 3_600_000;
const EXCERPT_CHARS = 300;

export interface NotifyDeps extends Pick<ServiceDeps, 'sql' | 'clock' | 'config' | 'log'> {
  /** To be woken when mail was queued. */
  readonly mail: { wake(): void };
}

export interface Told {
  readonly kind: 'mention' | 'assigned';
  readonly people: readonly Member[];
}

/** Never rejects. Who wrote it is not told, and nobody is told what somebody without a proved name wants them to be told. */
export async function notify(
  deps: NotifyDeps,
  head: ArtifactHead,
  comment: Comment,
  by: { id: string | null; name: string | null },
  told: readonly Told[],
) {
  if (by.id === null) return;
  const wanted = told.flatMap(({ kind, people }) =>
    people.flatMap(({ userId, email }) => (email === null || userId === by.id ? [] : [{ kind, recipient: email }])),
  );
  if (wanted.length === 0) return;
  try {
    const nowMs = deps.clock.nowMs();
    const kinds = ['mention', 'assigned'] as const;
    const had = await countMail(deps.sql, { artifactId: head.id, kinds, sinceMs: nowMs - DAY_MS });
    const mails = wanted.slice(0, Math.max(0, LIMITS.commentMailsPerDay - had));
    if (mails.length < wanted.length)
      deps.log.warn({ artifactId: head.id, left: wanted.length - mails.length }, 'an artifact sends too many notices');
    const name = await artifactName(deps, head);
    await queueMail(
      deps.sql,
      mails.map(({ kind, recipient }) => noticeOf(deps, head, comment, { kind, recipient, by: by.name ?? 'Somebody', artifact: name })),
      nowMs,
    );
    deps.mail.wake();
  } catch (err) {
    deps.log.error({ err, artifactId: head.id, comment: comment.id }, 'people could not be told of a comment');
  }
}

async function artifactName({ sql }: NotifyDeps, { id, slug }: ArtifactHead): Promise<string> {
  const [row] = await sql<{ name: string }[]>`select name from artifact where id = ${id}`;
  return row?.name ?? slug;
}

interface Notice {
  readonly kind: Told['kind'];
  readonly recipient: string;
  readonly by: string;
  readonly artifact: string;
}

function noticeOf({ config }: NotifyDeps, head: ArtifactHead, comment: Comment, { kind, recipient, by, artifact }: Notice): Mail {
  const did = kind === 'mention' ? 'mentioned you in a comment on' : 'assigned you a comment on';
  const title = oneLine(artifact);
  const due = comment.dueAtMs === null ? '' : `Due ${new Date(comment.dueAtMs).toISOString().slice(0, 10)}.\n\n`;
  const text = `${oneLine(by)} ${did} "${title}":\n\n${excerpt(comment.content)}\n\n${due}${pageUrl(config, head.slug)}/\n`;
  return { artifactId: head.id, kind, recipient, subject: `${oneLine(by)} ${did} "${title}"`, text };
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}

function excerpt(content: string): string {
  const chars = [...content];
  const text = chars.length > EXCERPT_CHARS ? `${chars.slice(0, EXCERPT_CHARS).join('')}…` : content;
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}
