/** The SQL of lineage: one step from what is known to what it is made from, or to what is made from it, as far as the viewer sees the other end. */
import type { ArtifactId } from '../../../../protocol/core/ids.ts';
import type { ImportProvider } from '../../../../protocol/library/file-imports.ts';
import { isEditable, isSeenIn } from '../../artifacts/artifacts/lists.ts';
import type { Queries } from '../../deps.ts';
import { isSourceSeen } from '../imports/rows.ts';
import type { Catalog } from './rows.ts';

/** A table or dataset is named by its artifact and its name; of a connection, an import source, a page and a job `thing` is empty. */
export interface Place {
  readonly kind: 'table' | 'dataset' | 'connection' | 'import' | 'page' | 'job';
  readonly holder: string;
  readonly thing: string;
}

/** `near` is one of the places that were given. */
export interface StepRow extends Place {
  readonly id: string;
  readonly name: string;
  readonly source_name: string | ImportProvider;
  /** Null for connections and imports, which belong to no artifact. */
  readonly artifact_id: ArtifactId | null;
  readonly near_kind: Place['kind'];
  readonly near_holder: string;
  readonly near_thing: string;
  readonly made_by: 'materialize' | 'import' | 'read' | 'write';
}

/** How conversion names datasets: src/features/library/imports/making.ts. */
const OF_CONVERSION = '^(rows|sheet_([2-9]|10))$';

/** Of `made`, what is there and the viewer sees, with its name. An agent sees no connections and no imports elsewhere either, and jobs are there for editors alone. */
function seenOf(sql: Queries, { workspaceId, viewer }: Catalog, rowsMax: number) {
  const { accounts, runs, actsFor } = viewer;
  return sql`
    select m.*, k.id, k.name, k.source_name, k.artifact_id from made m join lateral (
      select case when m.kind = 'page' then a.id else catalog_id(m.kind, a.id, m.thing) end as id,
        case when m.kind = 'page' then a.name else m.thing end as name, case when m.kind = 'page' then '' else a.name end as source_name,
        a.id as artifact_id
      from artifact a
      where m.kind in ('table', 'dataset', 'page') and a.id = m.holder and a.workspace_id = ${workspaceId} and a.deleted_at_ms is null
        and (m.kind <> 'table' or exists (select from data_table t where t.artifact_id = a.id and t.name = m.thing))
        and (m.kind <> 'dataset' or exists (select from dataset_version v where v.artifact_id = a.id and v.name = m.thing))
        and ${isSeenIn(sql, viewer, workspaceId)}
      union all
      select catalog_id('connection', c.id, ''), c.name, c.type, null from connection c
      where m.kind = 'connection' and c.id = m.holder and c.workspace_id = ${workspaceId} and ${actsFor === null}::boolean
      union all
      select s.id, s.remote_name, s.provider, null from import_source s
      where m.kind = 'import' and s.id = m.holder and ${actsFor === null}::boolean
        and ${isSourceSeen(sql, { workspaceId, accounts, isAdmin: runs.includes(workspaceId) })}
      union all
      select j.id, j.title, a.name, a.id from job j join artifact a on a.id = j.artifact_id
      where m.kind = 'job' and j.id = m.holder and a.workspace_id = ${workspaceId} and a.deleted_at_ms is null and ${isEditable(sql, viewer)}
    ) k on true
    order by m.kind, k.name, k.id limit ${rowsMax}`;
}

function columnsOf(near: readonly Place[]) {
  return { kinds: near.map(({ kind }) => kind), holders: near.map(({ holder }) => holder), things: near.map(({ thing }) => thing) };
}

/** What jobs and imports make these from, the jobs whose scripts write them, and what these scripts read. */
export function listMakers(sql: Queries, catalog: Catalog, near: readonly Place[], rowsMax: number) {
  const { kinds, holders, things } = columnsOf(near);
  return sql<StepRow[]>`
    with near as (select * from unnest(${kinds}::text[], ${holders}::text[], ${things}::text[]) as n (kind, holder, thing)),
    made as (
      select case when j.config->>'connection_id' is null then 'table' else 'connection' end as kind,
        coalesce(j.config->>'connection_id', j.artifact_id) as holder,
        case when j.config->>'connection_id' is null then j.config->>'table' else '' end as thing,
        n.kind as near_kind, n.holder as near_holder, n.thing as near_thing, 'materialize' as made_by
      from near n join job j on j.artifact_id = n.holder
      where n.kind = 'dataset' and j.action = 'materialize' and j.config->>'dataset' = n.thing
      union
      select 'import', i.source_id, '', n.kind, n.holder, n.thing, 'import'
      from near n join import_item i on i.artifact_id = n.holder
      where n.kind = 'dataset' and i.outcome = 'converted' and n.thing ~ ${OF_CONVERSION}
      union
      select 'job', j.id, '', n.kind, n.holder, n.thing, 'write'
      from near n join job j on j.artifact_id = n.holder join job_table_use u on u.job_id = j.id and u.name = n.thing
      where n.kind = 'table' and u.use = 'write'
      union
      select 'table', j.artifact_id, u.name, n.kind, n.holder, n.thing, 'read'
      from near n join job j on j.id = n.holder join job_table_use u on u.job_id = j.id
      where n.kind = 'job' and u.use = 'read'
    )
    ${seenOf(sql, catalog, rowsMax)}`;
}

/** What jobs make from these, the pages and scripts that read them, and what these scripts write. */
export function listMade(sql: Queries, catalog: Catalog, near: readonly Place[], rowsMax: number) {
  const { kinds, holders, things } = columnsOf(near);
  return sql<StepRow[]>`
    with near as (select * from unnest(${kinds}::text[], ${holders}::text[], ${things}::text[]) as n (kind, holder, thing)),
    made as (
      select 'dataset' as kind, j.artifact_id as holder, j.config->>'dataset' as thing, n.kind as near_kind, n.holder as near_holder,
        n.thing as near_thing, 'materialize' as made_by
      from near n join job j on j.artifact_id = n.holder
      where n.kind = 'table' and j.action = 'materialize' and j.config->>'connection_id' is null and j.config->>'table' = n.thing
      union
      select 'dataset', j.artifact_id, j.config->>'dataset', n.kind, n.holder, n.thing, 'materialize'
      from near n join job j on j.config->>'connection_id' = n.holder and j.action = 'materialize'
      where n.kind = 'connection'
      union
      select 'page', r.artifact_id, '', n.kind, n.holder, n.thing, 'read'
      from near n join page_read r on r.artifact_id = n.holder and r.kind = n.kind and r.name = n.thing
      union
      select 'job', j.id, '', n.kind, n.holder, n.thing, 'read'
      from near n join job j on j.artifact_id = n.holder join job_table_use u on u.job_id = j.id and u.name = n.thing
      where n.kind = 'table' and u.use = 'read'
      union
      select 'table', j.artifact_id, u.name, n.kind, n.holder, n.thing, 'write'
      from near n join job j on j.id = n.holder join job_table_use u on u.job_id = j.id
      where n.kind = 'job' and u.use = 'write'
    )
    ${seenOf(sql, catalog, rowsMax)}`;
}
