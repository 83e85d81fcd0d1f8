-- What an entry of the catalog describes is found by its id, and what leads to it without reading the workspace: src/features/library/catalog/.
create index data_table_catalog on data_table (catalog_id('table', artifact_id, name));
create index dataset_version_catalog on dataset_version (catalog_id('dataset', artifact_id, name));
create index job_connection on job ((config->>'connection_id')) where action = 'materialize';
create index import_item_artifact on import_item (artifact_id);
