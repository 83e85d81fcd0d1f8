/** A thread that parses one mail and ends. Whatever a mail makes the parser do, it does here, with little memory and little time. */
import { createHash } from 'node:crypto';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import PostalMime, { type Address, type Attachment, addressParser, type Email } from 'postal-mime';
import { textOfHtml } from '../../../automation/templates/text-of-html.ts';
import { cutQuoted } from '../quoting.ts';
import type { MailFile, ParsedMail, ParseTask, RefusedMail } from './mail-message.ts';

// On Linux of this thread alone: on a machine with few cores the event loop and the database go first.
if (process.platform === 'linux') setPriority(0, 10);

const NESTING_MAX = 30;
const FILENAME_CHARS_MAX = 255;
const MARK_CHARS_MAX = 500;
const RECIPIENTS_MAX = 200;
const MESSAGE_ID = /<[^<>\s]{1,300}>/g;
const ADDRESS = /^[^\s<>,;:"()@]{1,64}@[^\s<>,;:"()@]{1,255}$/;
const MARKS = ['auto-submitted', 'precedence', 'list-id', 'x-loop', 'return-path', 'x-autoreply', 'x-autorespond', 'content-type'];
/** Mail servers write there whom a mail was really sent to. */
const DELIVERED = ['delivered-to', 'x-original-to', 'x-forwarded-to', 'envelope-to'];

async function parse({ bytes, bounds }: ParseTask): Promise<ParsedMail | RefusedMail> {
  const mail = await PostalMime.parse(bytes, {
    forceRfc822Attachments: true,
    maxNestingDepth: NESTING_MAX,
    maxHeadersSize: bounds.headerBytesMax,
  });
  if (mail.attachments.length > bounds.partsMax) return { kind: 'refused', message: `The mail has more than ${bounds.partsMax} parts.` };
  const { files, leftOut } = filesOf(mail.attachments, bounds);
  const references = [...(mail.references?.match(MESSAGE_ID) ?? []), ...(mail.inReplyTo?.match(MESSAGE_ID) ?? [])];
  const text = (mail.text ?? textOfHtml(mail.html ?? '')).replaceAll('\u0000', '').slice(0, bounds.textCharsMax);
  return {
    kind: 'mail',
    sha256: digestOf(bytes),
    messageId: mail.messageId?.match(MESSAGE_ID)?.[0] ?? null,
    references: [...new Set(references)].slice(-bounds.referencesMax),
    from: senderOf(mail),
    recipients: recipientsOf(mail),
    subject: (mail.subject ?? '').replaceAll('\u0000', ''),
    text,
    cut: cutQuoted(text),
    marks: Object.fromEntries(MARKS.flatMap((name) => markOf(mail, name))),
    files,
    leftOut,
  };
}

function senderOf(mail: Email): ParsedMail['from'] {
  // The parser takes the first of several; which of them a mail server has checked is not known.
  const written = mail.headers.filter(({ key }) => key === 'from').flatMap(({ value }) => addressParser(value, { flatten: true }));
  const [mailbox] = mailboxes(mail.from === undefined ? [] : [mail.from]);
  if (written.length !== 1 || mailbox === undefined) return null;
  return { name: mailbox.name.replace(/[\p{Cc}]+/gu, ' ').trim(), address: mailbox.address };
}

function mailboxes(addresses: readonly Address[]): { readonly name: string; readonly address: string }[] {
  const flat = addresses.flatMap((one) => one.group ?? (one.address === undefined ? [] : [{ name: one.name, address: one.address }]));
  return flat.flatMap(({ name, address }) => (ADDRESS.test(address) ? [{ name, address: address.toLowerCase() }] : []));
}

function recipientsOf(mail: Email): string[] {
  const written = mailboxes([...(mail.to ?? []), ...(mail.cc ?? []), ...(mail.bcc ?? [])]).map(({ address }) => address);
  const delivered = mail.headers
    .filter(({ key }) => DELIVERED.includes(key))
    .flatMap(({ value }) => value.split(/[\s,<>]+/).filter((word) => ADDRESS.test(word)))
    .map((word) => word.toLowerCase());
  return [...new Set([...delivered, ...written])].slice(0, RECIPIENTS_MAX);
}

function markOf(mail: Email, name: string): [string, string][] {
  const header = mail.headers.find(({ key }) => key === name);
  return header === undefined ? [] : [[name, header.value.slice(0, MARK_CHARS_MAX)]];
}

function filesOf(attachments: readonly Attachment[], bounds: ParseTask['bounds']) {
  const files: MailFile[] = [];
  const leftOut: string[] = [];
  for (const [at, { filename, mimeType, content }] of attachments.entries()) {
    const bytes = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);
    const name = nameOf(filename) || `file-${at + 1}`;
    if (files.length < bounds.attachmentsMax && bytes.length <= bounds.attachmentBytesMax) {
      files.push({
        filename: name,
        mediaType: /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : 'application/octet-stream',
        bytes,
        sha256: digestOf(bytes),
      });
    } else {
      leftOut.push(name);
    }
  }
  return { files, leftOut };
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A display name; it is never used as a path. */
function nameOf(filename: string | null): string {
  return [...(filename ?? '').replace(/\p{C}/gu, '').trim()].slice(0, FILENAME_CHARS_MAX).join('');
}

async function main(): Promise<void> {
  try {
    const parsed = await parse(workerData as ParseTask);
    parentPort?.postMessage(parsed);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    parentPort?.postMessage({ kind: 'refused', message: `The mail cannot be read: ${message.slice(0, 200)}` } satisfies RefusedMail);
  }
}

await main();
