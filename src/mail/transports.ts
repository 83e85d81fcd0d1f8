/** Transports of mail: an SMTP server, or readable files when none is configured. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SendMailOptions } from 'nodemailer';
import type { Settings } from '../platform/config.ts';
import type { DueMail } from './outbox.ts';

export interface MailTransport {
  /** Throws `MailRefused` when another attempt would fail the same way. */
  send(mail: DueMail): Promise<void>;
}

/** The server permanently refuses this recipient or this mail. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
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
        throw isRefusal(error) ? new MailRefused(error.message) : error;
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

export function messageOf(mail: DueMail, from: string): SendMailOptions {
  return {
    from,
    // An object, so that nodemailer does not parse the text as a list of addresses.
    to: { name: '', address: mail.recipient },
    subject: mail.subject,
    text: mail.text,
    ...(mail.html !== null && { html: mail.html }),
    ...(mail.replyTo !== null && { replyTo: mail.replyTo }),
    date: new Date(mail.createdAtMs),
    // The same for every attempt, so that servers and mail clients recognise a duplicate.
    messageId: `<${mail.id}@${/@([^>\s]+)/.exec(from)?.[1] ?? 'localhost'}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** True for a refusal of the recipient or the mail itself. Failures of the account or the connection can be fixed, so they are retried. */
function isRefusal(error: unknown): error is Error {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  return error instanceof Error && (code === 'EENVELOPE' || code === 'EMESSAGE') && (responseCode ?? 0) >= 500;
}
