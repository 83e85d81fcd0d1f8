/** The SQL of changes at the payment provider (`billing_operation`) and of checkouts. */
import type { JSONValue } from 'postgres';
import type { ErrorCode } from '../../../../protocol/core/errors.ts';
import type { CheckoutId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import type { Request } from './request.ts';

export interface OperationRow {
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly provider: string;
  readonly request: Request;
  /** Null for what the service does by itself. */
  readonly createdBy: UserId | null;
  readonly address: string;
  readonly requestId: string;
  readonly leaseUntilMs: number;
  readonly createdAtMs: number;
}

function operationColumns(sql: Queries) {
  return sql`
    o.id, o.workspace_id as "workspaceId", o.provider, o.request, o.created_by as "createdBy", o.address, o.request_id as "requestId",
    o.lease_until_ms as "leaseUntilMs", o.created_at_ms as "createdAtMs"`;
}

export async function readOpenOperation(tx: Queries, workspaceId: WorkspaceId): Promise<OperationRow | null> {
  const [row] = await tx<OperationRow[]>`
    select ${operationColumns(tx)} from billing_operation o where o.workspace_id = ${workspaceId} and o.state = 'open'`;
  return row ?? null;
}

export async function insertOperation(tx: Queries, operation: OperationRow): Promise<void> {
  await tx`
    insert into billing_operation (id, workspace_id, provider, kind, request, state, created_by, address, request_id, lease_until_ms, created_at_ms)
    values (
      ${operation.id}, ${operation.workspaceId}, ${operation.provider}, ${operation.request.kind},
      ${tx.json(operation.request as unknown as JSONValue)}, 'open', ${operation.createdBy}, ${operation.address}, ${operation.requestId},
      ${operation.leaseUntilMs}, ${operation.createdAtMs})`;
}

/** Takes an open operation whose holder has ended; false where another one was faster. */
export async function takeOperation(sql: Queries, id: string, leaseBeforeMs: number, leaseUntilMs: number): Promise<boolean> {
  const { count } = await sql`
    update billing_operation set lease_until_ms = ${leaseUntilMs}, tries = tries + 1
    where id = ${id} and state = 'open' and lease_until_ms = ${leaseBeforeMs}`;
  return count > 0;
}

/** Nobody works on it until then. */
export async function postponeOperation(sql: Queries, id: string, untilMs: number): Promise<void> {
  await sql`update billing_operation set lease_until_ms = ${untilMs} where id = ${id} and state = 'open'`;
}

/** `unknown`: nobody has learned whether the provider has made it. */
export interface Outcome {
  readonly state: 'done' | 'failed' | 'unknown';
  readonly failure: ErrorCode | null;
}

/** False where another holder has ended it. The token of a card is not kept. */
export async function endOperation(tx: Queries, id: string, { state, failure }: Outcome, nowMs: number): Promise<boolean> {
  const { count } = await tx`
    update billing_operation set state = ${state}, failure = ${failure},
      finished_at_ms = ${nowMs}, request = request - 'token'
    where id = ${id} and state = 'open'`;
  return count > 0;
}

/** Open ones that nobody works on. */
export function listLeftOperations(sql: Queries, provider: string, nowMs: number, rowsMax: number): Promise<OperationRow[]> {
  return sql<OperationRow[]>`
    select ${operationColumns(sql)} from billing_operation o
    where o.state = 'open' and o.provider = ${provider} and o.lease_until_ms <= ${nowMs} order by o.lease_until_ms, o.id limit ${rowsMax}`;
}

/** Open ones of a provider that this installation does not use any more, and that no node works on. */
export function listFormerOperations(sql: Queries, provider: string, nowMs: number, rowsMax: number): Promise<OperationRow[]> {
  return sql<OperationRow[]>`
    select ${operationColumns(sql)} from billing_operation o
    where o.state = 'open' and o.provider <> ${provider} and o.lease_until_ms <= ${nowMs} order by o.lease_until_ms, o.id limit ${rowsMax}`;
}

export interface AnyOperationRow {
  readonly id: string;
  readonly workspace_id: WorkspaceId;
  readonly provider: string;
  readonly kind: string;
  readonly state: 'open' | 'done' | 'failed' | 'unknown';
  readonly failure: string | null;
  readonly tries: number;
  readonly created_by: UserId | null;
  readonly created_at_ms: number;
  readonly finished_at_ms: number | null;
}

export interface OperationFilter {
  /** A workspace. */
  readonly q: string | undefined;
  readonly state: AnyOperationRow['state'] | undefined;
}

function isFound(sql: Queries, { q, state }: OperationFilter) {
  return sql`
    true ${q === undefined || q === '' ? sql`` : sql`and o.workspace_id = ${q}`} ${state === undefined ? sql`` : sql`and o.state = ${state}`}`;
}

/** Of the whole installation, newest first. What was asked is not shown. */
export function listAnyOperations(sql: Queries, filter: OperationFilter, after: PageKey, rowsMax: number) {
  return sql<AnyOperationRow[]>`
    select o.id, o.workspace_id, o.provider, o.kind, o.state, o.failure, o.tries, o.created_by, o.created_at_ms, o.finished_at_ms
    from billing_operation o where ${isFound(sql, filter)} and (o.created_at_ms, replace(o.id, '-', '')) < (${after.number}, ${after.id})
    order by o.created_at_ms desc, replace(o.id, '-', '') desc limit ${rowsMax}`;
}

export async function countAnyOperations(sql: Queries, filter: OperationFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from billing_operation o where ${isFound(sql, filter)}`;
  return row?.total ?? 0;
}

export async function deleteOldOperations(sql: Queries, finishedBeforeMs: number): Promise<number> {
  return (await sql`delete from billing_operation where state <> 'open' and finished_at_ms <= ${finishedBeforeMs}`).count;
}

export interface CheckoutRow {
  readonly id: CheckoutId;
  readonly workspaceId: WorkspaceId;
  readonly ref: string;
  readonly expiresAtMs: number;
}

export async function insertCheckout(
  tx: Queries,
  provider: string,
  { id, workspaceId, ref, expiresAtMs }: CheckoutRow,
  nowMs: number,
): Promise<void> {
  await tx`
    insert into billing_checkout (id, workspace_id, provider, ref, expires_at_ms, created_at_ms)
    values (${id}, ${workspaceId}, ${provider}, ${ref}, ${expiresAtMs}, ${nowMs}) on conflict do nothing`;
}

export async function readCheckout(sql: Queries, id: CheckoutId, provider: string): Promise<CheckoutRow | null> {
  const [row] = await sql<CheckoutRow[]>`
    select id, workspace_id as "workspaceId", ref, expires_at_ms as "expiresAtMs" from billing_checkout
    where id = ${id} and provider = ${provider}`;
  return row ?? null;
}

export async function deleteOldCheckouts(sql: Queries, expiredBeforeMs: number): Promise<number> {
  return (await sql`delete from billing_checkout where expires_at_ms <= ${expiredBeforeMs}`).count;
}
