/** What a mail is: whether anybody has written it, and which ticket it belongs to. Decided without I/O. */
import { createHash } from 'node:crypto';
import { LIMITS } from '../../../../../protocol/core/limits.ts';
import type { CutMail } from '../quoting.ts';
import { tokenIn } from '../rules.ts';
import type { MailFile, ParsedMail } from './mail-message.ts';

/** The Message-IDs that this service gives its mail. */
const OWN_ID = /^<(eml_[a-z0-9]{24})@/;
const DAEMONS = /^(?:mailer-daemon|postmaster|bounces?)(?:[+-][^@]*)?@/;
/** Nobody reads what is sent there, so nobody has written from there. */
const MACHINES = /^(?:no-?reply|do-?not-?reply)(?:[+-][^@]*)?@/;
const BULK = /^(?:bulk|junk|list|auto_reply)$/i;

export interface OwnAddresses {
  /** Where people write to. */
  readonly support: string;
  /** The sender of our own mail. */
  readonly from: string;
}

export type NotWritten = 'automatic' | 'bulk' | 'list' | 'loop' | 'bounce' | 'no_sender';

/** Why nobody has written it, so that it makes nothing and is answered by nothing; null for a mail of a person. `envelopeFrom`: where known. */
export function notWritten(mail: ParsedMail, own: OwnAddresses, envelopeFrom: string | null): NotWritten | null {
  return byHeaders(mail, envelopeFrom) ?? bySender(mail, own);
}

function byHeaders({ marks, messageId }: ParsedMail, envelopeFrom: string | null): NotWritten | null {
  if (envelopeFrom === '' || /^\s*<>\s*$/.test(marks['return-path'] ?? '')) return 'bounce';
  if (/^multipart\/report\b/i.test((marks['content-type'] ?? '').trim())) return 'bounce';
  if (marks['x-loop'] !== undefined || (messageId !== null && OWN_ID.test(messageId))) return 'loop';
  const automatic = marks['auto-submitted'];
  if (automatic !== undefined && !/^\s*no\b/i.test(automatic)) return 'automatic';
  if (marks['x-autoreply'] !== undefined || marks['x-autorespond'] !== undefined) return 'automatic';
  if (BULK.test((marks.precedence ?? '').trim())) return 'bulk';
  return marks['list-id'] === undefined ? null : 'list';
}

function bySender({ from }: ParsedMail, own: OwnAddresses): NotWritten | null {
  if (from === null) return 'no_sender';
  if (from.address === own.from.toLowerCase() || from.address === own.support.toLowerCase()) return 'loop';
  if (tokenIn(own.support, from.address) !== undefined) return 'loop';
  if (DAEMONS.test(from.address)) return 'bounce';
  return MACHINES.test(from.address) ? 'automatic' : null;
}

/** Tokens of tickets in the addresses that it was sent to. */
export function tokensOf(
  mail: Pick<ParsedMail, 'recipients'>,
  envelopeTo: readonly string[],
  { support }: OwnAddresses,
): readonly string[] {
  const tokens = [...envelopeTo, ...mail.recipients].flatMap((address) => tokenIn(support, address) ?? []);
  return [...new Set(tokens)];
}

/** Ids in the outbox of our mails that it answers. */
export function answeredMails({ references }: Pick<ParsedMail, 'references'>): readonly string[] {
  return references.flatMap((id) => OWN_ID.exec(id)?.[1] ?? []);
}

/** What a mail is known by. A Message-ID is chosen by its sender, so it counts for that sender only. */
export function keyOfMail({ messageId, from, sha256 }: Pick<ParsedMail, 'messageId' | 'from' | 'sha256'>): Buffer {
  const named = messageId ?? sha256;
  return createHash('sha256')
    .update(`mail ${from?.address ?? ''} ${named}`)
    .digest();
}

export interface Kept extends CutMail {
  /** The whole text as a file, where it is longer than a message may be. */
  readonly whole: MailFile | null;
}

/** A message has a bounded length; what is longer is kept whole beside it. */
export function boundedText(text: string, { body, quoted }: CutMail): Kept {
  const max = LIMITS.ticketBodyCharsMax;
  const chars = [...body.slice(0, max * 2)];
  const isLong = body.length > max * 2 || chars.length > max;
  const bytes = isLong ? Buffer.from(text) : null;
  return {
    body: isLong ? `${chars.slice(0, max - 1).join('')}…` : body === '' ? '—' : body,
    quoted: quoted === null ? null : [...quoted.slice(0, max * 2)].slice(0, max).join(''),
    whole:
      bytes === null
        ? null
        : { filename: 'message.txt', mediaType: 'text/plain', bytes, sha256: createHash('sha256').update(bytes).digest('hex') },
  };
}

const PREFIX = /^(?:(?:re|fwd?|aw|wg|rv)\s*:\s*)+/i;

/** The subject of a new ticket. */
export function subjectOf(subject: string): string {
  const line = subject.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  const bare = line.replace(PREFIX, '') || line;
  return [...bare.slice(0, LIMITS.ticketSubjectCharsMax * 2)].slice(0, LIMITS.ticketSubjectCharsMax).join('') || '—';
}
