/** The SQL of `job_cursor`: how far jobs have read their connections. */
import type { JobId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';

/** Undefined where the job has read nothing yet, or something else. */
export async function readCursor(sql: Queries, jobId: JobId, source: string): Promise<string | number | undefined> {
  const [row] = await sql<{ value: string }[]>`select value from job_cursor where job_id = ${jobId} and source = ${source}`;
  return row === undefined ? undefined : JSON.parse(row.value);
}

/** Nothing where the job is gone. */
export async function writeCursor(tx: Queries, jobId: JobId, source: string, value: string | number, nowMs: number): Promise<void> {
  await tx`
    insert into job_cursor (job_id, source, value, updated_at_ms)
    select id, ${source}, ${JSON.stringify(value)}, ${nowMs}::bigint from job where id = ${jobId}
    on conflict (job_id) do update set source = excluded.source, value = excluded.value, updated_at_ms = excluded.updated_at_ms`;
}
