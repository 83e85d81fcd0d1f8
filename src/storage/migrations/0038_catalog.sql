-- The catalog of a workspace. Entries of tables, datasets and connections are read from these themselves; here is what people write.

-- A workspace that has one.
create table catalog (
  workspace_id text primary key references workspace on delete cascade,
  enabled_at_ms bigint not null,
  enabled_by text references account on delete set null
);

create table catalog_entry (
  workspace_id text not null references workspace on delete cascade,
  -- Of a derived entry: made of what it describes (src/features/library/catalog/rows.ts).
  id text not null,
  kind text not null check (kind in ('table', 'dataset', 'connection', 'note')),
  -- What a derived entry describes: a table or dataset of the artifact, by `thing`, or the connection.
  artifact_id text references artifact on delete cascade,
  thing text,
  connection_id text references connection on delete cascade,
  -- Of a note; a derived entry has the name of what it describes.
  name text,
  domain text,
  tags text[] not null,
  -- Markdown
  description text not null,
  -- {name: description}
  field_notes jsonb not null,
  created_by text references account on delete set null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  primary key (workspace_id, id),
  check ((kind = 'note') = (name is not null)),
  check ((kind in ('table', 'dataset')) = (artifact_id is not null and thing is not null)),
  check ((kind = 'connection') = (connection_id is not null))
);
create index catalog_entry_artifact on catalog_entry (artifact_id) where artifact_id is not null;
create index catalog_entry_connection on catalog_entry (connection_id) where connection_id is not null;

-- The id of a derived entry: the same for as long as the thing has its name.
create function catalog_id(kind text, holder text, thing text) returns text language sql immutable as $$
  select 'cat_' || left(encode(sha256(convert_to(kind || ' ' || holder || ' ' || thing, 'UTF8')), 'hex'), 24)
$$;
