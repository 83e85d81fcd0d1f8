/** The endpoints of tickets for people with an account: opening, listing, reading, and messages of the customer. */
import { administers, isInstanceStaff, type Principal, workspaceRoleOf } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { TICKET_LIMITS } from '../../../../protocol/core/support-rate-limits.ts';
import type { Endpoints } from '../../../../protocol/table.ts';
import { bodyEtag } from '../../../edge/answer.ts';
import type { Call, Handlers } from '../../../edge/call.ts';
import { requireAccepted } from '../../../edge/limits.ts';
import { cutPage, decodeCursor } from '../../../edge/paging.ts';
import type { MailSender } from '../../../mail/sender.ts';
import type { Fact } from '../../../platform/bus.ts';
import type { Queries } from '../../deps.ts';
import type { ModuleDeps } from '../../module.ts';
import { accountsOf } from '../../people/accounts/rules.ts';
import { audit } from '../../workspaces/audit/audit.ts';
import { requireLocked, requireTicket, type Seen } from './access.ts';
import { countMessages, listLast, listMessages } from './message-rows.ts';
import { presentMessage, presentTicket } from './present.ts';
import { countTickets, listTickets, readIsStaff, readRequester, setStatus, type TicketFilter, type TicketRow } from './rows.ts';
import { maySetStatus, type Seat, seatOf } from './rules.ts';
import { type Files, type NewMessage, openTicket, type Written, writeAsCustomer } from './tickets.ts';

export interface SupportDeps extends Pick<ModuleDeps, 'sql' | 'bus' | 'config' | 'limiters' | 'objects' | 'spool' | 'clock' | 'log'> {
  readonly mail: Pick<MailSender, 'wake'>;
}

type Ids = 'support.create' | 'support.list' | 'support.get' | 'support.messages' | 'support.message' | 'support.status';
type ListCall = Call<Endpoints['support.list']>;
type WritingCall = Call<Endpoints['support.create']> | Call<Endpoints['support.message']>;

const TICKETS_SPENT = `A person may open ${LIMITS.ticketsPerDay} tickets in 24 hours.`;

export function tellAll({ bus }: Pick<SupportDeps, 'bus'>, facts: readonly Fact[]): void {
  for (const fact of facts) bus.tell(fact);
}

export function ticketHandlers(deps: SupportDeps): Handlers<Ids> {
  const { sql, config } = deps;
  const shown = (ticket: TicketRow, seat: Seat) => presentTicket(ticket, seat, config.LOG_LINK_TEMPLATE);
  return {
    'support.create': async (call) => {
      const { ticket, facts } = await sql.begin((tx) => create(tx, deps, call));
      tellAll(deps, facts);
      return { reply: 'created', body: { success: true, ticket: shown(ticket, seatFor(call.principal, ticket)) } };
    },
    'support.list': async (call) => {
      const { principal, query } = call;
      const filter = await filterOf(sql, call);
      const rows = await listTickets(sql, filter, decodeCursor(query.cursor), query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, ({ updatedAtMs, id }) => ({ number: updatedAtMs, id }));
      const total = query.count ? { total: await countTickets(sql, filter) } : {};
      const tickets = items.map((row) => shown(row, seatFor(principal, row)));
      return { reply: 'ok', body: { success: true, tickets, ...page, ...total } };
    },
    'support.get': async ({ principal, params }) => {
      const { ticket, seat } = await requireTicket(sql, principal, params.ticketId);
      const last = await listLast(sql, ticket.id, seat.answers, LIMITS.ticketThreadMax + 1);
      const thread = last.slice(0, LIMITS.ticketThreadMax).reverse().map(presentMessage);
      const body = { success: true, ticket: shown(ticket, seat), thread, thread_has_more: last.length > thread.length } as const;
      return { reply: 'ok', body, etag: bodyEtag(body) };
    },
    'support.messages': async ({ principal, params, query }) => {
      const { ticket, seat } = await requireTicket(sql, principal, params.ticketId);
      const after = query.cursor === undefined ? 0 : decodeCursor(query.cursor).number;
      const rows = await listMessages(sql, ticket.id, seat.answers, after, query.limit + 1);
      const { items, page } = cutPage(rows, query.limit, ({ number }) => ({ number, id: '' }));
      const total = query.count ? { total: await countMessages(sql, ticket.id, seat.answers) } : {};
      return { reply: 'ok', body: { success: true, messages: items.map(presentMessage), ...page, ...total } };
    },
    'support.message': async (call) => {
      const { ticket, message, facts } = await sql.begin((tx) => write(tx, deps, call));
      tellAll(deps, facts);
      const seat = seatFor(call.principal, ticket);
      return { reply: 'created', body: { success: true, ticket: shown(ticket, seat), message: presentMessage(message) } };
    },
    'support.status': async (call) => {
      const { ticket, seat } = await sql.begin((tx) => changeStatus(tx, call));
      return { reply: 'ok', body: { success: true, ticket: shown(ticket, seat) } };
    },
  };
}

/** Of somebody who has written the ticket or reads it. */
function seatFor(principal: Principal, ticket: TicketRow): Seat {
  return seatOf(principal, ticket) ?? { asks: true, answers: false, isStaff: false };
}

/** Throws WORKSPACE_NOT_FOUND, RATE_LIMITED, TICKET_ATTACHMENT_NOT_FOUND. */
async function create(tx: Queries, deps: SupportDeps, call: Call<Endpoints['support.create']>): Promise<Written> {
  const { body, principal, user } = call;
  const workspaceId = body.workspaceId ?? null;
  if (workspaceId !== null && workspaceRoleOf(principal, workspaceId) === undefined) {
    throw new Failure('WORKSPACE_NOT_FOUND', { param: 'workspaceId' });
  }
  await spendTicket(tx, deps, principal);
  const { name, email } = await readRequester(tx, user);
  const written = await openTicket(tx, deps, {
    ...{ subject: body.subject, priority: body.priority ?? 'normal', workspaceId, requesterId: user },
    ...{ artifactId: null, requesterEmail: email, requesterName: name, followsId: null, chatThread: null, chatSecretSha256: null },
    message: messageOf(call, name ?? email),
  });
  await audit(tx, call, { workspaceId, action: 'ticket.create', target: targetOf(written.ticket) });
  return written;
}

/** What its caller writes in the app. */
function messageOf({ principal, user, body, nowMs }: WritingCall, authorName: string | null): NewMessage {
  return {
    ...{ channel: 'ui', authorId: user, authorName, body: body.body, quoted: null, mailMessageId: null, proofSha256: null },
    ...{ files: filesOf(principal, body.attachment_ids), nowMs },
  };
}

/** Linked accounts are one person. Throws RATE_LIMITED. */
async function spendTicket(tx: Queries, { limiters }: SupportDeps, principal: Principal): Promise<void> {
  if (principal.kind !== 'user') throw new Error('the access rule admits only people');
  const { ofPerson } = TICKET_LIMITS;
  requireAccepted(ofPerson, await limiters.shared.spendIn(tx, ofPerson, principal.person.id), TICKETS_SPENT);
}

export function filesOf(principal: Principal, ids: Extract<Files, { ids: unknown }>['ids'] | undefined): Files {
  return { ids: ids ?? [], uploaders: accountsOf(principal) };
}

export function targetOf({ id, subject }: TicketRow) {
  return { type: 'ticket', id, name: subject };
}

/** Where the audit has it: what staff does, with their account and address, is in that of the installation. */
function auditedIn({ workspaceId, artifactId }: TicketRow, seat: Pick<Seat, 'asks'>): WorkspaceId | null {
  return seat.asks || artifactId !== null ? workspaceId : null;
}

/** Throws TICKET_NOT_FOUND, FORBIDDEN, RATE_LIMITED, TICKET_ATTACHMENT_NOT_FOUND. */
async function write(tx: Queries, deps: SupportDeps, call: Call<Endpoints['support.message']>): Promise<Written> {
  const { principal, user, params } = call;
  const { ticket, seat } = await requireLocked(tx, principal, params.ticketId);
  if (!seat.asks) {
    throw new Failure('FORBIDDEN', { message: 'Only who asked writes here.', hint: 'Answer with POST …/reply.' });
  }
  const { name, email } = await readRequester(tx, user);
  const written = await writeAsCustomer(tx, deps, ticket, messageOf(call, name ?? email), () => spendTicket(tx, deps, principal));
  await audit(tx, call, { workspaceId: auditedIn(written.ticket, seat), action: 'ticket.message', target: targetOf(written.ticket) });
  return written;
}

/** Throws TICKET_NOT_FOUND, TICKET_STATUS_REFUSED. */
async function changeStatus(tx: Queries, call: Call<Endpoints['support.status']>): Promise<Seen> {
  const { principal, params, body, nowMs } = call;
  const before = await requireLocked(tx, principal, params.ticketId);
  const { ticket, seat } = before;
  if (!maySetStatus(ticket, body.status, seat.answers ? 'answerer' : 'customer', nowMs)) {
    throw new Failure('TICKET_STATUS_REFUSED', {
      param: 'status',
      message: `The ticket is ${ticket.status}, and who asked cannot set it ${body.status}.`,
    });
  }
  if (ticket.status === body.status) return before;
  await setStatus(tx, ticket.id, body.status, nowMs);
  const detail = { status: { from: ticket.status, to: body.status } };
  await audit(tx, call, { workspaceId: auditedIn(ticket, seat), action: 'ticket.status', target: targetOf(ticket), detail });
  return requireTicket(tx, principal, ticket.id);
}

/** Throws STAFF_REQUIRED, WORKSPACE_NOT_FOUND, FORBIDDEN, INVALID_REQUEST. */
async function filterOf(sql: Queries, { principal, query }: ListCall): Promise<TicketFilter> {
  const { scope, workspaceId, status, q, assignee } = query;
  const everything = { requesters: undefined, workspaceId: undefined, pageOwners: undefined, status, q, assignees: undefined };
  if (scope !== 'all' && assignee !== undefined) throw notWith('assignee', 'scope=all');
  if (scope !== 'workspace' && scope !== 'all' && workspaceId !== undefined) throw notWith('workspaceId', 'scope=workspace or scope=all');
  switch (scope) {
    case 'mine':
      return { ...everything, requesters: accountsOf(principal) };
    case 'pages':
      return { ...everything, pageOwners: accountsOf(principal) };
    case 'workspace':
      return { ...everything, workspaceId: administered(principal, workspaceId) };
    case 'all':
      if (!isInstanceStaff(principal)) throw new Failure('STAFF_REQUIRED');
      return { ...everything, workspaceId, assignees: await assigneesOf(sql, principal, assignee) };
    default:
      return scope satisfies never;
  }
}

function notWith(param: string, scope: string): Failure {
  return new Failure('INVALID_REQUEST', { param, message: `${param}: only goes with ${scope}.` });
}

function administered(principal: Principal, workspaceId: WorkspaceId | undefined): WorkspaceId {
  if (workspaceId === undefined) {
    throw new Failure('INVALID_REQUEST', { param: 'workspaceId', message: 'workspaceId: is needed with scope=workspace.' });
  }
  const role = workspaceRoleOf(principal, workspaceId);
  if (role === undefined) throw new Failure('WORKSPACE_NOT_FOUND', { param: 'workspaceId' });
  if (!administers(role)) throw new Failure('FORBIDDEN', { message: 'Only its owners and admins read all tickets of a workspace.' });
  return workspaceId;
}

async function assigneesOf(
  sql: Queries,
  principal: Principal,
  assignee: ListCall['query']['assignee'],
): Promise<readonly UserId[] | 'none' | undefined> {
  if (assignee === undefined) return undefined;
  if (assignee === 'none') return 'none';
  if (assignee === 'me') return accountsOf(principal);
  return (await readIsStaff(sql, assignee)) === null ? [] : [assignee];
}
