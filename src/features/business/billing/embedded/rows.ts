/** The SQL of the embedded payment provider: `pay_*`. */
import type { JSONValue } from 'postgres';
import type { Queries } from '../../../deps.ts';
import type { LedgerState } from './ledger.ts';

export async function insertLedger(tx: Queries, state: LedgerState): Promise<void> {
  await tx`insert into pay_customer (ref, state) values (${state.ref}, ${tx.json(state as unknown as JSONValue)})`;
}

/** Null where there is no such customer. */
export async function lockLedger(tx: Queries, ref: string): Promise<LedgerState | null> {
  const [row] = await tx<{ state: LedgerState }[]>`select state from pay_customer where ref = ${ref} for update`;
  return row?.state ?? null;
}

export async function readLedger(sql: Queries, ref: string): Promise<LedgerState | null> {
  const [row] = await sql<{ state: LedgerState }[]>`select state from pay_customer where ref = ${ref}`;
  return row?.state ?? null;
}

export async function writeLedger(tx: Queries, state: LedgerState, dueAtMs: number | null): Promise<void> {
  await tx`update pay_customer set state = ${tx.json(state as unknown as JSONValue)}, due_at_ms = ${dueAtMs} where ref = ${state.ref}`;
}

export async function listDueLedgers(sql: Queries, nowMs: number, rowsMax: number): Promise<string[]> {
  const rows = await sql<{ ref: string }[]>`
    select ref from pay_customer where due_at_ms <= ${nowMs} order by due_at_ms, ref limit ${rowsMax}`;
  return rows.map(({ ref }) => ref);
}

/** Makes calls with one key wait for each other. On the embedded database transactions run one after another by themselves. */
export async function lockCall(tx: Queries, key: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`payment ${key}`}, 0))`;
}

/** What a call with this key was answered; undefined where there was none. */
export async function readCall(tx: Queries, key: string): Promise<unknown> {
  const [row] = await tx<{ answer: { value?: unknown } }[]>`select answer from pay_call where key = ${key}`;
  return row === undefined ? undefined : (row.answer.value ?? null);
}

export async function insertCall(tx: Queries, key: string, value: unknown, nowMs: number): Promise<void> {
  await tx`insert into pay_call (key, answer, made_at_ms) values (${key}, ${tx.json({ value } as JSONValue)}, ${nowMs})`;
}

export async function deleteOldCalls(sql: Queries, madeBeforeMs: number): Promise<number> {
  return (await sql`delete from pay_call where made_at_ms <= ${madeBeforeMs}`).count;
}

export async function insertLinks(tx: Queries, customerRef: string, secrets: readonly string[]): Promise<void> {
  await tx`insert into pay_link (secret, customer_ref) select s, ${customerRef} from unnest(${secrets as string[]}::text[]) s`;
}

export async function readLink(sql: Queries, secret: string): Promise<string | null> {
  const [row] = await sql<{ customer_ref: string }[]>`select customer_ref from pay_link where secret = ${secret}`;
  return row?.customer_ref ?? null;
}

export interface PayEvent {
  readonly id: string;
  readonly customer_ref: string;
  readonly kind: string;
}

export async function insertEvents(
  tx: Queries,
  customerRef: string,
  events: readonly { readonly id: string; readonly kind: string; readonly dueAtMs: number }[],
): Promise<void> {
  await tx`
    insert into pay_event (id, customer_ref, kind, due_at_ms)
    select e.id, ${customerRef}, e.kind, e.due from unnest(
      ${events.map(({ id }) => id)}::text[], ${events.map(({ kind }) => kind)}::text[], ${events.map(({ dueAtMs }) => dueAtMs)}::bigint[]
    ) as e (id, kind, due)`;
}

export function listDueEvents(sql: Queries, nowMs: number, rowsMax: number): Promise<PayEvent[]> {
  return sql<PayEvent[]>`
    select id, customer_ref, kind from pay_event where due_at_ms <= ${nowMs} order by due_at_ms, id limit ${rowsMax}`;
}

export async function deleteEvent(sql: Queries, id: string): Promise<void> {
  await sql`delete from pay_event where id = ${id}`;
}
