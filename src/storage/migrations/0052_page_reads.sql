-- What a page reads of its tables is noted as well as what it reads of its datasets.
alter table dataset_reader rename to page_read;
alter table page_read add column kind text not null default 'dataset' check (kind in ('table', 'dataset'));
alter table page_read alter column kind drop default;
alter table page_read drop constraint dataset_reader_pkey, add primary key (artifact_id, kind, name);
alter index dataset_reader_age rename to page_read_age;
