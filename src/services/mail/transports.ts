/** How mail leaves: through an SMTP server, or into files that a person can read where there is none. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SendMailOptions } from 'nodemailer';
import type { Settings } from '../../config.ts';
import type { DueMail } from './outbox.ts';

export interface MailTransport {
  /** Throws `MailRefused` where sending it again would be refused again. */
  send(mail: DueMail): Promise<void>;
}

/** The server takes no mail for this recipient, or not this mail. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}

/** Together shorter than a stop waits. */
const TIMEOUTS_MS = { connectionTimeout: 3000, greetingTimeout: 3000, socketTimeout: 7000 } as const;

/** As the settings say: the server that they name, else files in the data folder. */
export function mailTransport({ SMTP_URL, MAIL_FROM, DATA_DIR }: Pick<Settings, 'SMTP_URL' | 'MAIL_FROM' | 'DATA_DIR'>): MailTransport {
  return SMTP_URL === undefined ? folderTransport(join(DATA_DIR, 'mail'), MAIL_FROM) : smtpTransport(SMTP_URL, MAIL_FROM);
}

/** By `smtp://` or `smtps://` address with the account in it. */
function smtpTransport(url: string, from: string): MailTransport {
  return {
    async send(mail) {
      // Loaded when the first mail leaves: most processes send none.
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({ url, ...TIMEOUTS_MS });
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

/** Writes each mail as an .eml file into `dir`, whole or not at all. */
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

function messageOf(mail: DueMail, from: string): SendMailOptions {
  return {
    from,
    // An object, so that nothing in it is read as a second address.
    to: { name: '', address: mail.recipient },
    subject: mail.subject,
    text: mail.text,
    ...(mail.html !== null && { html: mail.html }),
    ...(mail.replyTo !== null && { replyTo: mail.replyTo }),
    date: new Date(mail.createdAtMs),
    // The same at every try: a server or a reader can tell that it has it already.
    messageId: `<${mail.id}@${/@([^>\s]+)/.exec(from)?.[1] ?? 'localhost'}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** A refusal of the recipient or the mail itself; one of the account or the connection can be put right. */
function isRefusal(error: unknown): error is Error {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  return error instanceof Error && (code === 'EENVELOPE' || code === 'EMESSAGE') && (responseCode ?? 0) >= 500;
}
