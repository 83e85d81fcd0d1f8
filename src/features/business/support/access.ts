/** Finds tickets for a caller, and hides them from everybody else. */
import type { Principal } from '../../../../actors/access/access.ts';
import { Failure } from '../../../../protocol/core/errors.ts';
import type { TicketId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import { lockTicket, readTicket, type TicketRow } from './rows.ts';
import { type Seat, seatOf } from './rules.ts';

export interface Seen {
  readonly ticket: TicketRow;
  readonly seat: Seat;
}

/** Throws TICKET_NOT_FOUND. */
export async function requireTicket(sql: Queries, principal: Principal, id: TicketId): Promise<Seen> {
  return seen(principal, await readTicket(sql, id));
}

/** The same, and changes of the ticket wait until the transaction ends. */
export async function requireLocked(tx: Queries, principal: Principal, id: TicketId): Promise<Seen> {
  return seen(principal, await lockTicket(tx, id));
}

/** Throws TICKET_NOT_FOUND, and STAFF_REQUIRED for who may only read it. */
export async function requireAnswered(tx: Queries, principal: Principal, id: TicketId): Promise<Seen> {
  const found = await requireLocked(tx, principal, id);
  if (!found.seat.answers) throw new Failure('STAFF_REQUIRED');
  return found;
}

function seen(principal: Principal, ticket: TicketRow | null): Seen {
  const seat = ticket === null ? null : seatOf(principal, ticket);
  if (ticket === null || seat === null) throw new Failure('TICKET_NOT_FOUND');
  return { ticket, seat };
}
