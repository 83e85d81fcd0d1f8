-- Logins of programs that wait for a person's approval in a browser.

create table device_login (
  -- Of the device code, which only the program knows.
  device_sha256 bytea primary key,
  -- The short code, without its hyphen.
  user_code text not null unique,
  -- X25519: the token is sealed for whoever has the device code, so that it is stored nowhere in the clear.
  public_key bytea not null,
  status text not null check (status in ('pending', 'approved', 'denied')),
  expected_email text,
  client_name text,
  host_name text,
  -- Of the program.
  address text not null,
  network text not null,
  -- Seconds that the program must leave between two polls.
  interval_s integer not null,
  polled_at_ms bigint,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  -- Once it is approved.
  user_id text references account on delete cascade,
  token_id text references access_token on delete cascade,
  sealed_token bytea,
  warn text
);
create index device_login_network on device_login (network, expires_at_ms);
create index device_login_expiry on device_login (expires_at_ms);
