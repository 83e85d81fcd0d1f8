-- Who answers tickets for the installation. Administrators do so too.
alter table account add column is_staff boolean not null default false;
