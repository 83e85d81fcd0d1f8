-- What an entry of the catalog describes is found by its id, and what leads to it without reading the workspace: src/features/library/catalog/.
create index data_table_catalog on data_table (catalog_id('table', artifact_id, name));
create index dataset_version_catalog on dataset_version (catalog_id('dataset', artifact_id, name));
create index job_connection on job ((config->>'connection_id')) where action = 'materialize';
create index import_item_artifact on import_item (artifact_id);

-- Datasets that a page has read on its own host: nothing else says what the scripts of a page read. It says nothing of who looked at the page.
create table dataset_reader (
  artifact_id text not null references artifact on delete cascade,
  name text not null collate "C",
  read_at_ms bigint not null,
  primary key (artifact_id, name)
);
create index dataset_reader_age on dataset_reader (read_at_ms);
