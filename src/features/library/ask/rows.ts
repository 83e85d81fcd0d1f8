/** The SQL of answers. What a page's agent reads of it is committed state. */
import type { Principal } from '../../../../actors/access/access.ts';
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import { isSuspended } from '../../artifacts/artifacts/rows.ts';
import type { Queries } from '../../deps.ts';
import { mayOpen, readerOf } from '../search/reader.ts';

/** How many of these the caller may open now. A public one is open also to agents and jobs that are confined to others. */
export async function countOpenable(sql: Queries, principal: Principal, ids: readonly ArtifactId[]): Promise<number> {
  const [row] = await sql<{ openable: number }[]>`
    select count(*)::int as openable from artifact a
    where a.id = any(${[...ids]}) and (${mayOpen(sql, readerOf(principal))}
      or (a.visibility = 'public' and a.deleted_at_ms is null and not ${isSuspended(sql)}))`;
  return row?.openable ?? 0;
}

export interface PageFacts {
  readonly name: string;
  readonly slug: string;
  readonly allow_anon_agent: boolean;
}

export async function readPageFacts(sql: Queries, id: ArtifactId): Promise<PageFacts | null> {
  const [row] = await sql<PageFacts[]>`select name, slug, allow_anon_agent from artifact where id = ${id} and deleted_at_ms is null`;
  return row ?? null;
}

export interface DataFacts {
  readonly name: string;
}

export interface TableFacts extends DataFacts {
  /** The name under which its rows are. */
  readonly storedAs: string;
  readonly rows: number;
}

/** By name. */
export function listTableFacts(sql: Queries, id: ArtifactId): Promise<TableFacts[]> {
  return sql<TableFacts[]>`
    select name, coalesce(stored_as, name) as "storedAs", row_count as rows from data_table
    where artifact_id = ${id} order by name limit ${LIMITS.tablesMax}::int`;
}

/** By name. */
export function listDatasetFacts(sql: Queries, id: ArtifactId): Promise<DataFacts[]> {
  return sql<DataFacts[]>`
    select distinct name from dataset_version where artifact_id = ${id} order by name limit ${LIMITS.datasetsMax}::int`;
}

/** Those that are read quickly, last changed first. */
export function listSmallDocuments(sql: Queries, id: ArtifactId): Promise<{ readonly name: string }[]> {
  return sql<{ name: string }[]>`
    select name from document where artifact_id = ${id} and stored_bytes <= ${LIMITS.agentDocumentBytesMax}
    order by updated_at_ms desc, name limit ${LIMITS.agentDocumentsMax}::int`;
}
