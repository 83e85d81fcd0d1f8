-- What is compressed where the index is written, and read again for each page that is ranked, in a fraction of the time of the default. Servers are
-- built without it, too, and what was written before stays readable.
do $$
begin
  alter table search_document alter names set compression lz4, alter telling set compression lz4, alter words set compression lz4;
exception when feature_not_supported then
  null;
end
$$;
