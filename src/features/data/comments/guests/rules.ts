/** Decisions about guests and their codes. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ArtifactHead } from '../../../../../actors/access/access.ts';
import { type CommentSettings, guestsMay } from '../../../../../actors/comments/comment-rules.ts';
import { Failure } from '../../../../../protocol/core/errors.ts';
import type { ArtifactId } from '../../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import { composeMail, type Mail } from '../../../../mail/templates/compose.ts';
import { localeOf } from '../../../../mail/templates/message.ts';
import type { CodeRow, GuestAddress } from './rows.ts';

const CODE_DIGITS = 6;
export const CODES = 10 ** CODE_DIGITS;
const HOUR_S = 3600;

/** Throws COMMENTS_DISABLED, FORBIDDEN. */
export function assertGuestsMayComment(settings: CommentSettings, { folder }: Pick<ArtifactHead, 'folder'>): void {
  if (!settings.enabled) throw new Failure('COMMENTS_DISABLED');
  if (guestsMay(settings, folder?.guestComments ?? false)) return;
  throw new Failure('FORBIDDEN', { message: 'This artifact does not accept comments of guests.', hint: 'Send a token of an account.' });
}

/** `sent`: codes sent to one address within the last hour. Throws RATE_LIMITED. */
export function assertCodeMayBeSent(sent: number): void {
  if (sent < LIMITS.guestCodesPerHourPerEmail) return;
  throw new Failure('RATE_LIMITED', {
    message: `This address has been sent ${LIMITS.guestCodesPerHourPerEmail} codes within the last hour.`,
    retryAfterS: HOUR_S,
  });
}

/** `number` from 0 to `CODES`, exclusive. */
export function codeOf(number: number): string {
  return String(number).padStart(CODE_DIGITS, '0');
}

export function digestOf({ artifactId, email }: GuestAddress, code: string): Buffer {
  return createHash('sha256').update(`${artifactId} ${email} ${code}`).digest();
}

export function isUsable(row: CodeRow, nowMs: number): boolean {
  return row.attempts_left > 0 && row.expires_at_ms > nowMs;
}

export function isRight(row: CodeRow, digest: Buffer): boolean {
  return timingSafeEqual(row.code_sha256, digest);
}

/** Nothing is known of a guest but the address, so the mail is in the default language. */
export function codeMail(artifactId: ArtifactId, recipient: string, code: string, url: string): Mail {
  const minutes = LIMITS.guestCodeTtlMs / 60_000;
  return composeMail('guest_code', { code, url: `${url}/`, minutes }, { recipient, locale: localeOf(), artifactId });
}
