-- The index of pages keeps less: a page's words stand in the index and, compressed, beside its text. What ranks a page is small and in its row.

drop function search_reached(tsquery, text[]);
drop function search_named(tsquery, text[]);
drop function search_reach(text, text, text);
drop table search_document;
drop table search_word;

create table search_document (
  artifact_id text primary key references artifact on delete cascade,
  -- The version whose text it is; null where none is live.
  version_id text,
  -- Whom it can be open to, as it was when it was indexed: its workspace, its owner, `public`, and itself for those with whom it is shared by
  -- name. That the reader may open the page is decided by the artifact, as it is then.
  reach text[] not null,
  -- What the artifact is called. Apart from `words`, because the first letters of a word are in very many of them.
  names tsvector not null,
  -- Words that tell more than others, to rank by: A what it is called, B titles and headings, C what is said often.
  telling tsvector not null,
  -- The other words, as the text of a tsvector, which takes half as much room as one. Read when the row is indexed, and hardly ever else.
  words text not null,
  -- The text in pieces, deflated (src/features/library/search/packing.ts).
  passages bytea not null,
  indexed_at_ms bigint not null
);
-- What is read for each page that is ranked stays in its row; else a long row would have even its ids elsewhere.
alter table search_document
  alter artifact_id set storage plain, alter version_id set storage plain, alter reach set storage main, alter names set storage main,
  alter telling set storage main, alter passages set storage external;
-- One for all columns, so that a word that is on very many pages is looked for only among those of one reader.
create index search_document_words on search_document using gin ((telling || words::tsvector), names, reach);
-- Everybody's searches look through what is public, which is few of all pages that have a frequent word.
create index search_document_public on search_document using gin ((telling || words::tsvector)) where 'public' = any (reach);

create function search_reach(id text, visibility text, workspace_id text, owner_id text) returns text[] language sql immutable as $$
  select array_remove(array[case visibility when 'public' then 'public' end, workspace_id, owner_id, id], null)
$$;

-- The planner does not know what it costs to read a long list of words of every page, and would read them all for a frequent word.
create function search_reached(asked tsquery, reached text[]) returns setof text language sql stable rows 100 set enable_seqscan = off as $$
  select artifact_id from search_document where telling || words::tsvector @@ asked and reach && reached
$$;
create function search_public(asked tsquery) returns setof text language sql stable rows 100 set enable_seqscan = off as $$
  select artifact_id from search_document where telling || words::tsvector @@ asked and 'public' = any (reach)
$$;
create function search_named(named tsquery, reached text[]) returns setof text language sql stable rows 10 set enable_seqscan = off as $$
  select artifact_id from search_document where names @@ named and reach && reached
$$;
create function search_named_with(named tsquery, asked tsquery, reached text[]) returns setof text language sql stable rows 10 set enable_seqscan = off as $$
  select artifact_id from search_document where names @@ named and telling || words::tsvector @@ asked and reach && reached
$$;

-- Every word of letters that a page says, and the stems of these: what a misspelt word may have meant, and all forms of one. Never shown to anybody.
create table search_word (
  word text primary key collate "C",
  -- Its stem in each language where that is another word.
  english text collate "C",
  spanish text collate "C"
);
-- Of an expression: for a word that is looked for as it is, the planner would take this index and not the key.
create index search_word_similar on search_word using gin (lower(word) gin_trgm_ops);
create index search_word_english on search_word (english) where english is not null;
create index search_word_spanish on search_word (spanish) where spanish is not null;

insert into search_turn (artifact_id) select id from artifact on conflict do nothing;
