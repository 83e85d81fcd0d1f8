/** The SQL of lists of artifacts: which of them a caller sees, in the order of a page. */
import { administers, type Grant, type Principal } from '../../../../actors/access/access.ts';
import type { FolderId, UserId, WorkspaceId } from '../../../../protocol/core/ids.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Statement } from '../../../storage/sql.ts';
import type { Queries } from '../../deps.ts';
import { type Accounts, accountsOf } from '../../people/accounts/rules.ts';
import { type Order, type Ordered, pageInOrder } from './order.ts';
import { type ArtifactRow, artifactColumns } from './rows.ts';

/** Who looks at a list, as `roleOf` in actors/access/access.ts knows them. */
export interface Viewer {
  readonly accounts: Accounts;
  /** Workspaces whose every artifact the caller sees. */
  readonly runs: readonly WorkspaceId[];
  /** Workspaces in which the caller sees what is open to members. */
  readonly belongsTo: readonly WorkspaceId[];
  /** The workspace of an agent, which sees what the workspace owns. */
  readonly actsFor: WorkspaceId | null;
  /** What is shared with the caller from outside: artifacts, folders and files, each with the workspace that gives it. */
  readonly granted: readonly Given[];
}

type Given = Pick<Grant, 'resourceId' | 'workspaceId' | 'capability'>;

export function viewerOf(principal: Principal): Viewer {
  if (principal.kind === 'agent')
    return { accounts: [], runs: [], belongsTo: [principal.workspaceId], actsFor: principal.workspaceId, granted: [] };
  const seats = principal.kind === 'user' ? [...principal.person.workspaces] : [];
  return {
    accounts: accountsOf(principal),
    runs: seats.flatMap(([id, role]) => (administers(role) ? [id] : [])),
    belongsTo: seats.flatMap(([id, role]) => (administers(role) ? [] : [id])),
    actsFor: null,
    granted: principal.kind === 'user' ? [...principal.person.grants.byResource.values()].flat() : [],
  };
}

interface Narrowed {
  readonly folderId?: FolderId;
  /** Only those whose name or slug contains this text. */
  readonly containing?: string;
}

/** Which artifacts are listed. */
export type Listed = Narrowed &
  /** The caller's own and those that are shared with the caller by name. */
  (
    | { readonly of: 'caller' }
    /** Those of others that are shared with the caller by name. */
    | { readonly of: 'shared' }
    /** Those with the caller's mark, as far as the caller still sees them. */
    | { readonly of: 'favorites'; readonly workspaceId?: WorkspaceId }
    | { readonly of: 'workspace'; readonly workspaceId: WorkspaceId }
  );

/** Own artifacts and those shared by name or from outside. */
function near(sql: Queries, viewer: Viewer): Statement {
  return sql`select id from artifact where owner_id = any(${viewer.accounts}) union all ${sharedIds(sql, viewer)}`;
}

/** Ids of the artifacts that are shared with the caller by name or from outside. */
export function sharedIds(sql: Queries, viewer: Viewer): Statement {
  const { accounts, granted } = viewer;
  return sql`
    select artifact_id from collaborator where user_id = any(${accounts})
    ${granted.length === 0 ? sql`` : sql`union all ${grantedIds(sql, viewer)}`}`;
}

/**
 * The artifacts that grants reach, as `rightsOfPerson` in actors/access/access.ts knows them: those that are shared themselves, and those in
 * shared folders and below these, except below a folder that is private by its own setting.
 */
function grantedIds(sql: Queries, { granted }: Viewer): Statement {
  const resources = granted.map(({ resourceId }) => resourceId);
  const workspaces = granted.map(({ workspaceId }) => workspaceId);
  return sql`
    (with recursive given (id, workspace_id) as (select * from unnest(${resources}::text[], ${workspaces}::text[])),
    below (id) as (
      select f.id from given join folder f on f.id = given.id and f.workspace_id = given.workspace_id
      union select f.id from below join folder f on f.parent_id = below.id where f.visibility <> 'private'
    )
    select g.id from artifact g join given on given.id = g.id and given.workspace_id = g.workspace_id
    union select g.id from below join artifact g on g.folder_id = below.id)`;
}

/** Whether the caller sees artifact `a` without being its owner or collaborator. `isNarrowed`: whether its folder comes to be private. */
function isOpen(sql: Queries, { runs, belongsTo, actsFor }: Viewer, isNarrowed: Statement): Statement {
  return sql`(
    a.visibility = 'public'
    or a.workspace_id = any(${[...runs]})
    or (a.owner_id is null and a.workspace_id = ${actsFor})
    or (a.workspace_id = any(${[...belongsTo]}) and (
      a.visibility = 'password' or (a.visibility = 'workspace' and not ${isNarrowed}))))`;
}

/** Whether the folder of artifact `a` comes to be private. The private folders of the workspace are found once, however many artifacts are looked at. */
function isNarrowedIn(sql: Queries, workspaceId: WorkspaceId): Statement {
  return sql`(
    a.folder_id is not null and a.folder_id in (
      with recursive down (id, visibility) as (
        select id, visibility from folder where workspace_id = ${workspaceId} and parent_id is null
        union all
        select f.id, case f.visibility when 'inherit' then down.visibility else f.visibility end from down join folder f on f.parent_id = down.id
      )
      select id from down where visibility = 'private'))`;
}

/** Whether the caller sees artifact `a` of this one workspace. */
export function isSeenIn(sql: Queries, viewer: Viewer, workspaceId: WorkspaceId): Statement {
  if (viewer.runs.includes(workspaceId)) return sql`true`;
  return sql`(
    ${isOpen(sql, viewer, isNarrowedIn(sql, workspaceId))}
    or a.owner_id = any(${viewer.accounts})
    ${viewer.granted.length === 0 ? sql`` : sql`or a.id in (${grantedIds(sql, viewer)})`}
    or exists (select from collaborator c where c.artifact_id = a.id and c.user_id = any(${viewer.accounts})))`;
}

/** Whether the caller sees artifact `a`, wherever it is. */
export function isSeen(sql: Queries, viewer: Viewer): Statement {
  const isNarrowed = sql`(a.folder_id is not null and folder_visibility(a.folder_id) = 'private')`;
  return sql`(${isOpen(sql, viewer, isNarrowed)} or a.id in (${near(sql, viewer)}))`;
}

/**
 * Whether artifact `a` is the caller's own, shared with them or in a workspace of theirs, so that they know of it. A public one of strangers is
 * open to them as well. To be combined with `isSeen`.
 */
export function isAround(sql: Queries, viewer: Viewer): Statement {
  return sql`(a.workspace_id = any(${[...viewer.runs, ...viewer.belongsTo]}) or a.id in (${near(sql, viewer)}))`;
}

/** Ids of these artifacts, without the trash of workspaces, for where they are few among all: each part of it is read from an index. */
export function aroundIds(sql: Queries, viewer: Viewer): Statement {
  return sql`select id from artifact where workspace_id = any(${[...viewer.runs, ...viewer.belongsTo]}) and deleted_at_ms is null union all ${near(sql, viewer)}`;
}

/** Whether the caller may edit artifact `a`, as `rightsOf` in actors/access/access.ts decides it. */
export function isEditable(sql: Queries, viewer: Viewer): Statement {
  const { accounts, runs, actsFor } = viewer;
  const edits = { ...viewer, granted: viewer.granted.filter(({ capability }) => capability === 'edit') };
  const ofAgent = sql`(a.workspace_id = ${actsFor} and (a.owner_id is null or (a.visibility <> 'private' and not (
    a.visibility = 'workspace' and a.folder_id is not null and folder_visibility(a.folder_id) = 'private'))))`;
  return sql`(
    a.owner_id = any(${accounts})
    or (a.owner_id is null and a.workspace_id = any(${[...runs]}))
    or exists (select from collaborator c where c.artifact_id = a.id and c.user_id = any(${accounts}) and c.role = 'editor')
    or ${ofAgent}
    ${edits.granted.length === 0 ? sql`` : sql`or a.id in (${grantedIds(sql, edits)})`})`;
}

function isListed(sql: Queries, viewer: Viewer, listed: Listed): Statement {
  switch (listed.of) {
    case 'caller':
      return sql`a.id in (${near(sql, viewer)})`;
    case 'shared':
      return sql`
        a.id in (select artifact_id from collaborator where user_id = any(${viewer.accounts}))
        and (a.owner_id is null or a.owner_id <> all(${viewer.accounts}))`;
    case 'favorites': {
      const ofWorkspace = listed.workspaceId === undefined ? sql`` : sql`and a.workspace_id = ${listed.workspaceId}`;
      return sql`
        a.id in (select artifact_id from favorite where user_id = any(${viewer.accounts})) ${ofWorkspace}
        and ${isSeen(sql, viewer)}`;
    }
    case 'workspace':
      return sql`a.workspace_id = ${listed.workspaceId} and ${isSeenIn(sql, viewer, listed.workspaceId)}`;
    default:
      return listed satisfies never;
  }
}

function isInFolder(sql: Queries, { folderId }: Narrowed): Statement {
  return folderId === undefined ? sql`` : sql`and a.folder_id = ${folderId}`;
}

/** With the text in its name or slug. */
function isNamed(sql: Queries, { containing }: Narrowed): Statement {
  if (containing === undefined) return sql``;
  const pattern = `%${containing.replace(/[\\%_]/g, '\\$&')}%`;
  return sql`and (a.name ilike ${pattern} or a.slug ilike ${pattern})`;
}

type ListedRow = ArtifactRow & Ordered;

export function listArtifacts(sql: Queries, viewer: Viewer, listed: Listed, order: Order, rowsMax: number): Promise<ListedRow[]> {
  // What is looked for by its name is rarely among the first ones by each way.
  const isByWays = listed.of === 'workspace' && !viewer.runs.includes(listed.workspaceId) && listed.containing === undefined;
  return isByWays && order.sort === '-updated_at'
    ? listByWays(sql, viewer, listed, order.after, rowsMax)
    : listInOrder(sql, viewer, listed, order, rowsMax);
}

async function listInOrder(sql: Queries, viewer: Viewer, listed: Listed, order: Order, rowsMax: number): Promise<ListedRow[]> {
  return sql<ListedRow[]>`
    select ${artifactColumns(sql, viewer.accounts)}, name_order(a.name) as name_order
    from artifact a left join artifact_version lv on lv.id = a.live_version_id
    where a.deleted_at_ms is null ${isInFolder(sql, listed)} ${isNamed(sql, listed)} and ${isListed(sql, viewer, listed)}
      ${pageInOrder(sql, order, rowsMax)}`;
}

/** A page of what a caller sees of a workspace that they do not run, last changed first. */
async function listByWays(
  sql: Queries,
  viewer: Viewer,
  listed: Extract<Listed, { of: 'workspace' }>,
  after: PageKey,
  rowsMax: number,
): Promise<ListedRow[]> {
  const onPage = sql`
    a.deleted_at_ms is null ${isInFolder(sql, listed)}
    and a.updated_at_ms <= ${after.number} and (a.updated_at_ms < ${after.number} or a.id > ${after.id})`;
  const first = sql`order by a.updated_at_ms desc, a.id limit ${rowsMax}`;
  return sql<ListedRow[]>`
    select ${artifactColumns(sql, viewer.accounts)}, name_order(a.name) as name_order
    from artifact a left join artifact_version lv on lv.id = a.live_version_id
    where a.id in (${firstSeenIn(sql, viewer, listed.workspaceId, onPage, first)}) ${first}`;
}

/**
 * What can be on a page of a workspace that the caller does not run: the first artifacts by each way to see one. Each way is read in the order
 * of an index of its own, so that a page costs the same however much of the workspace is hidden from the caller.
 */
function firstSeenIn(sql: Queries, viewer: Viewer, workspaceId: WorkspaceId, onPage: Statement, first: Statement): Statement {
  const here = sql`a.workspace_id = ${workspaceId} and ${onPage}`;
  const owned =
    viewer.actsFor === workspaceId ? sql`union (select a.id from artifact a where a.owner_id is null and ${here} ${first})` : sql``;
  const granted =
    viewer.granted.length === 0
      ? sql``
      : sql`union (select a.id from artifact a where a.id in (${grantedIds(sql, viewer)}) and ${here} ${first})`;
  return sql`
    (select a.id from artifact a where a.visibility <> 'private' and ${isOpen(sql, viewer, isNarrowedIn(sql, workspaceId))} and ${here} ${first})
    union select own.id from unnest(${viewer.accounts as UserId[]}::text[]) as u (id)
      cross join lateral (select a.id from artifact a where a.owner_id = u.id and ${here} ${first}) as own
    union (select a.id from collaborator c join artifact a on a.id = c.artifact_id where c.user_id = any(${viewer.accounts}) and ${here} ${first})
    ${owned} ${granted}`;
}

export async function countArtifacts(sql: Queries, viewer: Viewer, listed: Listed): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from artifact a
    where a.deleted_at_ms is null and ${isListed(sql, viewer, listed)} ${isInFolder(sql, listed)} ${isNamed(sql, listed)}`;
  return row?.total ?? 0;
}

/** How many artifacts the caller sees in each folder of a workspace, or of these accounts. */
export async function countInFolders(
  sql: Queries,
  viewer: Viewer,
  workspaceId: WorkspaceId | null,
): Promise<ReadonlyMap<FolderId, number>> {
  const isMeant =
    workspaceId === null
      ? sql`a.owner_id = any(${viewer.accounts})`
      : sql`a.workspace_id = ${workspaceId} and ${isSeenIn(sql, viewer, workspaceId)}`;
  const rows = await sql<{ folder_id: FolderId; total: number }[]>`
    select a.folder_id, count(*)::int as total from artifact a
    where a.deleted_at_ms is null and a.folder_id is not null and ${isMeant}
    group by a.folder_id`;
  return new Map(rows.map(({ folder_id, total }) => [folder_id, total]));
}
