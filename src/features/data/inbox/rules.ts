/** Items of the inbox as its reader sees them. No I/O. */
import type { z } from 'zod';
import { type ArtifactHead, type Principal, roleOf } from '../../../../actors/access/access.ts';
import { isAuthor, mayReview } from '../../../../actors/comments/comment-rules.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { INBOX_REASONS, inboxItem } from '../../../../protocol/data/inbox.ts';
import { type Config, pageUrl } from '../../../platform/config.ts';
import { dateTime } from '../../../platform/date-time.ts';
import { readerOf } from '../comments/person.ts';
import type { InboxRow } from './rows.ts';

const NAMED_MENTION = /@\[([^\]\n]{1,80})\]\(usr_[a-z0-9]{24}\)/g;

/** One line, with mentions as people read them. */
function excerptOf(content: string): string {
  const line = content
    .replace(NAMED_MENTION, '@$1')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const characters = [...line];
  return characters.length <= LIMITS.inboxExcerptCharsMax ? line : `${characters.slice(0, LIMITS.inboxExcerptCharsMax - 1).join('')}…`;
}

function reasonsOf(row: InboxRow): (typeof INBOX_REASONS)[number][] {
  return [
    ...(row.is_mentioned ? (['mention'] as const) : []),
    ...(row.is_assigned ? (['assigned'] as const) : []),
    ...(row.is_owner ? (['owner'] as const) : []),
    ...(row.is_collaborator && !row.is_owner ? (['collaborator'] as const) : []),
  ];
}

/** As `CommentsPart.resolve` decides it in its turn. */
export function mayResolve(row: Pick<InboxRow, 'thread_author_id'>, head: ArtifactHead, principal: Principal): boolean {
  const person = readerOf({ principal, head, role: roleOf(head, principal) });
  return isAuthor({ authorId: row.thread_author_id }, person) || mayReview(person);
}

export function presentItem(
  row: InboxRow,
  canResolve: boolean,
  config: Pick<Config, 'baseUrl' | 'contentHost'>,
): z.input<typeof inboxItem> {
  return {
    artifact: { id: row.artifact_id, slug: row.slug, name: row.artifact_name, url: pageUrl(config, row.slug) },
    comment: {
      id: row.id,
      thread_id: row.thread_id,
      excerpt: excerptOf(row.beginning),
      author_id: row.author_id,
      author_name: row.author_name,
      author_type: row.author_type,
      created_at: dateTime(row.created_at_ms),
      resolved: row.is_resolved,
      due_at: row.due_at_ms === null ? null : dateTime(row.due_at_ms),
      assignee_user_id: row.assignee_user_id,
    },
    reasons: reasonsOf(row),
    unread: row.is_unread,
    can_resolve: canResolve,
  };
}
