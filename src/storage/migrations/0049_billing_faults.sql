-- Who has had a trial: each person one, by everything that they are recognised by. A digest is kept when the account is gone, so that a new
-- account of the same person begins no second trial; it tells nobody the address.
create table billing_trial_holder (
  -- SHA-256 of "account <id>", "address <proved address>" or "sign-in <issuer> <subject>".
  holder bytea primary key,
  operation_id text not null
);
create index billing_trial_holder_operation on billing_trial_holder (operation_id);
insert into billing_trial_holder (holder, operation_id)
  select sha256(convert_to(h.name, 'UTF8')), t.operation_id
  from billing_trial t join account a on a.person_id = t.person_id left join sign_in s on s.account_id = a.id
  cross join lateral (values ('account ' || a.id), ('address ' || lower(a.email)), ('sign-in ' || s.issuer || ' ' || s.subject)) as h (name)
  where h.name is not null
  on conflict do nothing;
alter table billing_trial drop column person_id;

-- `unknown`: too old to be repeated, or of a provider that is not used any more. Somebody has to look at the provider.
alter table billing_operation drop constraint billing_operation_state_check;
alter table billing_operation add constraint billing_operation_state_check check (state in ('open', 'done', 'failed', 'unknown'));
create index billing_operation_newest on billing_operation (created_at_ms desc);

-- What was paid and is not used yet, after a change to another interval: the provider pays the next invoices with it first.
alter table billing_customer add column credit_cents bigint not null default 0;
