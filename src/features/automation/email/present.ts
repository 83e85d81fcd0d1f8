/** What callers see of a mail. */
import type { z } from 'zod';
import type { email, emailStatus } from '../../../../protocol/automation/email.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { BatchRow, MailRow } from './rows.ts';

/** `isOwner`: of the artifact. The owner's address is nobody else's business, and mail servers repeat it in what they say. */
export function presentBatch(row: BatchRow, isOwner: boolean): z.input<typeof email> {
  const isHidden = row.purpose === 'owner' && !isOwner;
  return {
    id: row.id,
    artifact_id: row.artifact_id,
    sender_id: row.sender_id,
    purpose: row.purpose,
    subject: row.subject,
    status: statusOf(row.mails),
    recipients: row.mails.map(({ recipient, status, attempts, failure, sent_at_ms }) => ({
      to: isHidden ? null : recipient,
      status,
      attempts,
      error: isHidden ? null : failure,
      sent_at: sent_at_ms === null ? null : dateTime(sent_at_ms),
    })),
    attachments: [...row.attachments],
    created_at: dateTime(row.created_at_ms),
  };
}

function statusOf(mails: readonly Pick<MailRow, 'status'>[]): z.input<typeof emailStatus> {
  const [first, ...others] = new Set(mails.map(({ status }) => status));
  if (first === undefined) return 'failed';
  if (others.length === 0) return first;
  if (mails.some(({ status }) => status === 'queued')) return 'queued';
  return mails.some(({ status }) => status === 'sent') ? 'partly_sent' : 'failed';
}
