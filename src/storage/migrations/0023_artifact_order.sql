-- Lists of artifacts by name and by the time when they were made.

-- Names in the order in which people look for them: without case and accents. They are compared by bytes, so that it is the same on every server.
create function name_order(name text) returns text language sql immutable parallel safe as $$
  select translate(lower(name),
    'ÁÀÂÄÃÅĀÇĆČÉÈÊËĒĖĘÍÌÎÏĪÑŃÓÒÔÖÕØŌÚÙÛÜŪÝŸŠŚŽŹŻáàâäãåāçćčéèêëēėęíìîïīñńóòôöõøōúùûüūýÿšśžźż',
    'aaaaaaaccceeeeeeeiiiiinnooooooouuuuuyysszzzaaaaaaaccceeeeeeeiiiiinnooooooouuuuuyysszzz')
$$;

-- A page of a workspace is read in the order of an index.
create index artifact_workspace_name on artifact (workspace_id, name_order(name) collate "C", id) where workspace_id is not null and deleted_at_ms is null;
create index artifact_workspace_created on artifact (workspace_id, created_at_ms desc, id) where workspace_id is not null and deleted_at_ms is null;
