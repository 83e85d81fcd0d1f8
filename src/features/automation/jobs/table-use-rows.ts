/** The SQL of `job_table_use`. */
import type { JobId } from '../../../../protocol/core/ids.ts';
import type { Queries } from '../../deps.ts';
import type { JobRow } from './rows.ts';

export interface TableUse {
  readonly name: string;
  readonly use: 'read' | 'write';
}

/**
 * Answers what it has noted: of a table that is not there nothing, and nothing at all where the job is gone or has changed since it was read, because
 * the script may be another one.
 */
export function noteTableUses(
  sql: Queries,
  { id, updated_at_ms }: Pick<JobRow, 'id' | 'updated_at_ms'>,
  uses: readonly TableUse[],
  nowMs: number,
): Promise<TableUse[]> {
  return sql<TableUse[]>`
    insert into job_table_use (job_id, name, use, used_at_ms)
    select j.id, u.name, u.use, ${nowMs}
    from job j, unnest(${uses.map(({ name }) => name)}::text[], ${uses.map(({ use }) => use)}::text[]) as u (name, use)
    join data_table t on t.name = u.name
    where t.artifact_id = j.artifact_id and j.id = ${id} and j.updated_at_ms = ${updated_at_ms}
    for key share of j
    on conflict (job_id, name, use) do update set used_at_ms = greatest(job_table_use.used_at_ms, excluded.used_at_ms)
    returning name, use`;
}

/** What another script has used says nothing of the new one. */
export async function forgetTableUses(tx: Queries, id: JobId): Promise<void> {
  await tx`delete from job_table_use where job_id = ${id}`;
}

/** Those before this time, and those of tables that are gone. */
export async function deleteOldTableUses(sql: Queries, beforeMs: number): Promise<number> {
  const { count } = await sql`
    delete from job_table_use u where u.used_at_ms < ${beforeMs}
      or not exists (select from job j join data_table t on t.artifact_id = j.artifact_id where j.id = u.job_id and t.name = u.name)`;
  return count;
}
