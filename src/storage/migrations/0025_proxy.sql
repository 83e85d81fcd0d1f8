-- Which hosts a page may read through the service.

create table proxy_config (
  artifact_id text primary key references artifact on delete cascade,
  -- Names of hosts; `*.` before a name means all below it. Null for any host of the public internet.
  hosts text[],
  -- Seconds for which an answer that does not say itself how long it is fresh is kept.
  cache_s integer not null,
  updated_at_ms bigint not null
);
