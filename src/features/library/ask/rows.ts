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

export interface TableFacts {
  readonly name: string;
  readonly rows: number;
  /** The first ones, as JSON, each cut. */
  readonly first: readonly string[];
}

/** By name. */
export function listTableFacts(sql: Queries, id: ArtifactId): Promise<TableFacts[]> {
  return sql<TableFacts[]>`
    select t.name, t.row_count as rows, array(
      select left(r.data::text, ${LIMITS.agentTableRowCharsMax}::int) from table_row r
      where r.artifact_id = t.artifact_id and r.table_name = coalesce(t.stored_as, t.name) order by r.created_seq limit ${LIMITS.agentTableRowsMax}::int) as first
    from data_table t where t.artifact_id = ${id} order by t.name limit ${LIMITS.agentTablesMax}::int`;
}

export interface DatasetFacts {
  readonly name: string;
  readonly rows: number;
  /** JSON. */
  readonly columns: string;
}

/** The newest version of each, by name. */
export function listDatasetFacts(sql: Queries, id: ArtifactId): Promise<DatasetFacts[]> {
  return sql<DatasetFacts[]>`
    select distinct on (name) name, row_count as rows, columns from dataset_version
    where artifact_id = ${id} order by name, version desc limit ${LIMITS.agentTablesMax}::int`;
}

/** Those that are read quickly, last changed first. */
export function listSmallDocuments(sql: Queries, id: ArtifactId): Promise<{ readonly name: string }[]> {
  return sql<{ name: string }[]>`
    select name from document where artifact_id = ${id} and stored_bytes <= ${LIMITS.agentDocumentBytesMax}
    order by updated_at_ms desc, name limit ${LIMITS.agentDocumentsMax}::int`;
}
