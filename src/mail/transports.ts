/** Transports of mail: an SMTP server, or readable files when none is configured. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SendMailOptions } from 'nodemailer';
import type { Settings } from '../platform/config.ts';
import type { DueMail } from './outbox.ts';
import { oneLine } from './templates/message.ts';

/** A file that goes with a mail. */
export interface MailFile {
  readonly filename: string;
  /** Media type, with its charset where it has one. */
  readonly type: string;
  readonly bytes: Buffer;
  /** Where the HTML shows it, as `cid:`; null for one that is listed. */
  readonly cid: string | null;
}

/** A mail as it leaves. */
export interface OutgoingMail extends DueMail {
  /** Where its recipient can say that they want no more of the kind; null for mail that answers what they did themselves. */
  readonly unsubscribeUrl: string | null;
  readonly files: readonly MailFile[];
}

export interface MailTransport {
  /** Throws `MailRefused` when another attempt would fail the same way. */
  send(mail: OutgoingMail): Promise<void>;
}

/** The server permanently refuses this recipient or this mail. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
  /** The server says that there is no such address. */
  readonly isOfAddress: boolean;

  constructor(message: string, isOfAddress: boolean) {
    super(message);
    this.isOfAddress = isOfAddress;
  }
}

/** In total shorter than the drain deadline, so that a stop can finish the mail in flight. */
const TIMEOUTS_MS = { connectionTimeout: 3000, greetingTimeout: 3000, socketTimeout: 7000 } as const;

/** The server at SMTP_URL when it is set, else files in the data folder. */
export function mailTransport({ SMTP_URL, MAIL_FROM, DATA_DIR }: Pick<Settings, 'SMTP_URL' | 'MAIL_FROM' | 'DATA_DIR'>): MailTransport {
  return SMTP_URL === undefined ? folderTransport(join(DATA_DIR, 'mail'), MAIL_FROM) : smtpTransport(SMTP_URL, MAIL_FROM);
}

/** `url`: `smtp://` or `smtps://`, with the account in it. */
function smtpTransport(url: string, from: string): MailTransport {
  const timed = withTimeouts(url);
  return {
    async send(mail) {
      // Imported with the first mail, because most processes send none.
      const { createTransport } = await import('nodemailer');
      const transport = createTransport(timed);
      try {
        await transport.sendMail(messageOf(mail, from));
      } catch (error) {
        throw isRefusal(error) ? new MailRefused(error.message, saysNoSuchAddress(error)) : error;
      } finally {
        transport.close();
      }
    },
  };
}

/** As parameters of the URL, because nodemailer reads no other options beside one. */
function withTimeouts(url: string): string {
  const timed = new URL(url);
  for (const [name, ms] of Object.entries(TIMEOUTS_MS)) if (!timed.searchParams.has(name)) timed.searchParams.set(name, String(ms));
  return timed.href;
}

/** Writes each mail atomically as an .eml file into `dir`. */
function folderTransport(dir: string, from: string): MailTransport {
  return {
    async send(mail) {
      const { createTransport } = await import('nodemailer');
      const composer = createTransport({ streamTransport: true, buffer: true });
      const { message } = await composer.sendMail(messageOf(mail, from));
      await mkdir(dir, { recursive: true });
      const name = join(dir, `${new Date(mail.createdAtMs).toISOString().replaceAll(':', '')}-${mail.id}.eml`);
      await writeFile(`${name}.part`, message);
      await rename(`${name}.part`, name);
    },
  };
}

/** The Message-ID of a mail in the outbox. */
export function messageIdOf(mailId: string, from: string): string {
  return `<${mailId}@${/@([^>\s]+)/.exec(from)?.[1] ?? 'localhost'}>`;
}

export function messageOf(mail: OutgoingMail, from: string): SendMailOptions {
  return {
    from,
    // An object, so that nodemailer does not parse the text as a list of addresses.
    to: { name: '', address: mail.recipient },
    // Also here, because a line break in it would begin another header.
    subject: oneLine(mail.subject),
    text: mail.text,
    ...(mail.html !== null && { html: mail.html }),
    ...(mail.replyTo !== null && { replyTo: { name: '', address: mail.replyTo } }),
    date: new Date(mail.createdAtMs),
    // The same for every attempt, so that servers and mail clients recognise a duplicate.
    messageId: messageIdOf(mail.id, from),
    ...(mail.inReplyTo !== null && { inReplyTo: mail.inReplyTo }),
    ...(mail.referenceIds !== null && { references: mail.referenceIds }),
    headers: { ...(!mail.isPersonal && { 'Auto-Submitted': 'auto-generated' }), ...unsubscribeHeaders(mail.unsubscribeUrl) },
    ...(mail.files.length > 0 && { attachments: mail.files.map(attachmentOf) }),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function attachmentOf({ filename, type, bytes, cid }: MailFile): NonNullable<SendMailOptions['attachments']>[number] {
  const name = safeName(filename);
  const common = { filename: name, contentType: type, content: bytes };
  return cid === null ? { ...common, contentDisposition: 'attachment' } : { ...common, contentDisposition: 'inline', cid };
}

/** Not a path, on one line, and read in the direction in which it is stored: mail programs save files under this name. */
function safeName(filename: string): string {
  return (
    oneLine(filename)
      .replace(/[\\/:]/g, '_')
      // An encoded word: readers would decode it, and what comes out was looked at by nobody.
      .replaceAll('=?', '=_')
      .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
      .replace(/^\.+/, '_')
  );
}

/** RFC 2369, and RFC 8058 for programs that offer a button for it. */
function unsubscribeHeaders(url: string | null): Record<string, string> {
  return url === null ? {} : { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

/** True for a refusal of the recipient or the mail itself. Failures of the account or the connection can be fixed, so they are retried. */
function isRefusal(error: unknown): error is Error {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  return error instanceof Error && (code === 'EENVELOPE' || code === 'EMESSAGE') && (responseCode ?? 0) >= 500;
}

/** Codes without an enhanced status that say nothing about the address: sign-in needed, mailbox full, transaction refused. */
const NOT_OF_ADDRESS = [530, 552, 554];

/**
 * Whether a permanent refusal concerns the address: 5.7.x is about who sends and what, and 5.2.2 is a mailbox that is full for now (RFC 3463).
 */
function saysNoSuchAddress(error: Error): boolean {
  const { command, responseCode = 0, response = '' } = error as { command?: string; responseCode?: number; response?: string };
  if (command !== 'RCPT TO' || responseCode < 500) return false;
  const enhanced = /^\d{3}[ -](\d)\.(\d{1,3})\.(\d{1,3})\b/.exec(response);
  if (enhanced === null) return !NOT_OF_ADDRESS.includes(responseCode);
  const [, kind, subject, detail] = enhanced;
  return kind === '5' && subject !== '7' && !(subject === '2' && detail === '2');
}
