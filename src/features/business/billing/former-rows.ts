/**
 * The SQL of subscriptions that were made with a payment provider which this installation does not use any more. They cannot be changed here, and
 * run until what was paid has been used, as it was seen last.
 */
import type { SubscriptionId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import { type Stored, type SubscriptionRow, subscriptionColumns, whole } from './rows.ts';

const RUNNING = ['trialing', 'active', 'past_due'];

/** A subscription with the provider that has it. */
export interface FormerRow extends SubscriptionRow {
  readonly provider: string;
}

type StoredFormer = Stored & { readonly provider: string };

/** The one that runs, of another provider than this one; null where there is none. */
export async function readFormer(sql: Queries, workspaceId: WorkspaceId, provider: string): Promise<FormerRow | null> {
  const [row] = await sql<StoredFormer[]>`
    select s.provider, ${subscriptionColumns(sql)} from billing_subscription s
    where s.workspace_id = ${workspaceId} and s.provider <> ${provider} and s.status = any(${RUNNING}::text[])
    order by s.created_at_ms desc, s.id limit 1`;
  return row === undefined ? null : { ...whole(row), provider: row.provider };
}

/** Those that have ended by now: their period is over, they are unpaid since `endSinceMs`, or were never paid. */
export async function listEndedFormer(
  sql: Queries,
  { provider, nowMs, endSinceMs, rowsMax }: { provider: string; nowMs: number; endSinceMs: number; rowsMax: number },
): Promise<FormerRow[]> {
  const rows = await sql<StoredFormer[]>`
    select s.provider, ${subscriptionColumns(sql)} from billing_subscription s where s.provider <> ${provider} and s.status <> 'canceled' and (
      s.status = 'incomplete' or coalesce(s.period_ends_at_ms, 0) <= ${nowMs} or s.past_due_since_ms <= ${endSinceMs})
    order by s.period_ends_at_ms, s.id limit ${rowsMax}`;
  return rows.map((row) => ({ ...whole(row), provider: row.provider }));
}

/** False where another node was faster. Where the installation comes back to that provider, it is looked at again. */
export async function forgetFormer(tx: Queries, { id, workspaceId, provider }: FormerId): Promise<boolean> {
  const { count } = await tx`delete from billing_subscription where id = ${id} and provider = ${provider}`;
  await tx`
    update billing_customer set look_no = look_no + 1, look_after_ms = 0 where workspace_id = ${workspaceId} and provider = ${provider}`;
  return count > 0;
}

type FormerId = Pick<FormerRow, 'workspaceId' | 'provider'> & { readonly id: SubscriptionId };
