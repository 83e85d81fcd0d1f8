/** Codes of invitations, and what may become of one, decided without I/O. */
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Failure } from '../../../../protocol/core/errors.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { dateTime } from '../../../platform/date-time.ts';
import type { InviteRow, InviteStatus } from './rows.ts';

// RFC 4648 base 32 in lowercase without what reads like something else.
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
/** 100 random bits, in groups that can be typed from a mail. */
const CODE_CHARS = 20;
const GROUP_CHARS = 5;

export function newCode(): string {
  const chars = [...randomBytes(CODE_CHARS)].map((byte) => ALPHABET[byte & 31]).join('');
  return (chars.match(new RegExp(`.{${GROUP_CHARS}}`, 'g')) ?? []).join('-');
}

/** Of a code as it was typed, or of the link in the mail. Only the digest is stored. */
export function codeSha256(given: string): Buffer {
  const last = given.split('/').at(-1) ?? '';
  const code = last.toLowerCase().replace(/[^a-z0-9]/g, '');
  return createHash('sha256').update(`invite ${code}`).digest();
}

const address = z.email().max(LIMITS.emailCharsMax);

/** In lowercase; null for a text that is no address. */
export function addressOf(text: string): string | null {
  const parsed = address.safeParse(text.trim());
  return parsed.success ? parsed.data.toLowerCase() : null;
}

export function statusOf(row: InviteRow, nowMs: number): InviteStatus {
  if (row.accepted_at_ms !== null) return 'accepted';
  if (row.revoked_at_ms !== null) return 'revoked';
  return row.expires_at_ms <= nowMs ? 'expired' : 'pending';
}

/** The invitation, where it can still be sent again or revoked. Throws INVITE_NOT_FOUND, INVITE_CLOSED. */
export function requireUnanswered(row: InviteRow | null): InviteRow {
  if (row === null) throw new Failure('INVITE_NOT_FOUND');
  if (row.accepted_at_ms !== null || row.revoked_at_ms !== null) throw new Failure('INVITE_CLOSED');
  return row;
}

/** Throws INVITE_CLOSED. */
export function requirePending(row: InviteRow, nowMs: number): void {
  if (statusOf(row, nowMs) !== 'pending') throw new Failure('INVITE_CLOSED');
}

/** Throws WORKSPACE_LIMIT_EXCEEDED. */
export function requireRoomForInvites(open: number, added: number): void {
  if (open + added <= LIMITS.workspaceInvitesOpenMax) return;
  throw new Failure('WORKSPACE_LIMIT_EXCEEDED', {
    message: `A workspace may have ${LIMITS.workspaceInvitesOpenMax} open invitations.`,
    hint: 'Revoke some first; GET …/invites?status=pending lists them.',
  });
}

export function presentInvite(row: InviteRow, nowMs: number) {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    status: statusOf(row, nowMs),
    invited_by: row.invited_by,
    sent_at: dateTime(row.sent_at_ms),
    expires_at: dateTime(row.expires_at_ms),
  };
}
