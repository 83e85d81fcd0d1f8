/** What becomes of a ticket, and who stands where towards it, decided without I/O. */
import { administers, isInstanceStaff, type Principal, workspaceRoleOf } from '../../../../actors/access/access.ts';
import type { TicketStatus } from '../../../../protocol/business/support.ts';
import type { ArtifactId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { accountsOf } from '../../people/accounts/rules.ts';

const DAY_MS = 24 * 3600 * 1000;
export const QUIET_MS = LIMITS.ticketQuietDays * DAY_MS;
const REOPEN_MS = LIMITS.ticketReopenDays * DAY_MS;

export interface TicketState {
  readonly status: TicketStatus;
  /** Unix ms; null unless it is closed. */
  readonly closedAtMs: number | null;
}

/** The status after a message of the customer. `continued`: the ticket was closed for too long, so that the message opens a new one. */
export function afterCustomer({ status, closedAtMs }: TicketState, nowMs: number): 'open' | 'continued' {
  return status === 'closed' && closedAtMs !== null && nowMs - closedAtMs >= REOPEN_MS ? 'continued' : 'open';
}

/** By whom, and to what, a status may be set. Setting it to what it is changes nothing and is always admitted. */
export function maySetStatus(ticket: TicketState, to: TicketStatus, by: 'customer' | 'answerer', nowMs: number): boolean {
  if (by === 'answerer' || ticket.status === to) return true;
  switch (to) {
    case 'open':
      return ticket.status === 'resolved' || (ticket.status === 'closed' && afterCustomer(ticket, nowMs) === 'open');
    case 'resolved':
      return ticket.status !== 'closed';
    case 'pending':
    case 'closed':
      return false;
    default:
      return to satisfies never;
  }
}

export interface TicketPlace {
  /** The page's, for a chat of a page. */
  readonly workspaceId: WorkspaceId | null;
  readonly artifactId: ArtifactId | null;
  readonly requesterId: UserId | null;
  readonly pageOwnerId: UserId | null;
}

export interface Seat {
  /** Writes as the customer. */
  readonly asks: boolean;
  /** Replies, and sees drafts and the assignee. */
  readonly answers: boolean;
  readonly isStaff: boolean;
}

/**
 * The makers of a page answer its chats, and the staff answers everything. Owners and admins of a workspace stand beside whoever asked in its
 * name. Null for everybody else, who may not know that the ticket exists.
 */
export function seatOf(principal: Principal, { workspaceId, artifactId, requesterId, pageOwnerId }: TicketPlace): Seat | null {
  const accounts = accountsOf(principal);
  const isStaff = isInstanceStaff(principal);
  const administersIt = workspaceId !== null && administers(workspaceRoleOf(principal, workspaceId));
  const isOf = (userId: UserId | null) => userId !== null && accounts.includes(userId);
  const isMaker = artifactId !== null && (isOf(pageOwnerId) || administersIt);
  const asks = isOf(requesterId) || (artifactId === null && administersIt);
  const answers = isStaff || isMaker;
  return asks || answers ? { asks, answers, isStaff } : null;
}

/** As `src/edge/request-id.ts` makes them. */
const REQUEST_ID = /\breq_[a-z2-7]{16}[0-9a-v]{8}\b/g;

/** The request ids of the service that a text quotes, each once. */
export function requestIdsIn(text: string): readonly string[] {
  return [...new Set(text.match(REQUEST_ID) ?? [])].slice(0, LIMITS.ticketRequestIdsMax);
}

/** Where a log shows the lines of a request; null where the installation has not said so. */
export function logUrl(template: string | undefined, requestId: string): string | null {
  return template === undefined ? null : template.replaceAll('{request_id}', encodeURIComponent(requestId));
}

const TOKEN_CHARS = 24;

/** The address that replies of one ticket go to: `support+<token>@example.com`. */
export function plusAddress(supportAddress: string, token: string): string {
  const at = supportAddress.lastIndexOf('@');
  return `${supportAddress.slice(0, at)}+${token}${supportAddress.slice(at)}`;
}

/** The token in an address of ours; undefined in others. */
export function tokenIn(supportAddress: string, address: string): string | undefined {
  const at = supportAddress.lastIndexOf('@');
  const [begin, end] = [`${supportAddress.slice(0, at)}+`.toLowerCase(), supportAddress.slice(at).toLowerCase()];
  const lower = address.toLowerCase();
  if (!lower.startsWith(begin) || !lower.endsWith(end)) return undefined;
  const token = lower.slice(begin.length, -end.length);
  return token.length === TOKEN_CHARS && /^[a-z2-7]+$/.test(token) ? token : undefined;
}

/** The address that people write to: SUPPORT_ADDRESS, else that of MAIL_FROM. */
export function supportAddressOf({
  SUPPORT_ADDRESS,
  MAIL_FROM,
}: {
  readonly SUPPORT_ADDRESS?: string | undefined;
  readonly MAIL_FROM: string;
}) {
  return SUPPORT_ADDRESS ?? /<?([^\s<>]+@[^\s<>]+?)>?$/.exec(MAIL_FROM)?.[1] ?? MAIL_FROM;
}
