-- Page views, and the inbox of comments.

-- How often pages are opened, a row for each artifact and day.

create table page_view (
  artifact_id text not null references artifact on delete cascade,
  -- Days since 1970-01-01, UTC.
  day integer not null,
  views bigint not null,
  visitors integer not null,
  -- From which visitors are counted, at most 1024 bytes; emptied when its day has long ended. See src/features/artifacts/analytics/sketch.ts.
  sketch bytea not null,
  primary key (artifact_id, day)
);
create index page_view_day on page_view (day);

-- What the digests of one day's visitors are made with. A row is deleted when its day is over.
create table page_view_salt (
  day integer primary key,
  salt bytea not null
);

-- For the inbox: comments by whom they mention, by who is to see to them, and the newest of each artifact.
create index comment_mentions on comment using gin ((data -> 'mentions')) where data -> 'mentions' <> '[]'::jsonb;
create index comment_assignee on comment ((data ->> 'assigneeUserId'), created_at_ms) where data ->> 'assigneeUserId' is not null;
create index comment_newest on comment (artifact_id, created_at_ms);

-- The first comment of the thread that a comment belongs to. Threads are at most ten deep. Each step is one look at the primary key: joined, the
-- planner would read all comments for it.
create function comment_root(of_artifact text, of_comment text) returns text language sql stable as $$
  with recursive up (id, parent_id, depth) as (
    select c.id, c.data ->> 'parentId', 0 from comment c where c.artifact_id = of_artifact and c.id = of_comment
    union all
    select c.id, c.parent_id, up.depth + 1
    from up cross join lateral (
      select p.id, p.data ->> 'parentId' as parent_id from comment p where p.artifact_id = of_artifact and p.id = up.parent_id limit 1
    ) c where up.depth < 100
  )
  select id from up order by depth desc limit 1
$$;

-- Whether a comment, or one above it, is resolved.
create function comment_resolved(of_artifact text, of_comment text) returns boolean language sql stable as $$
  with recursive up (parent_id, resolved, depth) as (
    select c.data ->> 'parentId', c.data ->> 'resolvedAtMs' is not null, 0
    from comment c where c.artifact_id = of_artifact and c.id = of_comment
    union all
    select c.parent_id, c.resolved, up.depth + 1
    from up cross join lateral (
      select p.data ->> 'parentId' as parent_id, p.data ->> 'resolvedAtMs' is not null as resolved
      from comment p where p.artifact_id = of_artifact and p.id = up.parent_id limit 1
    ) c where up.depth < 100
  )
  select coalesce(bool_or(resolved), false) from up
$$;
