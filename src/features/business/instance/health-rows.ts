/** The SQL of how full accounts and workspaces are, and of what lags behind. */

import { TIER_ORDER } from '../../../../protocol/business/tiers.ts';
import type { Tier } from '../../../../protocol/people/accounts.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Queries } from '../../deps.ts';
import { allowanceOf } from '../tiers/rules.ts';

export interface QuotaRow {
  readonly id: string;
  readonly name: string | null;
  readonly tier: Tier;
  readonly bytes: number;
  readonly artifacts: number;
  /** The greater share of bytes and artifacts, in millionths, so that a page can begin behind it. */
  readonly used_ppm: number;
}

export interface QuotaFilter {
  readonly kind: 'account' | 'workspace';
  readonly q: string | undefined;
}

function quotas(sql: Queries, { kind, q }: QuotaFilter) {
  const tiers = TIER_ORDER.map((tier) => ({ tier, ...allowanceOf(tier) }));
  const limits = sql`
    unnest(
      ${tiers.map(({ tier }) => tier)}::text[], ${tiers.map(({ bytesMax }) => bytesMax)}::bigint[],
      ${tiers.map(({ artifactsMax }) => artifactsMax)}::bigint[]
    ) as l (tier, bytes_max, artifacts_max)`;
  const share = sql`(u.bytes * 1000000 / l.bytes_max)::bigint`;
  if (kind === 'workspace') {
    return sql`(
      select w.id, w.name, l.tier, u.bytes, 0 as artifacts, ${share} as used_ppm
      from account_usage u join workspace w on w.id = u.account_id join ${limits} on l.tier = workspace_tier(w.id)
      where w.deleted_at_ms is null ${isNamed(sql, q, sql`concat_ws(' ', w.id, w.slug, w.name)`)}) n`;
  }
  return sql`(
    select a.id, coalesce(nullif(a.name, ''), a.username, a.email) as name, a.tier, u.bytes, u.artifacts,
      greatest(${share}, (u.artifacts::bigint * 1000000 / l.artifacts_max)::bigint) as used_ppm
    from account_usage u join account a on a.id = u.account_id join ${limits} on l.tier = a.tier
    where true ${isNamed(sql, q, sql`concat_ws(' ', a.id, a.email, a.name, a.username)`)}) n`;
}

function isNamed(sql: Queries, q: string | undefined, names: ReturnType<Queries>) {
  return q === undefined || q === '' ? sql`` : sql`and position(lower(${q}) in lower(${names})) > 0`;
}

/** The fullest first. */
export function listQuotas(sql: Queries, filter: QuotaFilter, after: PageKey, rowsMax: number) {
  return sql<QuotaRow[]>`
    select n.* from ${quotas(sql, filter)} where (n.used_ppm, n.id) < (${after.number}, ${after.id})
    order by n.used_ppm desc, n.id desc limit ${rowsMax}`;
}

export async function countQuotas(sql: Queries, filter: QuotaFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from ${quotas(sql, filter)}`;
  return row?.total ?? 0;
}

export interface Backlog {
  readonly mailOldestMs: number | null;
  readonly mailsFailed: number;
  readonly deliveryOldestMs: number | null;
  readonly webhooksFailing: number;
  readonly runOldestMs: number | null;
  readonly houseDueMs: number | null;
}

/** What is due and not done, with the time of the oldest. */
export async function readBacklog(sql: Queries, nowMs: number, failedSinceMs: number): Promise<Backlog> {
  const [row] = await sql<Backlog[]>`
    select
      (select min(next_attempt_at_ms) from mail_outbox where sent_at_ms is null and next_attempt_at_ms <= ${nowMs}) as "mailOldestMs",
      (select count(*)::int from mail_outbox
        where sent_at_ms is null and suppressed_at_ms is null and next_attempt_at_ms is null and created_at_ms > ${failedSinceMs}) as "mailsFailed",
      (select min(due_ms) from webhook where due_ms <= ${nowMs} and disabled_at_ms is null and lease_ends_at is null) as "deliveryOldestMs",
      (select count(*)::int from webhook where failing_since_ms is not null and disabled_at_ms is null) as "webhooksFailing",
      (select min(due_ms) from job_run where status = 'queued' and due_ms <= ${nowMs}) as "runOldestMs",
      (select min(due_ms) from house_job where due_ms > done_ms and due_ms <= ${nowMs}) as "houseDueMs"`;
  if (row === undefined) throw new Error('an aggregate gave no row');
  return row;
}
