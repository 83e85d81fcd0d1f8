/** The SQL of the cards and invoices of a workspace, as the payment provider showed them last. */
import { type InvoiceId, newId, type PaymentMethodId, type WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { SeenInvoice, SeenMethod } from './provider.ts';

export interface MethodRow extends SeenMethod {
  readonly id: PaymentMethodId;
  readonly workspaceId: WorkspaceId;
}

function methodColumns(sql: Queries) {
  return sql`
    m.id, m.workspace_id as "workspaceId", m.ref, m.brand, m.last4, m.exp_month as "expMonth", m.exp_year as "expYear",
    m.is_default as "isDefault", m.created_at_ms as "createdAtMs"`;
}

/** Newest first. */
export function listMethods(
  sql: Queries,
  workspaceId: WorkspaceId,
  provider: string,
  after: PageKey,
  rowsMax: number,
): Promise<MethodRow[]> {
  return sql<MethodRow[]>`
    select ${methodColumns(sql)} from billing_method m where m.workspace_id = ${workspaceId} and m.provider = ${provider}
      and (m.created_at_ms < ${after.number} or (m.created_at_ms = ${after.number} and m.id > ${after.id}))
    order by m.created_at_ms desc, m.id limit ${rowsMax}`;
}

export async function countMethods(sql: Queries, workspaceId: WorkspaceId, provider: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from billing_method where workspace_id = ${workspaceId} and provider = ${provider}`;
  return row?.total ?? 0;
}

export async function readMethod(sql: Queries, id: PaymentMethodId, provider: string): Promise<MethodRow | null> {
  const [row] = await sql<MethodRow[]>`
    select ${methodColumns(sql)} from billing_method m where m.id = ${id} and m.provider = ${provider}`;
  return row ?? null;
}

export async function readMethodByRef(sql: Queries, workspaceId: WorkspaceId, provider: string, ref: string): Promise<MethodRow | null> {
  const [row] = await sql<MethodRow[]>`
    select ${methodColumns(sql)} from billing_method m
    where m.workspace_id = ${workspaceId} and m.provider = ${provider} and m.ref = ${ref}`;
  return row ?? null;
}

export interface PayingRow {
  /** Whether it is paid by itself. */
  readonly hasCard: boolean;
  readonly creditCents: number;
}

export async function readPaying(sql: Queries, workspaceId: WorkspaceId, provider: string): Promise<PayingRow> {
  const [row] = await sql<PayingRow[]>`
    select exists (
        select from billing_method m where m.workspace_id = ${workspaceId} and m.provider = ${provider} and m.is_default) as "hasCard",
      coalesce((
        select c.credit_cents from billing_customer c where c.workspace_id = ${workspaceId} and c.provider = ${provider}), 0)::bigint as "creditCents"`;
  return row ?? { hasCard: false, creditCents: 0 };
}

/** Makes the cards of a workspace those that were seen. */
export async function putMethods(tx: Queries, workspaceId: WorkspaceId, provider: string, seen: readonly SeenMethod[]): Promise<void> {
  const defaultRef = seen.find(({ isDefault }) => isDefault)?.ref ?? null;
  await tx`
    delete from billing_method where workspace_id = ${workspaceId} and provider = ${provider}
      and ref <> all(${seen.map(({ ref }) => ref)}::text[])`;
  await tx`
    insert into billing_method (id, workspace_id, provider, ref, brand, last4, exp_month, exp_year, is_default, created_at_ms)
    select m.id, ${workspaceId}, ${provider}, m.ref, m.brand, m.last4, m.exp_month, m.exp_year,
      m.ref is not distinct from ${defaultRef}::text, m.created_at_ms
    from unnest(
      ${seen.map(() => newId('paymentMethod'))}::text[], ${seen.map(({ ref }) => ref)}::text[], ${seen.map(({ brand }) => brand)}::text[],
      ${seen.map(({ last4 }) => last4)}::text[], ${seen.map(({ expMonth }) => expMonth)}::int[], ${seen.map(({ expYear }) => expYear)}::int[],
      ${seen.map(({ createdAtMs }) => createdAtMs)}::bigint[]
    ) as m (id, ref, brand, last4, exp_month, exp_year, created_at_ms)
    on conflict (workspace_id, provider, ref) do update set is_default = excluded.is_default, exp_month = excluded.exp_month,
      exp_year = excluded.exp_year`;
}

export interface InvoiceRow extends SeenInvoice {
  readonly id: InvoiceId;
}

/** Newest first. */
export function listInvoices(
  sql: Queries,
  workspaceId: WorkspaceId,
  provider: string,
  after: PageKey,
  rowsMax: number,
): Promise<InvoiceRow[]> {
  return sql<InvoiceRow[]>`
    select i.id, i.ref, i.number, i.amount_cents as "amountCents", i.currency, i.status, i.page_url as "pageUrl",
      i.created_at_ms as "createdAtMs"
    from billing_invoice i where i.workspace_id = ${workspaceId} and i.provider = ${provider}
      and (i.created_at_ms < ${after.number} or (i.created_at_ms = ${after.number} and i.id > ${after.id}))
    order by i.created_at_ms desc, i.id limit ${rowsMax}`;
}

export async function countInvoices(sql: Queries, workspaceId: WorkspaceId, provider: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from billing_invoice where workspace_id = ${workspaceId} and provider = ${provider}`;
  return row?.total ?? 0;
}

/** Invoices are kept, also those that the provider does not list any more. */
export async function putInvoices(tx: Queries, workspaceId: WorkspaceId, provider: string, seen: readonly SeenInvoice[]): Promise<void> {
  await tx`
    insert into billing_invoice (id, workspace_id, provider, ref, number, amount_cents, currency, status, page_url, created_at_ms)
    select i.id, ${workspaceId}, ${provider}, i.ref, i.number, i.amount_cents, i.currency, i.status, i.page_url, i.created_at_ms
    from unnest(
      ${seen.map(() => newId('invoice'))}::text[], ${seen.map(({ ref }) => ref)}::text[], ${seen.map(({ number }) => number)}::text[],
      ${seen.map(({ amountCents }) => amountCents)}::bigint[], ${seen.map(({ currency }) => currency)}::text[],
      ${seen.map(({ status }) => status)}::text[], ${seen.map(({ pageUrl }) => pageUrl)}::text[],
      ${seen.map(({ createdAtMs }) => createdAtMs)}::bigint[]
    ) as i (id, ref, number, amount_cents, currency, status, page_url, created_at_ms)
    on conflict (workspace_id, provider, ref) do update set number = excluded.number, amount_cents = excluded.amount_cents,
      status = excluded.status, page_url = excluded.page_url`;
}
