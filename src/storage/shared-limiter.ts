/** Limits that all processes count together: a log of accepted calls in one row a subject, changed by one statement. */
import type { Clock } from '../../actors/runtime/ports.ts';
import type { RateLimit } from '../../protocol/core/rate-limits.ts';
import type { Limiter, Spent } from '../edge/limits.ts';
import { spentOf } from '../edge/memory-limiter.ts';
import type { Queries, Sql } from './sql.ts';

interface WindowRow {
  readonly taken_at_ms: number[];
  readonly accepted: boolean;
  readonly seen_at_ms: number;
}

/** Exact: no span of `windowS` seconds holds more accepted calls than `quota`, whichever processes took them. */
export class SharedLimiter implements Limiter {
  readonly #sql: Sql;
  readonly #clock: Pick<Clock, 'nowMs'>;

  constructor(deps: { readonly sql: Sql; readonly clock: Pick<Clock, 'nowMs'> }) {
    this.#sql = deps.sql;
    this.#clock = deps.clock;
  }

  spend(limit: RateLimit, subject: string, calls = 1): Promise<Spent> {
    return this.spendIn(this.#sql, limit, subject, calls);
  }

  /** As a part of the transaction `tx`: others of this subject wait until it ends, and where it is rolled back nothing was spent. */
  async spendIn(tx: Queries, limit: RateLimit, subject: string, calls = 1): Promise<Spent> {
    const [row] = await takeCalls(tx, limit, subject, calls, this.#clock.nowMs());
    if (row === undefined) throw new Error(`the window of ${limit.name} was not written`);
    return spentOf(limit, { accepted: row.accepted, takenMs: row.taken_at_ms, nowMs: row.seen_at_ms }, calls);
  }

  async giveBack(limit: RateLimit, subject: string, { atMs }: Spent, calls = 1): Promise<void> {
    await this.#sql`
      update rate_window set taken_at_ms = array(
        select t from (
          select t, row_number() over (partition by t) as nth from unnest(taken_at_ms) as t
        ) as numbered where t <> ${atMs} or nth > ${calls} order by t)
      where limit_name = ${limit.name} and subject = ${subject}`;
  }

  /** Takes back all calls of this subject. */
  async forget(limit: RateLimit, subject: string): Promise<void> {
    await this.#sql`delete from rate_window where limit_name = ${limit.name} and subject = ${subject}`;
  }

  /** What spending `calls` would return now, without spending or waiting for locks. */
  async look(limit: RateLimit, subject: string, calls = 1): Promise<Spent> {
    const nowMs = this.#clock.nowMs();
    const [row] = await this.#sql<Pick<WindowRow, 'taken_at_ms' | 'seen_at_ms'>[]>`
      select array(select t from unnest(taken_at_ms) as t where t > greatest(${nowMs}, seen_at_ms) - ${limit.windowS * 1000} order by t) as taken_at_ms,
        greatest(${nowMs}, seen_at_ms) as seen_at_ms
      from rate_window where limit_name = ${limit.name} and subject = ${subject}`;
    const takenMs = row?.taken_at_ms ?? [];
    return spentOf(limit, { accepted: takenMs.length + calls <= limit.quota, takenMs, nowMs: row?.seen_at_ms ?? nowMs }, calls);
  }
}

/**
 * The statement that decides also locks the row, so that a concurrent call decides on its result.
 * The time never goes back for one subject: a process whose clock is behind uses the latest time seen.
 */
function takeCalls(tx: Queries, { name, quota, windowS }: RateLimit, subject: string, calls: number, nowMs: number) {
  const windowMs = windowS * 1000;
  return tx<WindowRow[]>`
    insert into rate_window as w (limit_name, subject, taken_at_ms, accepted, seen_at_ms, forget_at_ms)
    values (
      ${name}, ${subject}, case when ${calls}::int <= ${quota}::int then array_fill(${nowMs}::bigint, array[${calls}::int]) else '{}' end,
      ${calls}::int <= ${quota}::int, ${nowMs}::bigint, ${nowMs + windowMs}::bigint
    )
    on conflict (limit_name, subject) do update set
      (taken_at_ms, accepted, seen_at_ms, forget_at_ms) = (
        select
          case when fits then recent || array_fill(at_ms, array[${calls}::int]) else recent end, fits, at_ms, at_ms + ${windowMs}::bigint
        from (
          select at_ms, recent, cardinality(recent) + ${calls}::int <= ${quota}::int as fits
          from (select greatest(${nowMs}::bigint, w.seen_at_ms) as at_ms) as clock,
            lateral (
              select coalesce(array_agg(t order by t), '{}') as recent from unnest(w.taken_at_ms) as t where t > at_ms - ${windowMs}::bigint
            ) as still
        ) as decided
      )
    returning taken_at_ms, accepted, seen_at_ms`;
}

/** Deletes expired windows and returns how many. */
export async function deleteOldWindows(sql: Queries, nowMs: number): Promise<number> {
  return (await sql`delete from rate_window where forget_at_ms <= ${nowMs}`).count;
}
