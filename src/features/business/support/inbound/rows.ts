/** The SQL of `ticket_inbound`. */
import type { TicketId } from '../../../../../protocol/core/ids.ts';
import type { Queries } from '../../../deps.ts';

export interface InboundRow {
  readonly outcome: 'created' | 'continued' | 'ignored';
  readonly reason: string | null;
  readonly ticketId: TicketId | null;
}

export interface NewInbound extends InboundRow {
  readonly sha256: Uint8Array;
  readonly source: 'email' | 'chat';
  readonly sender: string | null;
  readonly nowMs: number;
}

/** False where it was taken before. Another transaction that takes the same waits until this one ends. */
export async function insertInbound(tx: Queries, row: NewInbound): Promise<boolean> {
  const inserted = await tx`
    insert into ticket_inbound (sha256, source, sender, outcome, reason, ticket_id, taken_at_ms)
    values (${row.sha256}, ${row.source}, ${row.sender}, ${row.outcome}, ${row.reason}, ${row.ticketId}, ${row.nowMs})
    on conflict (sha256) do nothing`;
  return inserted.count > 0;
}

export async function readInbound(sql: Queries, sha256: Uint8Array): Promise<InboundRow | null> {
  const [row] = await sql<InboundRow[]>`select outcome, reason, ticket_id as "ticketId" from ticket_inbound where sha256 = ${sha256}`;
  return row ?? null;
}

export async function settleInbound(tx: Queries, sha256: Uint8Array, { outcome, reason, ticketId }: InboundRow): Promise<void> {
  await tx`
    update ticket_inbound set outcome = ${outcome}, reason = ${reason}, ticket_id = ${ticketId} where sha256 = ${sha256}`;
}

/** Answers how many. */
export async function deleteOldInbound(sql: Queries, takenBeforeMs: number): Promise<number> {
  return (await sql`delete from ticket_inbound where taken_at_ms <= ${takenBeforeMs}`).count;
}
