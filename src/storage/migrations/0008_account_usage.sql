-- What each account stores, as counters that change in the transaction of what they count.

-- Distinct contents of an artifact's versions: a content counts once an artifact, however many of its versions name it.
create table artifact_content (
  artifact_id text not null references artifact on delete cascade,
  sha256 bytea not null,
  size_bytes bigint not null,
  -- How many versions name it.
  versions integer not null,
  primary key (artifact_id, sha256)
);

-- Changes of an account's counters take turns at its row.
create table account_usage (
  account_id text primary key references account on delete cascade,
  -- What is stored and reserved, with what was removed within the last day: its bytes stay in the object store until the sweep.
  bytes bigint not null default 0,
  -- Those in the trash included.
  artifacts integer not null default 0
);

-- What was removed, by the hour of its removal; negative where a blob was stored that nothing had reserved. Beside account_usage, so that the
-- group commit waits for no publish; and without a foreign key, whose check would make it wait for a change of the account.
create table storage_release (
  account_id text not null,
  hour_ms bigint not null,
  bytes bigint not null,
  primary key (account_id, hour_ms)
);

-- Room for contents that are being stored. The commit that records them removes it.
create table storage_reservation (
  -- For a blob its id.
  id text primary key,
  account_id text not null references account on delete cascade,
  bytes bigint not null,
  expires_at_ms bigint not null
);
create index storage_reservation_account on storage_reservation (account_id, expires_at_ms);

-- What a part counts: 0 where a later upload of the account has taken its content over.
alter table publish_upload_part add column counted_bytes bigint not null default 0;
create index publish_upload_user on publish_upload (user_id);

-- The blob that an upload will be, for which room is reserved; null for uploads that began before there were reservations.
alter table blob_upload add column blob_id text;
create index blob_upload_artifact on blob_upload (artifact_id, expires_at_ms) where used_at_ms is null;

insert into artifact_content (artifact_id, sha256, size_bytes, versions)
select v.artifact_id, f.sha256, min(f.size_bytes), count(distinct v.id)
from artifact_version v join version_file f on f.version_id = v.id
group by v.artifact_id, f.sha256;

update publish_upload_part p set counted_bytes = o.size_bytes from stored_object o where o.sha256 = p.sha256;

-- 512 bytes for every file of a version, beside its content.
insert into account_usage (account_id, bytes, artifacts)
select a.id,
  coalesce((select sum(c.size_bytes) from artifact o join artifact_content c on c.artifact_id = o.id where o.owner_id = a.id), 0)
    + coalesce((
        select count(*) * 512 from artifact o
        join artifact_version v on v.artifact_id = o.id join version_file f on f.version_id = v.id where o.owner_id = a.id), 0)
    + coalesce((select sum(b.size_bytes) from artifact o join blob b on b.artifact_id = o.id where o.owner_id = a.id), 0)
    + coalesce((
        select sum(p.counted_bytes) from publish_upload u join publish_upload_part p on p.upload_id = u.id where u.user_id = a.id), 0),
  (select count(*) from artifact o where o.owner_id = a.id)
from account a;
