/** The SQL of `page_read`. */
import type { ArtifactId } from '../../../protocol/core/ids.ts';
import type { Queries } from '../deps.ts';

export type ReadKind = 'table' | 'dataset';

export interface PageRead {
  readonly artifactId: ArtifactId;
  readonly kind: ReadKind;
  readonly name: string;
}

/** Of a table or dataset that is not there it notes nothing. */
export async function notePageRead(sql: Queries, { artifactId, kind, name }: PageRead, nowMs: number): Promise<void> {
  await sql`
    insert into page_read (artifact_id, kind, name, read_at_ms)
    select r.artifact_id, r.kind, r.name, ${nowMs}::bigint
    from (values (${artifactId}::text, ${kind}::text, ${name}::text)) as r (artifact_id, kind, name) where ${isThere(sql)}
    on conflict (artifact_id, kind, name) do update set read_at_ms = greatest(page_read.read_at_ms, excluded.read_at_ms)`;
}

/** Those that were read last before this time, and those of what is gone. */
export async function deleteOldPageReads(sql: Queries, kind: ReadKind, beforeMs: number): Promise<number> {
  const { count } = await sql`delete from page_read r where r.kind = ${kind} and (r.read_at_ms < ${beforeMs} or not ${isThere(sql)})`;
  return count;
}

/** Whether there is what read `r` is of. */
function isThere(sql: Queries) {
  return sql`
    case r.kind when 'table' then exists (select from data_table t where t.artifact_id = r.artifact_id and t.name = r.name)
      else exists (select from dataset_version v where v.artifact_id = r.artifact_id and v.name = r.name) end`;
}
