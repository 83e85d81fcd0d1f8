/** The SQL of the status page. */
import type { Queries } from '../../deps.ts';

/** Work that waits for longer than this is told as delayed. A job may wait for others of its artifact or person for some minutes. */
const MAIL_LATE_MS = 10 * 60_000;
const JOB_LATE_MS = 15 * 60_000;
const IMPORT_LATE_MS = 15 * 60_000;
/** Changed artifacts that wait to be indexed; their rows say nothing about their age. */
const SEARCH_WAITING_MAX = 1000;

/** Whether more waits than usual. */
export interface Backlogs {
  readonly mail: boolean;
  readonly jobs: boolean;
  readonly search: boolean;
  readonly imports: boolean;
}

export async function readBacklogs(sql: Queries, nowMs: number): Promise<Backlogs> {
  const [row] = await sql<Backlogs[]>`
    select
      exists (select from mail_outbox where sent_at_ms is null and next_attempt_at_ms <= ${nowMs - MAIL_LATE_MS}) as mail,
      exists (
        select from job_run where due_ms <= ${nowMs - JOB_LATE_MS} and (lease_ends_at is null or lease_ends_at <= clock_timestamp())
      ) as jobs,
      (select count(*) from (select from search_turn limit ${SEARCH_WAITING_MAX + 1}) as turn) > ${SEARCH_WAITING_MAX} as search,
      exists (select from import_run where status = 'queued' and created_at_ms <= ${nowMs - IMPORT_LATE_MS}) as imports`;
  return row ?? { mail: false, jobs: false, search: false, imports: false };
}
