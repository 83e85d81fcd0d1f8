/** Queues mail on behalf of a page, and spends what its sender and the artifact may send in a day. */

import { Failure } from '../../../../protocol/core/errors.ts';
import type { ArtifactId, MailBatchId, UserId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { PAGE_MAIL_LIMITS } from '../../../../protocol/core/rate-limits.ts';
import { requireAccepted, type Spent } from '../../../edge/limits.ts';
import { suppressedAmong } from '../../../mail/suppression.ts';
import { localeOf, oneLine } from '../../../mail/templates/message.ts';
import { rateOf } from '../../business/tiers/rules.ts';
import type { LimiterDeps, Queries } from '../../deps.ts';
import { textOfHtml } from '../templates/text-of-html.ts';
import { type AttachedFile, insertAttachments } from './attachment-rows.ts';
import { insertBatch, insertMails, readLanguages, readSender, type Sender } from './rows.ts';

export interface PageMail {
  readonly artifactId: ArtifactId;
  /** The account that sends it, or whose job does: it spends that person's mails and needs a proved address. */
  readonly senderUserId: UserId | null;
  /** Addresses that were checked, in lowercase. Each gets a mail of its own. */
  readonly to: readonly string[];
  readonly subject: string;
  /** One of the two at least. */
  readonly html?: string | undefined;
  readonly text?: string | undefined;
  readonly replyTo?: string | null;
  /** What goes along: `requireAttachable` says which files may. */
  readonly attachments?: readonly AttachedFile[];
  readonly nowMs: number;
  readonly limiters: Pick<LimiterDeps['limiters'], 'shared'>;
  /** Of a message to the owner of the page. */
  readonly toOwner?: {
    /** Where a visitor without an account writes: their network, and the digest of the work that they did. */
    readonly visitor?: { readonly network: string; readonly proofSha256: Uint8Array };
    /** The language of the owner. */
    readonly locale: unknown;
  };
}

export interface QueuedMail {
  readonly id: MailBatchId;
  /** `suppressed`: none of the recipients gets mail of this page. */
  readonly status: 'queued' | 'suppressed';
  /** What the sender may still send today; null where none was spent. */
  readonly left: Spent | null;
}

/**
 * Each recipient who gets it is one mail of the sender's and the artifact's day, all of them or none. The caller wakes the sender of mail after
 * the commit. Throws RATE_LIMITED, EMAIL_NOT_PROVED, PROOF_INVALID, INVALID_REQUEST.
 */
export async function queuePageMail(tx: Queries, mail: PageMail): Promise<QueuedMail> {
  const { artifactId, senderUserId, nowMs, toOwner } = mail;
  const subject = oneLine(storable(mail.subject));
  const { text, html } = partsOf(mail);
  const to = [...new Set(mail.to.map((address) => address.toLowerCase()))];
  if (to.length === 0 || to.length > LIMITS.mailRecipientsMax) throw new Error(`a mail to ${to.length} recipients was not refused before`);
  const suppressed = await suppressedAmong(tx, artifactId, to, nowMs);
  const left = await spend(tx, mail, to.length - suppressed.size);
  const languages = toOwner === undefined ? await readLanguages(tx, artifactId, senderUserId) : [toOwner.locale];
  const purpose = toOwner === undefined ? 'page' : 'owner';
  const proofSha256 = toOwner?.visitor?.proofSha256 ?? null;
  const id = await insertBatch(tx, {
    artifactId,
    senderId: senderUserId,
    purpose,
    subject,
    locale: localeOf(...languages),
    proofSha256,
    nowMs,
  });
  if (id === null) throw new Failure('PROOF_INVALID');
  await insertAttachments(tx, id, mail.attachments ?? []);
  const replyTo = mail.replyTo ?? null;
  await insertMails(
    tx,
    { id, artifactId, purpose, nowMs },
    to.map((recipient) => ({ recipient, subject, text, html, replyTo, isSuppressed: suppressed.has(recipient) })),
  );
  return { id, status: suppressed.size === to.length ? 'suppressed' : 'queued', left };
}

export const DAY_IS_SPENT = {
  ofPerson: (quota: number) => `A person may send ${quota} mails in 24 hours; each recipient is one.`,
  ofArtifact: (quota: number) => `An artifact may send ${quota} mails in 24 hours; each recipient is one.`,
} as const;

/** Always in this order, so that two transactions do not wait for each other. */
async function spend(tx: Queries, { artifactId, senderUserId, limiters, toOwner }: PageMail, mails: number): Promise<Spent | null> {
  const { ofNetwork, ofArtifact } = PAGE_MAIL_LIMITS;
  const sender = senderUserId === null ? null : await readSender(tx, senderUserId);
  if (senderUserId !== null && sender?.isProved !== true) throw new Failure('EMAIL_NOT_PROVED');
  if (mails === 0) return null;
  const network = toOwner?.visitor?.network;
  if (network !== undefined) {
    requireAccepted(
      ofNetwork,
      await limiters.shared.spendIn(tx, ofNetwork, network, mails),
      'Many messages were sent from this network today.',
    );
  }
  const left = sender === null ? null : await spendOfPerson(tx, limiters, sender, mails);
  const spent = await limiters.shared.spendIn(tx, ofArtifact, artifactId, mails);
  requireAccepted(ofArtifact, spent, DAY_IS_SPENT.ofArtifact(ofArtifact.quota));
  return left;
}

async function spendOfPerson(tx: Queries, limiters: PageMail['limiters'], { personId, tier }: Sender, mails: number): Promise<Spent> {
  const limit = rateOf(PAGE_MAIL_LIMITS.ofPerson, tier);
  const left = await limiters.shared.spendIn(tx, limit, personId, mails);
  requireAccepted(limit, left, DAY_IS_SPENT.ofPerson(limit.quota));
  return left;
}

function partsOf({ text, html }: PageMail): { readonly text: string; readonly html: string | null } {
  if (text === undefined && html === undefined) {
    throw new Failure('INVALID_REQUEST', { param: 'text', message: 'text: the mail has no content.', hint: 'Send text, html or both.' });
  }
  requireShort('html', html, LIMITS.templateOutputCharsMax);
  requireShort('text', text, LIMITS.templateOutputCharsMax);
  return { text: storable(text ?? textOfHtml(html ?? '')), html: html === undefined ? null : storable(html) };
}

function requireShort(param: 'html' | 'text', text: string | undefined, charsMax: number): void {
  if (text === undefined || text.length <= charsMax) return;
  throw new Failure('INVALID_REQUEST', { param, message: `${param}: must have at most ${charsMax} characters.` });
}

/** Postgres stores no NUL. */
function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd');
}
