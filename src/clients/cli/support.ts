/** support: list, show, create, message, reply, status, assign. */
import { type Command, Option } from 'commander';
import { type TicketPriority, type TicketStatus, ticketPriority, ticketStatus } from '../../../protocol/business/support.ts';
import { readGivenText } from './given-files.ts';
import { collect, limitOption } from './paging.ts';
import type { OpenSession, Session } from './session.ts';
import { bytesText, tableText, timeText } from './text.ts';
import { workspaceIdOf } from './workspace-id.ts';

type Support = Session['api']['support'];
type Seen = Awaited<ReturnType<Support['get']>>['body'];
type Ticket = Seen['ticket'];
type Message = Seen['thread'][number];

/** Subjects and names come from others, who could steer a terminal. */
function lineOf(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

function linesOf(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, ' ');
}

function whoAsks({ requester_name, requester_email, requester_user_id }: Ticket): string {
  const name = requester_name ?? requester_email ?? requester_user_id ?? 'somebody';
  return lineOf(requester_email === null || name === requester_email ? name : `${name} <${requester_email}>`);
}

function ticketText(ticket: Ticket): string {
  const lines = [
    `${ticket.id}  ${ticket.status}  ${lineOf(ticket.subject)}`,
    `  from      ${whoAsks(ticket)}, by ${ticket.channel}`,
    `  priority  ${ticket.priority}`,
    ...(ticket.assignee === undefined ? [] : [`  assigned  ${ticket.assignee === null ? 'to nobody' : lineOf(ticket.assignee.name)}`]),
    ...(ticket.follows === null ? [] : [`  follows   ${ticket.follows}`]),
    ...(ticket.request_ids ?? []).map(({ request_id, log_url }) => `  request   ${request_id}${log_url === null ? '' : `  ${log_url}`}`),
  ];
  return lines.join('\n');
}

function messageText({ id, author, body, draft, attachments, created_at }: Message): string {
  const by = author.name === null ? author.kind : `${lineOf(author.name)} (${author.kind})`;
  const head = `${timeText(created_at)}  ${by}${draft ? `  DRAFT ${id}` : ''}`;
  const files = attachments.map((file) => `  [${file.id}] ${lineOf(file.filename)}, ${bytesText(file.size_bytes)}`);
  return [
    head,
    ...linesOf(body)
      .split('\n')
      .map((line) => `  ${line}`),
    ...files,
  ].join('\n');
}

interface ListOptions {
  readonly limit: number;
  readonly all?: boolean;
  readonly pages?: boolean;
  readonly workspace?: string;
  readonly status?: TicketStatus;
  readonly find?: string;
  readonly assignee?: string;
}

async function scopeOf(session: Session, { all, pages, workspace }: ListOptions) {
  if (all) return { scope: 'all' as const };
  if (pages) return { scope: 'pages' as const };
  if (workspace === undefined) return { scope: 'mine' as const };
  return { scope: 'workspace' as const, workspaceId: await workspaceIdOf(session, workspace) };
}

async function list(session: Session, options: ListOptions): Promise<void> {
  const { status, find: q, assignee } = options;
  const filter = {
    ...(await scopeOf(session, options)),
    ...(status && { status }),
    ...(q !== undefined && { q }),
    ...(assignee && { assignee }),
  };
  const { items, hasMore } = await collect(options.limit, async (query) => {
    const { body } = await session.api.support.list({ query: { ...query, ...filter }, signal: session.shell.signal });
    return { items: body.tickets, next: body.next_cursor };
  });
  const rows = items.map((one) => [one.id, one.status, one.priority, timeText(one.updated_at), whoAsks(one), lineOf(one.subject)]);
  const text = rows.length === 0 ? 'There are no tickets.' : tableText(['ID', 'STATUS', 'PRIORITY', 'CHANGED', 'FROM', 'SUBJECT'], rows);
  session.answer({ tickets: items, has_more: hasMore }, text);
}

async function show(session: Session, ticketId: string): Promise<void> {
  const { body } = await session.api.support.get({ params: { ticketId }, signal: session.shell.signal });
  session.answer(body, [ticketText(body.ticket), ...body.thread.map(messageText)].join('\n\n'));
  if (body.thread_has_more) session.remark('There are earlier messages; --json with GET …/messages has them all.');
}

interface CreateOptions {
  readonly body?: string;
  readonly file?: string;
  readonly workspace?: string;
  readonly priority?: TicketPriority;
}

/** Words of the command line, or of a file, or of standard input. */
async function textOf(session: Session, words: string | undefined, file: string | undefined): Promise<string> {
  return words ?? readGivenText(file ?? '-', session.shell.stdin);
}

async function create(session: Session, subject: string, options: CreateOptions): Promise<void> {
  const { workspace, priority } = options;
  const workspaceId = workspace === undefined ? {} : { workspaceId: await workspaceIdOf(session, workspace) };
  const body = { subject, body: await textOf(session, options.body, options.file), ...workspaceId, ...(priority && { priority }) };
  const made = (await session.api.support.create({ body, signal: session.shell.signal })).body;
  session.answer(made, ticketText(made.ticket));
}

interface TextOptions {
  readonly file?: string;
  readonly draft?: boolean;
}

async function message(session: Session, ticketId: string, words: string | undefined, { file }: TextOptions): Promise<void> {
  const body = { body: await textOf(session, words, file) };
  const sent = (await session.api.support.message({ params: { ticketId }, body, signal: session.shell.signal })).body;
  session.answer(sent, `${sent.ticket.id} is ${sent.ticket.status}.`);
}

async function reply(session: Session, ticketId: string, words: string | undefined, { file, draft }: TextOptions): Promise<void> {
  const body = { body: await textOf(session, words, file), ...(draft && { draft }) };
  const sent = (await session.api.support.reply({ params: { ticketId }, body, signal: session.shell.signal })).body;
  session.answer(
    sent,
    draft ? `Kept as draft ${sent.message.id}.` : `Sent by ${sent.ticket.channel}. The ticket is ${sent.ticket.status}.`,
  );
}

async function approve(session: Session, ticketId: string, messageId: string): Promise<void> {
  const params = { ticketId, messageId };
  const { body } = await session.api.support.approveDraft({ params, body: {}, signal: session.shell.signal });
  session.answer(body, `Sent by ${body.ticket.channel}. The ticket is ${body.ticket.status}.`);
}

async function setStatus(session: Session, ticketId: string, status: TicketStatus): Promise<void> {
  const { body } = await session.api.support.status({ params: { ticketId }, body: { status }, signal: session.shell.signal });
  session.answer(body, `${body.ticket.id} is ${body.ticket.status}.`);
}

async function assign(session: Session, ticketId: string, userId: string): Promise<void> {
  const body = { user_id: userId === 'nobody' ? null : userId };
  const assigned = (await session.api.support.assign({ params: { ticketId }, body, signal: session.shell.signal })).body;
  session.answer(assigned, ticketText(assigned.ticket));
}

const TICKET = ['<ticket>', 'the id that the list shows'] as const;
const EXAMPLE = 'tkt_z4ndh6b2crpyfk3vq7m2xw5t';
const example = (line: string) => `\nExample:\n  easel support ${line}`;
const fileOption = () => new Option('--file <path>', 'the text from a file; "-" is standard input');

export function addSupportCommands(program: Command, open: OpenSession): void {
  const group = program
    .command('support')
    .summary('tickets: ask for help, and answer')
    .description('Opens support tickets, reads them and answers them.');
  group
    .command('list')
    .summary('list tickets')
    .description('Lists your tickets, the latest changed first.')
    .option('--all', 'all tickets, for staff')
    .option('--pages', 'chats of your pages')
    .option('-w, --workspace <slug|id>', 'those of a workspace, for its owners and admins')
    .addOption(new Option('--status <status>', 'only these').choices(ticketStatus.options))
    .option('--find <text>', 'in the subject, the name or the address')
    .option('--assignee <who>', 'with --all: me, none or a user id')
    .addOption(limitOption())
    .addHelpText('after', example('list --status open'))
    .action(async (options, command) => list(await open(command), options));
  group
    .command('show')
    .summary('show a ticket with its messages')
    .description('Shows a ticket with its last messages.')
    .argument(...TICKET)
    .addHelpText('after', example(`show ${EXAMPLE}`))
    .action(async (ticket, _options, command) => show(await open(command), ticket));
  group
    .command('create')
    .summary('open a ticket')
    .description('Opens a ticket. Its text comes from --body, --file or standard input. Quote request ids where you have some.')
    .argument('<subject>', 'what it is about')
    .option('--body <text>', 'the text')
    .addOption(fileOption())
    .option('-w, --workspace <slug|id>', 'its owners and admins read the ticket too')
    .addOption(new Option('--priority <priority>', 'how urgent it is').choices(ticketPriority.options))
    .addHelpText('after', example('create "The map stays empty" --body "Since today, request req_abc"'))
    .action(async (subject, options, command) => create(await open(command), subject, options));
  addThreadCommands(group, open);
}

function addThreadCommands(group: Command, open: OpenSession): void {
  group
    .command('message')
    .summary('write to your ticket')
    .description('Writes to a ticket that you have opened, which opens it again.')
    .argument(...TICKET)
    .argument('[text]', 'default: --file, else standard input')
    .addOption(fileOption())
    .addHelpText('after', example(`message ${EXAMPLE} "It works again."`))
    .action(async (ticket, text, options, command) => message(await open(command), ticket, text, options));
  group
    .command('reply')
    .summary('answer a ticket')
    .description('Answers a ticket on the channel that it came from, for staff and for makers of a page with a chat.')
    .argument(...TICKET)
    .argument('[text]', 'default: --file, else standard input')
    .addOption(fileOption())
    .option('--draft', 'keep it for the others who answer')
    .addHelpText('after', example(`reply ${EXAMPLE} "Please try again now."`))
    .action(async (ticket, text, options, command) => reply(await open(command), ticket, text, options));
  group
    .command('approve')
    .summary('send a draft')
    .description('Sends a draft as it is.')
    .argument(...TICKET)
    .argument('<draft>', 'the id that the ticket shows')
    .addHelpText('after', example(`approve ${EXAMPLE} tkm_dh6b2crpyfk3vq7m2xw5tz4n`))
    .action(async (ticket, draft, _options, command) => approve(await open(command), ticket, draft));
  group
    .command('status')
    .summary('resolve, close or open a ticket')
    .description('Sets the status. Who asked resolves a ticket or opens it again; who answers sets any.')
    .argument(...TICKET)
    .argument('<status>', ticketStatus.options.join(', '))
    .addHelpText('after', example(`status ${EXAMPLE} resolved`))
    .action(async (ticket, status, _options, command) => setStatus(await open(command), ticket, status));
  group
    .command('assign')
    .summary('give a ticket to somebody who answers')
    .description('Assigns a ticket to somebody who answers it.')
    .argument(...TICKET)
    .argument('<user>', 'a user id, or nobody')
    .addHelpText('after', example(`assign ${EXAMPLE} nobody`))
    .action(async (ticket, user, _options, command) => assign(await open(command), ticket, user));
}
