/** The SQL of the inbox: comments of several artifacts, from their stored rows. What a comment says is committed before anybody reads it there. */
import type { ArtifactId, UserId } from '../../../../protocol/core/ids.ts';
import type { PublicComment } from '../../../../protocol/data/comments.ts';
import type { INBOX_FILTERS } from '../../../../protocol/data/inbox.ts';
import type { PageKey } from '../../../edge/paging.ts';
import type { Statement } from '../../../storage/sql.ts';
import { isSeen, type Viewer } from '../../artifacts/artifacts/lists.ts';
import type { Queries } from '../../deps.ts';

export interface InboxFilter {
  readonly filter: (typeof INBOX_FILTERS)[number];
  /** Null where both are meant. */
  readonly resolved?: boolean | null | undefined;
  readonly unread: boolean;
}

export interface InboxRow {
  readonly artifact_id: ArtifactId;
  readonly slug: string;
  readonly artifact_name: string;
  readonly id: string;
  readonly thread_id: string;
  readonly thread_author_id: string | null;
  /** Its beginning, long enough for an excerpt. */
  readonly beginning: string;
  readonly author_id: string | null;
  readonly author_name: string | null;
  readonly author_type: PublicComment['authorType'];
  readonly created_at_ms: number;
  readonly is_resolved: boolean;
  readonly due_at_ms: number | null;
  readonly assignee_user_id: string | null;
  readonly is_mentioned: boolean;
  readonly is_assigned: boolean;
  readonly is_owner: boolean;
  readonly is_collaborator: boolean;
  readonly is_unread: boolean;
}

type Accounts = Viewer['accounts'];

/** What is compared with the id in a cursor: comments of an imported copy have the ids and times of those that it was made from. */
export function keyOf({ created_at_ms, id, artifact_id }: Pick<InboxRow, 'created_at_ms' | 'id' | 'artifact_id'>): PageKey {
  return { number: created_at_ms, id: `${id}${artifact_id}` };
}

/** Whether the caller wrote comment `c`, by whichever linked account. */
function isOwn(sql: Queries, accounts: Accounts): Statement {
  return sql`coalesce(c.data ->> 'authorId' = any(${accounts as UserId[]}::text[]), false)`;
}

function isMention(sql: Queries, accounts: Accounts): Statement {
  // The first condition is that of the index.
  return sql`(c.data -> 'mentions' <> '[]'::jsonb and c.data -> 'mentions' ?| ${accounts as UserId[]}::text[] and not ${isOwn(sql, accounts)})`;
}

function isAssignment(sql: Queries, accounts: Accounts): Statement {
  return sql`(c.data ->> 'assigneeUserId' is not null and c.data ->> 'assigneeUserId' = any(${accounts as UserId[]}::text[]))`;
}

/** Whether comment `c`, or one above it, is resolved. Most replies are one below the first: for these no function is called. */
function isResolved(sql: Queries): Statement {
  return sql`(
    c.data ->> 'resolvedAtMs' is not null
    or (c.data ->> 'parentId' is not null and coalesce((
      select p.data ->> 'resolvedAtMs' is not null or (p.data ->> 'parentId' is not null and comment_resolved(p.artifact_id, p.id))
      from comment p where p.artifact_id = c.artifact_id and p.id = c.data ->> 'parentId'), false)))`;
}

/** The first comment of the thread of `c`, in the same way. */
function threadOf(sql: Queries): Statement {
  return sql`
    case when c.data ->> 'parentId' is null then c.id else coalesce((
      select case when p.data ->> 'parentId' is null then p.id else comment_root(p.artifact_id, p.id) end
      from comment p where p.artifact_id = c.artifact_id and p.id = c.data ->> 'parentId'), c.id) end`;
}

/** How far the person has read the artifact `id`, by whichever linked account. */
function markOf(sql: Queries, accounts: Accounts, id: Statement): Statement {
  return sql`
    coalesce((select max(r.seq) from comment_read r where r.artifact_id = ${id} and r.user_id = any(${accounts as UserId[]}::text[])), 0)`;
}

/** Whether somebody else has said comment `c` after that mark. */
function isUnread(sql: Queries, accounts: Accounts, mark: Statement): Statement {
  return sql`(c.seq > ${mark} and (c.data ->> 'saidSeq')::bigint > ${mark} and not ${isOwn(sql, accounts)})`;
}

/** What holds for each comment `c` of artifact `a` on the page, whatever the reason. Comments that are switched off are nobody's news. */
function isMeant(sql: Queries, { accounts }: Viewer, { resolved = null, unread }: InboxFilter, after: PageKey, mark: Statement): Statement {
  return sql`
    a.deleted_at_ms is null
    and c.created_at_ms <= ${after.number}
    and (c.created_at_ms < ${after.number} or (c.id || a.id collate "C") > ${after.id})
    and not exists (select from comment_config k where k.artifact_id = a.id and k.config ->> 'enabled' = 'false')
    and (not ${unread}::boolean or ${isUnread(sql, accounts, mark)})
    and (${resolved}::boolean is null or ${isResolved(sql)} = ${resolved}::boolean)`;
}

function newest(sql: Queries, rowsMax: number): Statement {
  return sql`order by c.created_at_ms desc, (c.id || a.id collate "C") limit ${rowsMax}`;
}

/** The newest comments by each reason, of which the newest of all are some. Each way reads an index of its own. */
function picked(sql: Queries, viewer: Viewer, filter: InboxFilter, after: PageKey, rowsMax: number): Statement {
  const { accounts } = viewer;
  const addressed = (reason: Statement) => sql`
    (select a.id as artifact_id, c.id as comment_id, c.created_at_ms from comment c join artifact a on a.id = c.artifact_id
    where ${reason} and ${isMeant(sql, viewer, filter, after, markOf(sql, accounts, sql`a.id`))} and ${isSeen(sql, viewer)} ${newest(sql, rowsMax)})`;
  const mentions = addressed(isMention(sql, accounts));
  const assigned = addressed(isAssignment(sql, accounts));
  switch (filter.filter) {
    case 'mentions':
      return mentions;
    case 'assigned':
      return assigned;
    case 'all':
      return sql`
        ${mentions} union ${assigned} union
        (select n.artifact_id, n.comment_id, n.created_at_ms
        from (
          select o.id, ${markOf(sql, accounts, sql`o.id`)} as mark from (
            select id from artifact where owner_id = any(${accounts as UserId[]}::text[])
            union select artifact_id from collaborator where user_id = any(${accounts as UserId[]}::text[])) o
        ) near cross join lateral (
          select a.id as artifact_id, c.id as comment_id, c.created_at_ms from artifact a join comment c on c.artifact_id = a.id
          where a.id = near.id and not ${isOwn(sql, accounts)} and ${isMeant(sql, viewer, filter, after, sql`near.mark`)} ${newest(sql, rowsMax)}
        ) n
        order by n.created_at_ms desc, (n.comment_id || n.artifact_id collate "C") limit ${rowsMax})`;
    default:
      return filter.filter satisfies never;
  }
}

/** Newest first. What is shown of a comment is read when the page is picked, so that nothing is worked out for others. */
export function listInbox(sql: Queries, viewer: Viewer, filter: InboxFilter, after: PageKey, rowsMax: number, charsMax: number) {
  const { accounts } = viewer;
  return sql<InboxRow[]>`
    with picked as materialized (
      select p.artifact_id, p.comment_id, p.created_at_ms from (${picked(sql, viewer, filter, after, rowsMax)}) p
      order by p.created_at_ms desc, (p.comment_id || p.artifact_id collate "C") limit ${rowsMax})
    select a.id as artifact_id, a.slug, a.name as artifact_name, c.id, c.thread_id, c.created_at_ms, c.is_resolved,
      (select t.data ->> 'authorId' from comment t where t.artifact_id = a.id and t.id = c.thread_id) as thread_author_id,
      left(c.data ->> 'content', ${charsMax}) as beginning, c.data ->> 'authorId' as author_id, c.data ->> 'authorName' as author_name,
      c.data ->> 'authorType' as author_type, (c.data ->> 'dueAtMs')::bigint as due_at_ms, c.data ->> 'assigneeUserId' as assignee_user_id,
      ${isMention(sql, accounts)} as is_mentioned, ${isAssignment(sql, accounts)} as is_assigned,
      a.owner_id is not null and a.owner_id = any(${accounts as UserId[]}::text[]) as is_owner,
      exists (select from collaborator m where m.artifact_id = a.id and m.user_id = any(${accounts as UserId[]}::text[])) as is_collaborator,
      ${isUnread(sql, accounts, markOf(sql, accounts, sql`a.id`))} as is_unread
    from picked p join artifact a on a.id = p.artifact_id cross join lateral (
      select c.artifact_id, c.id, c.data, c.seq, c.created_at_ms, ${threadOf(sql)} as thread_id, ${isResolved(sql)} as is_resolved
      from comment c where c.artifact_id = p.artifact_id and c.id = p.comment_id limit 1) c
    ${newest(sql, rowsMax)}`;
}

/** How many there are, counted up to `rowsMax`. */
export async function countInbox(sql: Queries, viewer: Viewer, filter: InboxFilter, first: PageKey, rowsMax: number): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from (
      select p.artifact_id from (${picked(sql, viewer, filter, first, rowsMax)}) p limit ${rowsMax}) counted`;
  return row?.total ?? 0;
}
