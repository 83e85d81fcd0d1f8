-- The index of what published pages say, and the queue of artifacts to be indexed.

create extension if not exists pg_trgm;

create table search_document (
  artifact_id text primary key references artifact on delete cascade,
  -- The version whose text it is; null where none is live.
  version_id text,
  -- What the artifact is called. Apart from `words`, because the first letters of a word are in very many of them.
  names tsvector not null,
  -- Plain words and their stems: A what it is called, B titles and headings, C what is said often, without a weight the rest.
  words tsvector not null,
  -- The text in pieces: [{path, heading, text}]
  passages jsonb not null,
  indexed_at_ms bigint not null
);
create index search_document_names on search_document using gin (names);
create index search_document_words on search_document using gin (words);

-- Every word of letters that a page says: what a misspelt word may have meant. It is never shown to anybody.
create table search_word (
  word text primary key collate "C"
);
-- Of an expression: for a word that is looked for as it is, the planner would take this index and not the key.
create index search_word_similar on search_word using gin (lower(word) gin_trgm_ops);

create table search_turn (
  artifact_id text primary key references artifact on delete cascade,
  -- Rises with each change: who has indexed an older state leaves the turn to the next.
  number bigint not null default 1,
  attempts integer not null default 0,
  due_at_ms bigint not null default 0,
  -- By the clock of the database.
  lease_ends_at timestamptz
);
create index search_turn_due on search_turn (due_at_ms);

-- In the transaction of the change, so that no crash can lose it.
create function queue_for_search() returns trigger language plpgsql as $$
begin
  insert into search_turn (artifact_id) values (new.id)
  on conflict (artifact_id) do update set number = search_turn.number + 1, attempts = 0, due_at_ms = 0;
  return null;
end
$$;
create trigger artifact_made_for_search after insert on artifact for each row execute function queue_for_search();
-- Commits of live data change other columns, and do not come here.
create trigger artifact_changed_for_search after update of name, slug, social_title, social_description, live_version_id on artifact for each row
  when ((old.name, old.slug, old.social_title, old.social_description, old.live_version_id)
    is distinct from (new.name, new.slug, new.social_title, new.social_description, new.live_version_id))
  execute function queue_for_search();

insert into search_turn (artifact_id) select id from artifact;

-- Without case and accents, as `folded` in src/features/library/search/folding.ts.
create function search_folded(given text) returns text language sql immutable as $$
  select normalize(lower(regexp_replace(normalize(given, NFD), '[\u0300-\u036f]', '', 'g')), NFC)
$$;
