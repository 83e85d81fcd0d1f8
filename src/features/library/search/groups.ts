/**
 * What a caller may open in each group but that of artifacts, by name: a part of what lists and single reads show them, decided in the same
 * query. Rows that may fit are picked here; which of them do, and how well, is worked out in names.ts.
 */
import type { Scope } from '../../../../protocol/core/endpoint.ts';
import type { UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { SearchGroup, SearchHit } from '../../../../protocol/library/search.ts';
import type { Statement } from '../../../storage/sql.ts';
import { aroundIds, isEditable } from '../../artifacts/artifacts/lists.ts';
import type { Queries } from '../../deps.ts';
import { mayOpen, type Reader } from './reader.ts';
import type { Term } from './terms.ts';

export interface NamedRow {
  readonly group: NamedGroup;
  readonly id: string;
  readonly type: SearchHit['type'];
  readonly title: string;
  readonly subtitle: string | null;
  /** Below the address of the service; null where no screen shows it. */
  readonly path: string | null;
  readonly updated_at_ms: number | null;
}

export type NamedGroup = Exclude<SearchGroup, 'artifacts'>;

export interface Asking {
  readonly reader: Reader;
  /** What an agent's token allows; null for people. */
  readonly scopes: readonly Scope[] | null;
  /** Only what is in this workspace. */
  readonly workspaceId: WorkspaceId | undefined;
}

/** More that may fit are cut off by age. */
const ROWS_MAX = 500;

/**
 * Rows of these groups that may fit the terms, of each the last changed first; without terms those that have changed last. In one statement: most groups
 * have few rows or none, and to ask for each by itself takes longer than to find them.
 */
export async function findNamed(
  sql: Queries,
  groups: readonly NamedGroup[],
  asking: Asking,
  terms: readonly Term[],
  rowsMax: number,
): Promise<NamedRow[]> {
  if (groups.length === 0) return [];
  const wanted: Wanted = { groups, terms, rowsMax: terms.length === 0 ? rowsMax : ROWS_MAX };
  const all = [
    rowsThatMayFit(sql, 'folders', folders(sql, asking), wanted),
    rowsThatMayFit(sql, 'datasets', datasets(sql, asking), wanted),
    rowsThatMayFit(sql, 'connectors', connectors(sql, asking), wanted),
    rowsThatMayFit(sql, 'people', people(sql, asking), wanted),
    rowsThatMayFit(sql, 'schedules', schedules(sql, asking), wanted),
    rowsThatMayFit(sql, 'crew', crew(sql, asking), wanted),
    rowsThatMayFit(sql, 'alerts', alerts(sql, asking), wanted),
  ].reduce((sum, some) => sql`${sum} union all ${some}`);
  return sql<NamedRow[]>`select * from (${all}) found`;
}

interface Wanted {
  readonly groups: readonly NamedGroup[];
  readonly terms: readonly Term[];
  /** Of each group. */
  readonly rowsMax: number;
}

/** `rows`: all of the group, with columns id, type, title, subtitle, path and updated_at_ms. */
function rowsThatMayFit(sql: Queries, group: NamedGroup, rows: Statement, { groups, terms, rowsMax }: Wanted): Statement {
  return sql`
    select * from (
      select ${group}::text as "group", s.id, s.type, s.title, s.subtitle, s.path, s.updated_at_ms
      from (${groups.includes(group) ? rows : NOTHING(sql)}) s
      where ${terms.length === 0 ? sql`true` : mayFit(sql, terms)} order by s.updated_at_ms desc nulls last, s.id limit ${rowsMax}) r`;
}

/** One of the terms is in it, or something like it. */
function mayFit(sql: Queries, terms: readonly Term[]): Statement {
  const words = terms.flatMap(({ word, stems }) => [word, ...stems]);
  return sql`
    exists (select from search_folded(s.title || ' ' || coalesce(s.subtitle, '')) f (text), unnest(${words}::text[]) w (word)
      where strpos(f.text, w.word) > 0 or word_similarity(w.word, f.text) > 0.25)`;
}

/** The workspaces that count: those that the caller belongs to, or the one that is asked for. */
function workspacesOf({ reader: { viewer, only }, workspaceId }: Asking): WorkspaceId[] {
  if (only !== null) return [];
  const all = [...viewer.runs, ...viewer.belongsTo];
  return workspaceId === undefined ? all : all.filter((id) => id === workspaceId);
}

/** Artifacts `a` whose parts are found: what is public is not enough, because somebody else's is nothing that the caller works with. */
function isMeant(sql: Queries, { reader, workspaceId }: Asking): Statement {
  return sql`a.id in (${aroundIds(sql, reader.viewer)}) and ${mayOpen(sql, reader, { workspaceId })}`;
}

const NOTHING = (sql: Queries) => sql`
  select ''::text as id, ''::text as type, ''::text as title, null::text as subtitle, null::text as path, null::bigint as updated_at_ms where false`;

function folders(sql: Queries, asking: Asking): Statement {
  const { viewer, only } = asking.reader;
  if (only !== null) return NOTHING(sql);
  const inWorkspaces = workspacesOf(asking);
  const runs = viewer.runs.filter((id) => inWorkspaces.includes(id));
  const accounts = asking.workspaceId === undefined ? (viewer.accounts as UserId[]) : [];
  const granted = viewer.granted.filter(({ workspaceId }) => asking.workspaceId === undefined || workspaceId === asking.workspaceId);
  return sql`
    with recursive given (id, workspace_id) as (
      select * from unnest(${granted.map(({ resourceId }) => resourceId)}::text[], ${granted.map(({ workspaceId }) => workspaceId)}::text[])
    ), below (id) as (
      select f.id from given join folder f on f.id = given.id and f.workspace_id = given.workspace_id
      union select f.id from below join folder f on f.parent_id = below.id where f.visibility <> 'private'
    )
    select f.id, 'folder' as type, f.name as title, coalesce(nullif(f.description, ''), m.name) as subtitle,
      case when f.workspace_id is null then '/my/folders/' || f.id else '/w/' || m.slug || '/folders/' || f.id end as path, f.updated_at_ms
    from folder f left join workspace w on w.id = f.workspace_id
      -- What the workspace is called is told to its members alone.
      left join workspace m on m.id = f.workspace_id and m.id = any(${inWorkspaces}::text[])
    where (f.workspace_id is null and f.owner_id = any(${accounts}::text[]))
      or (w.deleted_at_ms is null and (
        f.workspace_id = any(${runs}::text[]) or f.id in (select id from below)
        or (f.workspace_id = any(${inWorkspaces}::text[])
          and (f.created_by = any(${viewer.accounts as UserId[]}::text[]) or folder_visibility(f.id) <> 'private'))))`;
}

function datasets(sql: Queries, asking: Asking): Statement {
  if (asking.scopes !== null && !asking.scopes.includes('data:read')) return NOTHING(sql);
  return sql`
    select a.id || '/' || t.name as id, 'table' as type, t.name as title, a.name as subtitle, '/p/' || a.id as path, t.updated_at_ms
    from artifact a join data_table t on t.artifact_id = a.id where ${isMeant(sql, asking)}
    union all
    select a.id || '/' || d.name, 'dataset', d.name, a.name, '/p/' || a.id || '/datasets', d.created_at_ms
    from artifact a join lateral (
      select distinct on (v.name) v.name, v.created_at_ms from dataset_version v where v.artifact_id = a.id order by v.name, v.version desc
    ) d on true where ${isMeant(sql, asking)}`;
}

/** For people: agents have no connections. */
function connectors(sql: Queries, asking: Asking): Statement {
  if (asking.scopes !== null) return NOTHING(sql);
  return sql`
    select c.id, 'connection' as type, c.name as title, c.type || ', ' || w.name as subtitle,
      '/w/' || w.slug || '/connections' as path, c.updated_at_ms
    from connection c join workspace w on w.id = c.workspace_id
    where c.workspace_id = any(${workspacesOf(asking)}::text[]) and w.deleted_at_ms is null`;
}

/** Members of the caller's workspaces, each once. */
function people(sql: Queries, asking: Asking): Statement {
  return sql`
    select distinct on (p.id) p.id, 'person' as type, coalesce(nullif(p.name, ''), p.username, p.email, p.id) as title, p.email as subtitle,
      '/w/' || w.slug || '/people' as path, m.joined_at_ms as updated_at_ms
    from workspace_member m join account p on p.id = m.user_id join workspace w on w.id = m.workspace_id
    where m.workspace_id = any(${workspacesOf(asking)}::text[]) and w.deleted_at_ms is null
    order by p.id, m.joined_at_ms desc`;
}

/** Jobs of artifacts that the caller may edit. */
function schedules(sql: Queries, asking: Asking): Statement {
  return sql`
    select j.id, 'job' as type, j.title, a.name as subtitle, '/p/' || a.id || '/jobs' as path, j.updated_at_ms
    from job j join artifact a on a.id = j.artifact_id where ${isMeant(sql, asking)} and ${isEditable(sql, asking.reader.viewer)}`;
}

/** Agents whose token counts, for those who run the workspace. */
function crew(sql: Queries, asking: Asking): Statement {
  const runs = workspacesOf(asking).filter((id) => asking.reader.viewer.runs.includes(id));
  return sql`
    select g.id, 'agent' as type, g.name as title, w.name as subtitle, '/w/' || w.slug || '/agents' as path, g.created_at_ms as updated_at_ms
    from service_principal g join workspace w on w.id = g.workspace_id
    where g.workspace_id = any(${runs}::text[]) and w.deleted_at_ms is null
      and exists (select from agent_token t where t.principal_id = g.id and t.revoked_at_ms is null)`;
}

/** Rules of artifacts that the caller may edit, and the caller's own watches. */
function alerts(sql: Queries, asking: Asking): Statement {
  const { viewer } = asking.reader;
  if (asking.scopes !== null && !asking.scopes.includes('artifacts:publish')) return NOTHING(sql);
  return sql`
    select r.id, 'alert' as type, r.name as title, a.name as subtitle, '/p/' || a.id || '/alerts' as path, r.updated_at_ms
    from alert_rule r join artifact a on a.id = r.artifact_id where ${isMeant(sql, asking)} and ${isEditable(sql, viewer)}
    union all
    select h.id, 'watch', h.table_name || coalesce(' ' || h.column_name, ''), a.name, '/p/' || a.id || '/alerts', h.updated_at_ms
    from metric_watch h join artifact a on a.id = h.artifact_id
    where h.user_id = any(${viewer.accounts as UserId[]}::text[]) and ${isMeant(sql, asking)}`;
}
