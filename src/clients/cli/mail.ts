/** mail: send, list, status. What is sent on behalf of an artifact, and what became of it. */
import type { Command } from 'commander';
import { artifactIdOf, artifactOption } from './artifact-name.ts';
import { CliFailure } from './failures.ts';
import { readGiven, readGivenJson } from './given-files.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { countText, tableText, timeText } from './text.ts';

type Emails = Session['api']['email'];
type Email = Awaited<ReturnType<Emails['get']>>['body'];
type EmailSend = Parameters<Emails['send']>[0]['body'];

interface SendOptions {
  readonly artifact?: string;
  readonly to: readonly string[];
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly template?: string;
  readonly data?: string;
  readonly replyTo?: string;
  readonly attach: readonly string[];
  readonly inline: readonly string[];
}

const STATUS: Readonly<Record<Email['status'], string>> = {
  queued: 'waits',
  sent: 'sent',
  failed: 'failed',
  suppressed: 'not sent',
  partly_sent: 'partly sent',
};

async function list(session: Session, name: string | undefined, { limit }: { readonly limit: number }): Promise<void> {
  const artifact_id = await artifactIdOf(session, name);
  const { items, hasMore } = await collect(limit, async (page) => {
    const { body } = await session.api.email.list({ query: { artifact_id, ...page }, signal: session.shell.signal });
    return { items: body.emails, next: body.next_cursor };
  });
  const rows = items.map((email) => [
    timeText(email.created_at),
    STATUS[email.status],
    readersText(email),
    lineOf(email.subject),
    email.id,
  ]);
  const text = rows.length === 0 ? 'No mail in the last 30 days.' : tableText(['WHEN', 'STATUS', 'TO', 'SUBJECT', 'ID'], rows);
  session.answer({ emails: items, has_more: hasMore }, text);
}

function readersText({ purpose, recipients }: Email): string {
  const [first] = recipients;
  const name = first?.to ?? (purpose === 'owner' ? 'the owner' : '-');
  return recipients.length > 1 ? `${name} +${recipients.length - 1}` : name;
}

async function status(session: Session, emailId: string): Promise<void> {
  const found = (await session.api.email.get({ params: { emailId }, signal: session.shell.signal })).body;
  const rows = found.recipients.map(({ to, status: one, attempts, sent_at, error }) => [
    to ?? 'the owner',
    STATUS[one],
    String(attempts),
    sent_at === null ? '-' : timeText(sent_at),
    lineOf(error ?? ''),
  ]);
  const head = `"${lineOf(found.subject)}" of ${timeText(found.created_at)}: ${STATUS[found.status]}.`;
  const files = found.attachments.map(({ filename }) => lineOf(filename)).join(', ');
  session.answer(
    found,
    `${head}${files === '' ? '' : `\nWith ${files}.`}\n\n${tableText(['TO', 'STATUS', 'ATTEMPTS', 'SENT', 'WHAT THE SERVER SAID'], rows)}`,
  );
}

async function send(session: Session, options: SendOptions): Promise<void> {
  const { to, subject, template, text, html, data, replyTo, attach, inline } = options;
  if (to.length === 0) throw new CliFailure('usage', 'INVALID_USAGE', 'Nobody is named to send it to.', 'Add --to ada@example.com.');
  const { stdin, signal } = session.shell;
  const body: EmailSend = {
    artifact_id: await artifactIdOf(session, options.artifact),
    to: [...to],
    ...(subject !== undefined && { subject }),
    ...(text !== undefined && { text }),
    ...(html !== undefined && { html: (await readGiven(html)).toString('utf8') }),
    ...(template !== undefined && { template_id: template }),
    ...(data !== undefined && { data: await readGivenJson(data, stdin) }),
    ...(replyTo !== undefined && { reply_to: replyTo }),
    ...(attach.length + inline.length > 0 && { attachments: [...attach.map((file_id) => ({ file_id })), ...inline.map(shownOf)] }),
  };
  const queued = (await session.api.email.send({ body, signal })).body;
  const done = `Queued for ${countText(to.length, 'recipient')}. See what becomes of it: easel mail status ${queued.id}`;
  session.answer(
    queued,
    queued.status === 'queued' ? done : 'Nobody of them gets mail of this page: they have unsubscribed, or the address does not exist.',
  );
}

/** `logo=dlv_…`: the file that the HTML shows as cid:logo. */
function shownOf(given: string): { readonly cid: string; readonly file_id: string } {
  const [, cid, file_id] = /^([^=]+)=(.+)$/.exec(given) ?? [];
  if (cid !== undefined && file_id !== undefined) return { cid, file_id };
  throw new CliFailure(
    'usage',
    'INVALID_USAGE',
    `--inline "${given}" names no cid and file.`,
    'Give it as --inline logo=dlv_w5tz4ndh6b2crpyfk3vq7m2x.',
  );
}

/** Subjects and answers of mail servers are words of others. */
function lineOf(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

const collected = (value: string, before: readonly string[]) => [...before, value];

export function addMailCommands(program: Command, open: OpenSession): void {
  program.commandsGroup('Automation');
  const group = program
    .command('mail')
    .summary('mail on behalf of a page')
    .description('Sends mail on behalf of an artifact and shows what became of it: 50 mails a day of a person, 10 of an artifact.');
  group
    .command('list')
    .summary('list what was sent')
    .description('Lists the mail of the last 30 days, newest first.')
    .argument('[artifact]', 'slug, id or folder (default: the artifact of this folder)')
    .addOption(limitOption())
    .addHelpText('after', '\nExample:\n  easel mail list my-site')
    .action(async (artifact, options, command) => list(await open(command), artifact, options));
  group
    .command('status')
    .summary('show what became of a mail')
    .description('Shows each recipient of a mail and what its server said.')
    .argument('<id>', 'of the mail')
    .addHelpText('after', '\nExample:\n  easel mail status mlb_w5tz4ndh6b2crpyfk3vq7m2x')
    .action(async (id, _options, command) => status(await open(command), id));
  group
    .command('send')
    .summary('send a mail')
    .description('Queues a mail, from a text, an HTML file or a template. Every recipient gets a mail of their own.')
    .addOption(artifactOption())
    .option('--to <address>', 'a recipient; once for each', collected, [])
    .option('--subject <text>', 'needed without a template')
    .option('--text <text>', 'the text')
    .option('--html <file>', 'a file with the HTML')
    .option('--template <id>', 'instead of text and HTML')
    .option('--data <file>', 'JSON with the values for the template ("-": standard input)')
    .option('--reply-to <address>', 'where answers go')
    .option('--attach <file>', 'id of a file of a library; once for each', collected, [])
    .option('--inline <cid=file>', 'a file that the HTML shows as cid:<cid>; once for each', collected, [])
    .addHelpText(
      'after',
      '\nExamples:\n  easel mail send -a my-site --to ada@example.com --subject News --text "It is there."\n  easel mail send -a my-site --to ada@example.com --template tpl_5tz4ndh6b2crpyfk3vq7m2xw --data values.json\n  easel mail send -a my-site --to ada@example.com --subject Plan --text "Here it is." --attach dlv_w5tz4ndh6b2crpyfk3vq7m2x',
    )
    .action(async (options, command) => send(await open(command), options));
}
