-- Whom a page can be open to, in the index itself, as it was when it was indexed: a word that is on very many pages is looked for only among those of one reader.

alter table search_document
  -- Its workspace, its owner, and `public`. That the reader may open the page is decided by the artifact, as it is then.
  add column reach text[] not null default '{}';

create function search_reach(visibility text, workspace_id text, owner_id text) returns text[] language sql immutable as $$
  select array_remove(array[case visibility when 'public' then 'public' end, workspace_id, owner_id], null)
$$;
drop index search_document_names, search_document_words;
update search_document d set reach = search_reach(a.visibility, a.workspace_id, a.owner_id) from artifact a where a.id = d.artifact_id;
create index search_document_names on search_document using gin (names, reach);
create index search_document_words on search_document using gin (words, reach);

-- The document is written anew, as after every other change: a bulk change of many artifacts does no work of the index.
create trigger artifact_opened_for_search after update of visibility, workspace_id, owner_id on artifact for each row
  when ((old.visibility, old.workspace_id, old.owner_id) is distinct from (new.visibility, new.workspace_id, new.owner_id))
  execute function queue_for_search();

-- The planner does not know what it costs to read a long list of words of every page, and would read them all for a frequent word.
create function search_reached(asked tsquery, reached text[]) returns setof text language sql stable rows 100 set enable_seqscan = off as $$
  select artifact_id from search_document where words @@ asked and reach && reached
$$;
create function search_named(named tsquery, reached text[]) returns setof text language sql stable rows 10 set enable_seqscan = off as $$
  select artifact_id from search_document where names @@ named and reach && reached
$$;
