/** Mails people who were mentioned or assigned. A comment is stored whether or not its mail can be queued. */
import type { ArtifactHead } from '../../../../actors/access/access.ts';
import type { CommentPerson } from '../../../../actors/comments/comment-rules.ts';
import type { Comment } from '../../../../actors/comments/comment-threads.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { queueMailWithin } from '../../../mail/outbox.ts';
import { composeMail, type Mail } from '../../../mail/templates/compose.ts';
import { localeOf } from '../../../mail/templates/message.ts';
import { pageUrl } from '../../../platform/config.ts';
import type { ServiceDeps } from '../../deps.ts';
import { readArtifactName } from './rows.ts';
import type { NoticeKind, Recipients } from './rules.ts';

const DAY_MS = 24 * 3_600_000;
const KINDS: readonly NoticeKind[] = ['mention', 'assigned'];

export interface NotifyDeps extends Pick<ServiceDeps, 'sql' | 'clock' | 'config' | 'log'> {
  /** Woken after mail is queued. */
  readonly mail: { wake(): void };
}

/** Never rejects. The author gets no mail, and an author without a proved identity causes none: anybody could send mail through it. */
export async function notify(
  deps: NotifyDeps,
  head: ArtifactHead,
  comment: Comment,
  author: Pick<CommentPerson, 'id' | 'own' | 'name'>,
  recipients: readonly Recipients[],
): Promise<void> {
  if (author.id === null) return;
  const addressed = recipients.flatMap(({ kind, people }) =>
    people.flatMap(({ userId, email, locale }) => (email === null || author.own.has(userId) ? [] : [{ kind, recipient: email, locale }])),
  );
  if (addressed.length === 0) return;
  // Linked accounts may share an address, which gets one notice: that of the assignment, which comes last.
  const notices = [...new Map(addressed.map((notice) => [notice.recipient.toLowerCase(), notice])).values()];
  try {
    const nowMs = deps.clock.nowMs();
    const artifact = (await readArtifactName(deps.sql, head.id)) ?? head.slug;
    const mails = notices.map((notice) => noticeOf(deps, head, comment, { ...notice, by: author.name ?? 'Somebody', artifact }));
    const limit = { artifactId: head.id, kinds: KINDS, sinceMs: nowMs - DAY_MS, mailsMax: LIMITS.commentMailsPerDay };
    const queued = await queueMailWithin(deps.sql, mails, limit, nowMs);
    if (queued < mails.length) {
      deps.log.warn(
        { artifactId: head.id, dropped: mails.length - queued },
        'comment notices were dropped: the artifact is at its daily limit',
      );
    }
    deps.mail.wake();
  } catch (err) {
    deps.log.error({ err, artifactId: head.id, comment: comment.id }, 'the notices of a comment could not be queued');
  }
}

interface Notice {
  readonly kind: NoticeKind;
  readonly recipient: string;
  readonly locale: string | null;
  readonly by: string;
  readonly artifact: string;
}

function noticeOf({ config }: NotifyDeps, head: ArtifactHead, comment: Comment, notice: Notice): Mail {
  const { kind, recipient, by, artifact } = notice;
  const facts = { by, artifact, content: comment.content, dueAtMs: comment.dueAtMs, url: `${pageUrl(config, head.slug)}/` };
  return composeMail(kind, facts, { recipient, locale: localeOf(notice.locale), artifactId: head.id });
}
