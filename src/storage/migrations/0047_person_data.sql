-- A zip of what the installation holds of a person. It is written in the background by whoever holds the lease.
create table person_export (
  id text primary key,
  user_id text references account on delete set null,
  asked_by text references account on delete set null,
  status text not null check (status in ('queued', 'running', 'done', 'failed')),
  error text,
  tries integer not null default 0,
  due_at_ms bigint,
  fence bigint not null default 0,
  lease_ends_at timestamptz,
  created_at_ms bigint not null,
  finished_at_ms bigint,
  expires_at_ms bigint,
  size_bytes bigint,
  sha256 bytea,
  receipt jsonb
);
-- One at a time.
create unique index person_export_open on person_export (user_id) where status in ('queued', 'running');
create index person_export_user on person_export (user_id, created_at_ms desc, id desc);
create index person_export_made on person_export (created_at_ms desc, id desc);
create index person_export_asked on person_export (asked_by) where asked_by is not null;
create index person_export_object on person_export (sha256) where sha256 is not null;
create index person_export_due on person_export (due_at_ms) where due_at_ms is not null;

-- The removal of a person. What remains when it is done names nobody: a digest and counts.
create table person_deletion (
  id text primary key,
  user_id text references account on delete set null,
  asked_by text references account on delete set null,
  heir_id text references account on delete set null,
  -- An heir who is gone meanwhile must not mean that everything is removed.
  wants_heir boolean not null,
  status text not null check (status in ('waiting', 'running', 'done', 'failed', 'canceled')),
  error text,
  tries integer not null default 0,
  -- When it is looked at next; null when nothing is left to do.
  next_at_ms bigint,
  fence bigint not null default 0,
  lease_ends_at timestamptz,
  created_at_ms bigint not null,
  due_at_ms bigint not null,
  finished_at_ms bigint,
  subject_sha256 bytea not null,
  -- Whom it removes, while it does: the account itself may be gone already when a step is tried again.
  accounts text[] not null default '{}',
  addresses text[] not null default '{}',
  receipt jsonb not null default '[]'
);
create unique index person_deletion_open on person_deletion (user_id) where status in ('waiting', 'running', 'failed');
create index person_deletion_made on person_deletion (created_at_ms desc, id desc);
create index person_deletion_next on person_deletion (next_at_ms) where next_at_ms is not null;
create index person_deletion_asked on person_deletion (asked_by) where asked_by is not null;
create index person_deletion_heir on person_deletion (heir_id) where heir_id is not null;

-- The record of what was done keeps its entries, and loses who they name where a person is removed. Nothing else is ever changed in it.
drop trigger audit_entry_append_only on audit_entry;
create trigger audit_entry_append_only before truncate on audit_entry execute function refuse_change();
create function refuse_rewriting() returns trigger language plpgsql as $$
begin
  if current_setting('easel.forgets_person', true) = 'on'
    and (new.id, new.workspace_id, new.at_ms, new.actor_kind, new.action, new.target_type, new.request_id)
      is not distinct from (old.id, old.workspace_id, old.at_ms, old.actor_kind, old.action, old.target_type, old.request_id) then
    return new;
  end if;
  raise exception 'audit_entry is append-only';
end
$$;
create trigger audit_entry_kept_as_it_is before update on audit_entry for each row execute function refuse_rewriting();

-- Whether a text names any of these ids and addresses. An address counts only as a whole: joann@x.com and ann@x.com.au are not ann@x.com.
create function names_person(said text, wanted text[]) returns boolean language sql immutable as $$
  select exists (
    select from unnest(wanted) w
    where position(lower(w) in lower(said)) > 0 and (position('@' in w) = 0 or lower(said) ~ (
      -- In JSON a line feed before the address is a backslash and a letter.
      '(^|[^[:alnum:]._%+-]|\\[nrtbf])' || regexp_replace(lower(w), '([^[:alnum:]@])', '\\\1', 'g') || '($|[^[:alnum:]._-]|[.](?![[:alnum:]]))')))
$$;

-- The rows of one table that name a person by one column. The names of tables and columns are ours: the list in person-data/holdings.ts.
-- is: the column is an id. is_address: it is an address in any case of letters. contains: an id or an address stands somewhere in it.
-- of_account: a column that says whose the row is. A row of another account stays, because anybody can type in the address of the person.
create function person_condition(of_column text, how text, of_account text, accounts text[]) returns text language sql immutable as $$
  select case how
    when 'is' then format('t.%I = any($1)', of_column)
    when 'is_address' then format('lower(t.%I) = any($1)', of_column)
    when 'contains' then format('names_person(t.%I::text, $1)', of_column)
  end || case when of_account is null then '' else format(' and (t.%I is null or t.%I = any(%L::text[]))', of_account, of_account, accounts) end
$$;

-- Without what is secret or only bytes. Mails carry codes and links that sign somebody in, and addresses that a ticket is answered with.
create function person_rows(
  of_table text, of_column text, how text, wanted text[], of_account text, accounts text[], beyond tid, rows_max integer)
returns table (at text, data jsonb) language plpgsql stable as $$
declare
  hidden text[] := array['password_hash', 'code_verifier', 'nonce', 'credential_id', 'lease_token', 'holder', 'mail_token', 'chat_thread']
    || case when of_table = 'mail_outbox' then array['text_body', 'html_body', 'reply_to', 'in_reply_to', 'reference_ids'] else '{}' end
    || array(
      select c.column_name::text from information_schema.columns c
      where c.table_schema = current_schema() and c.table_name = of_table and c.data_type = 'bytea');
  -- The subject of these has the code too.
  hidden_here text := case when of_table = 'mail_outbox' then
    $sql$ - case when t.kind in ('guest_code', 'email_code', 'link_code', 'sign_up', 'password_reset', 'invite') then 'subject' else '' end$sql$
    else '' end;
begin
  return query execute format(
    'select t.ctid::text, to_jsonb(t) - $4%s from %I t where %s and t.ctid > $2 order by t.ctid limit $3',
    hidden_here, of_table, person_condition(of_column, how, of_account, accounts)) using wanted, beyond, rows_max, hidden;
end
$$;

create function remove_person_rows(
  of_table text, of_column text, how text, wanted text[], of_account text, accounts text[], rows_max integer)
returns bigint language plpgsql as $$
declare
  removed bigint;
begin
  execute format(
    'delete from %I where ctid = any(array(select t.ctid from %I t where %s limit $2))',
    of_table, of_table, person_condition(of_column, how, of_account, accounts)) using wanted, rows_max;
  get diagnostics removed = row_count;
  return removed;
end
$$;

create function blank_person_rows(
  of_table text, of_column text, how text, wanted text[], of_account text, accounts text[], replacement text, rows_max integer)
returns bigint language plpgsql as $$
declare
  blanked bigint;
begin
  execute format(
    'update %I set %I = $3 where ctid = any(array(select t.ctid from %I t where %s limit $2))',
    of_table, of_column, of_table, person_condition(of_column, how, of_account, accounts)) using wanted, rows_max, replacement;
  get diagnostics blanked = row_count;
  return blanked;
end
$$;
