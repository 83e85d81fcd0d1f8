/**
 * The SQL of the catalog. Entries of tables, datasets and connections are read from these themselves, so that they are true at once; what people
 * have written about them is in `catalog_entry`. What the caller may not see is in no step of it.
 */
import type { JSONValue } from 'postgres';
import type { ArtifactId, CatalogEntryId, ConnectionId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import { LIMITS } from '../../../../protocol/core/limits.ts';
import type { CatalogKind } from '../../../../protocol/library/catalog.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Statement } from '../../../storage/sql.ts';
import { isSeenIn, type Viewer } from '../../artifacts/artifacts/lists.ts';
import type { Queries } from '../../deps.ts';

export interface FieldNote {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

export interface EntryRow {
  readonly id: CatalogEntryId;
  readonly kind: CatalogKind;
  readonly name: string;
  readonly domain: string | null;
  readonly tags: readonly string[];
  readonly description: string;
  readonly field_notes: readonly FieldNote[];
  /** JSON: of a table its schema, of a dataset its columns; null where there is none. */
  readonly columns: string | null;
  readonly owner_id: UserId | null;
  readonly owner_name: string | null;
  readonly artifact_id: ArtifactId | null;
  readonly connection_id: ConnectionId | null;
  readonly source_name: string;
  readonly row_count: number | null;
  readonly changed_at_ms: number | null;
  /** When people have written about it; 0 where nobody has. */
  readonly written_at_ms: number;
  readonly updated_at_ms: number;
}

/** Whose catalog, for whom. */
export interface Catalog {
  readonly workspaceId: WorkspaceId;
  readonly viewer: Viewer;
}

export interface Wanted {
  /** Words, each of which must be there. */
  readonly words: readonly string[];
  readonly kind: CatalogKind | null;
  readonly domain: string | null;
  readonly tag: string | null;
}

/** Everything that the viewer sees: see `entriesOf`. */
function entries(sql: Queries, catalog: Catalog): Statement {
  const { workspaceId, viewer } = catalog;
  return sql`
    seen as (
      select a.id, a.name, a.owner_id from artifact a
      where a.workspace_id = ${workspaceId} and a.deleted_at_ms is null and ${isSeenIn(sql, viewer, workspaceId)}
    ), ${entriesOf(sql, catalog)}`;
}

/** The entries of the artifacts `seen`, connections and notes. Connections are for people: an agent does not see them elsewhere either. */
function entriesOf(sql: Queries, { workspaceId, viewer }: Catalog): Statement {
  return sql`
    derived as (
      select catalog_id('table', s.id, t.name) as id, 'table' as kind, t.name::text as name, t.schema::text as columns,
        case jsonb_typeof(t.schema->'columns') when 'array' then t.schema->'columns' end as named, s.owner_id, s.id as artifact_id,
        null::text as connection_id, s.name as source_name, t.row_count::bigint as row_count, t.updated_at_ms as changed_at_ms,
        t.updated_at_ms as there_at_ms
      from seen s join data_table t on t.artifact_id = s.id
      union all
      select catalog_id('dataset', s.id, d.name), 'dataset', d.name::text, d.columns, d.columns::jsonb, s.owner_id, s.id, null, s.name,
        d.row_count, d.created_at_ms, d.created_at_ms
      from seen s cross join lateral (
        select distinct on (v.name) v.name, v.columns, v.row_count, v.created_at_ms from dataset_version v
        where v.artifact_id = s.id order by v.name, v.version desc
      ) d
      union all
      select catalog_id('connection', c.id, ''), 'connection', c.name, null, null, c.created_by, null, c.id, c.type, null, c.last_used_at_ms,
        c.updated_at_ms
      from connection c where c.workspace_id = ${workspaceId} and ${viewer.actsFor === null}::boolean
    ), entry as (
      select d.id, d.kind, d.name, e.domain, coalesce(e.tags, '{}') as tags, coalesce(e.description, '') as description,
        coalesce(e.field_notes, '[]') as field_notes, d.columns, d.named, d.owner_id, d.artifact_id, d.connection_id, d.source_name,
        d.row_count, d.changed_at_ms, coalesce(e.updated_at_ms, 0) as written_at_ms,
        greatest(d.there_at_ms, d.changed_at_ms, e.updated_at_ms) as updated_at_ms
      from derived d left join catalog_entry e on e.workspace_id = ${workspaceId} and e.id = d.id
      union all
      select n.id, n.kind, n.name, n.domain, n.tags, n.description, n.field_notes, null, n.field_notes, n.created_by, null, null, '', null,
        null, n.updated_at_ms, n.updated_at_ms
      from catalog_entry n where n.workspace_id = ${workspaceId} and n.kind = 'note'
    )`;
}

/** The columns of an `EntryRow`, from entry `e`. Members see each other's addresses; an owner who is none is shown by name only. */
function columns(sql: Queries, workspaceId: WorkspaceId): Statement {
  return sql`
    e.id, e.kind, e.name, e.domain, e.tags, e.description, e.field_notes, e.columns, e.owner_id,
    (select coalesce(nullif(a.name, ''), a.username, case when m.user_id is not null then a.email end) from account a
      left join workspace_member m on m.workspace_id = ${workspaceId} and m.user_id = a.id where a.id = e.owner_id) as owner_name,
    e.artifact_id, e.connection_id, e.source_name, e.row_count, e.changed_at_ms, e.written_at_ms, e.updated_at_ms`;
}

/** Whether entry `e` has all the words, whatever their case and accents. */
function hasWords(sql: Queries, words: readonly string[]): Statement {
  if (words.length === 0) return sql`true`;
  const patterns = words.map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`);
  return sql`(
    select bool_and(t.words like p.pattern) from (select search_folded(w) as pattern from unnest(${patterns}::text[]) as w) p, (
      select search_folded(concat_ws(' ', e.name, e.domain, array_to_string(e.tags, ' '), e.description, e.source_name,
        (select string_agg(f->>'name', ' ') from jsonb_array_elements(e.named) f))) as words
    ) as t)`;
}

/** Whether entry `e` is of the domain, whatever the case and accents of either. */
function isOfDomain(sql: Queries, domain: string | null): Statement {
  return domain === null ? sql`true` : sql`search_folded(e.domain) = search_folded(${domain})`;
}

/** Whether entry `e` has the tag, whatever the case and accents of either. */
function hasTag(sql: Queries, tag: string | null): Statement {
  return tag === null ? sql`true` : sql`exists (select from unnest(e.tags) as t (tag) where search_folded(t.tag) = search_folded(${tag}))`;
}

export function listEntries(sql: Queries, catalog: Catalog, wanted: Wanted, after: PageKey, rowsMax: number) {
  return sql<EntryRow[]>`
    with ${entries(sql, catalog)}
    select ${columns(sql, catalog.workspaceId)} from entry e
    where ${hasWords(sql, wanted.words)}
      and (${wanted.kind}::text is null or e.kind = ${wanted.kind})
      and ${isOfDomain(sql, wanted.domain)} and ${hasTag(sql, wanted.tag)}
      and (e.updated_at_ms, e.id) < (${after.number}, ${after.id})
    order by e.updated_at_ms desc, e.id desc limit ${rowsMax}`;
}

export interface FacetRow {
  readonly facet: 'kind' | 'domain' | 'tag';
  readonly value: string;
  readonly count: number;
}

/**
 * Each facet under the other filters, so that its values are what one can choose instead. The most frequent first. Spellings that a filter takes for
 * the same are one value, as it is written most often.
 */
export function countFacets(sql: Queries, catalog: Catalog, { words, kind, domain, tag }: Wanted) {
  return sql<FacetRow[]>`
    with ${entries(sql, catalog)}, found as (
      select e.id, e.kind, e.domain, e.tags,
        ${kind}::text is null or e.kind = ${kind} as by_kind,
        coalesce(${isOfDomain(sql, domain)}, false) as by_domain, ${hasTag(sql, tag)} as by_tag
      from entry e where ${hasWords(sql, words)}
    ), counted as (
      select 'kind' as facet, kind as value, count(*)::int as count from found where by_domain and by_tag group by kind
      union all
      select 'domain', mode() within group (order by domain), count(*)::int from found where by_kind and by_tag and domain is not null
      group by search_folded(domain)
      union all
      select 'tag', mode() within group (order by t.tag), count(distinct id)::int from found cross join unnest(tags) as t (tag)
      where by_kind and by_domain group by search_folded(t.tag)
    )
    select facet, value, count from (
      select *, row_number() over (partition by facet order by count desc, value) as place from counted
    ) c where place <= ${LIMITS.catalogFacetValuesMax} order by facet, place`;
}

export async function countEntries(sql: Queries, catalog: Catalog, wanted: Wanted): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    with ${entries(sql, catalog)}
    select count(*)::int as total from entry e
    where ${hasWords(sql, wanted.words)}
      and (${wanted.kind}::text is null or e.kind = ${wanted.kind})
      and ${isOfDomain(sql, wanted.domain)} and ${hasTag(sql, wanted.tag)}`;
  return row?.total ?? 0;
}

/** Its artifact is found by the id, so that no other one is looked at. */
export async function readEntry(sql: Queries, catalog: Catalog, id: CatalogEntryId): Promise<EntryRow | null> {
  const { workspaceId, viewer } = catalog;
  const [row] = await sql<EntryRow[]>`
    with holder as (
      select artifact_id from data_table where catalog_id('table', artifact_id, name) = ${id}
      union select artifact_id from dataset_version where catalog_id('dataset', artifact_id, name) = ${id}
    ), seen as (
      select a.id, a.name, a.owner_id from holder h join artifact a on a.id = h.artifact_id
      where a.workspace_id = ${workspaceId} and a.deleted_at_ms is null and ${isSeenIn(sql, viewer, workspaceId)}
    ), ${entriesOf(sql, catalog)}
    select ${columns(sql, workspaceId)} from entry e where e.id = ${id}`;
  return row ?? null;
}

/** Whether the workspace has a catalog. */
export async function hasCatalog(sql: Queries, workspaceId: WorkspaceId): Promise<boolean> {
  const rows = await sql`select 1 from catalog where workspace_id = ${workspaceId}`;
  return rows.length > 0;
}

/** Answers whether it is new. */
export async function insertCatalog(tx: Queries, workspaceId: WorkspaceId, by: UserId, nowMs: number): Promise<boolean> {
  const rows = await tx`
    insert into catalog (workspace_id, enabled_at_ms, enabled_by) values (${workspaceId}, ${nowMs}, ${by})
    on conflict (workspace_id) do nothing returning 1`;
  return rows.length > 0;
}

/** What people have written stays. Answers whether there was one. */
export async function deleteCatalog(tx: Queries, workspaceId: WorkspaceId): Promise<boolean> {
  const rows = await tx`delete from catalog where workspace_id = ${workspaceId} returning 1`;
  return rows.length > 0;
}

/** Those who write in a catalog wait for each other until the transaction ends. */
export async function lockCatalog(tx: Queries, workspaceId: WorkspaceId): Promise<void> {
  await tx`select 1 from catalog where workspace_id = ${workspaceId} for update`;
}

/** How many entries people have written or added to. */
export async function countWritten(tx: Queries, workspaceId: WorkspaceId): Promise<number> {
  const [row] = await tx<{ total: number }[]>`select count(*)::int as total from catalog_entry where workspace_id = ${workspaceId}`;
  return row?.total ?? 0;
}

export interface Written {
  readonly id: CatalogEntryId;
  readonly kind: CatalogKind;
  readonly artifactId: ArtifactId | null;
  /** The name of the table or dataset. */
  readonly thing: string | null;
  readonly connectionId: ConnectionId | null;
  /** Of a note. */
  readonly name: string | null;
  readonly domain: string | null;
  readonly tags: readonly string[];
  readonly description: string;
  readonly fieldNotes: readonly FieldNote[];
}

/** `by`: of a note its owner, of another entry who writes about it. Its time of change grows also where the clock stands still. */
export async function writeEntry(tx: Queries, workspaceId: WorkspaceId, entry: Written, by: UserId | null, nowMs: number): Promise<void> {
  await tx`
    insert into catalog_entry (
      workspace_id, id, kind, artifact_id, thing, connection_id, name, domain, tags, description, field_notes, created_by, created_at_ms,
      updated_at_ms)
    values (
      ${workspaceId}, ${entry.id}, ${entry.kind}, ${entry.artifactId}, ${entry.thing}, ${entry.connectionId}, ${entry.name}, ${entry.domain},
      ${[...entry.tags]}, ${entry.description}, ${tx.json(entry.fieldNotes as unknown as JSONValue)}, ${by}, ${nowMs}, ${nowMs})
    on conflict (workspace_id, id) do update set name = excluded.name, domain = excluded.domain, tags = excluded.tags,
      description = excluded.description, field_notes = excluded.field_notes,
      created_by = case catalog_entry.kind when 'note' then excluded.created_by else catalog_entry.created_by end,
      updated_at_ms = greatest(catalog_entry.updated_at_ms + 1, excluded.updated_at_ms)`;
}

export async function deleteEntry(tx: Queries, workspaceId: WorkspaceId, id: CatalogEntryId): Promise<void> {
  await tx`delete from catalog_entry where workspace_id = ${workspaceId} and id = ${id}`;
}

/** What was written about tables and datasets that are gone. It outlives them until the next sweep: many are dropped to be made again. */
export async function deleteOfGoneThings(sql: Queries): Promise<number> {
  const rows = await sql`
    delete from catalog_entry e where e.artifact_id is not null
      and not exists (select from data_table t where t.artifact_id = e.artifact_id and t.name = e.thing)
      and not exists (select from dataset_version v where v.artifact_id = e.artifact_id and v.name = e.thing)
    returning e.id`;
  return rows.length;
}
