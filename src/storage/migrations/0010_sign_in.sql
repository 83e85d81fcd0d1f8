-- How people sign in, and the sessions that follow from it.

-- An account has one way to sign in at most: one with a token only has none. Linked accounts are one person (account.person_id).
create table sign_in (
  account_id text primary key references account on delete cascade,
  -- 'email', or the id of an identity provider in the settings.
  provider text not null,
  -- Of the ID token; empty for an e-mail address.
  issuer text not null,
  -- Of the ID token; for an e-mail address the address in lowercase.
  subject text not null,
  -- As it was told, in lowercase.
  email text,
  -- Proved by a code of ours, or verified as the provider says.
  email_proved boolean not null,
  -- Argon2id; only with an e-mail address.
  password_hash text,
  linked_at_ms bigint not null,
  last_used_at_ms bigint not null,
  constraint sign_in_subject unique (issuer, subject)
);
create index sign_in_proved_email on sign_in (email) where email_proved;

-- account.email is a proved address. Linked accounts of one person may have the same one.
alter table account drop constraint account_email_key;
create index account_email on account (email);

create table session (
  id text primary key,
  account_id text not null references account on delete cascade,
  secret_sha256 bytea not null unique,
  -- The cookie that holds the secret: 'session' after an identity provider, 'access' after a password, a code or a passkey.
  cookie text not null check (cookie in ('session', 'access')),
  -- Browser and system, in words.
  device text not null,
  address text not null,
  created_at_ms bigint not null,
  last_used_at_ms bigint not null,
  ends_at_ms bigint not null,
  revoked_at_ms bigint
);
create index session_account on session (account_id, created_at_ms desc, id);

-- Codes that were sent by mail. Several of one address may be valid at once, so that nobody can void another's by asking for one more.
create table email_code (
  id text primary key,
  email text not null,
  purpose text not null check (purpose in ('sign_in', 'sign_up', 'reset', 'link')),
  code_sha256 bytea not null,
  tries_left integer not null,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  -- For 'sign_up': counts from the moment in which the code is entered.
  password_hash text,
  name text,
  -- For 'link': the account that the address is linked to.
  account_id text references account on delete cascade
);
create index email_code_email on email_code (email, purpose);
create index email_code_expiry on email_code (expires_at_ms);

-- Sign-ins at an identity provider that have begun. The state is in the address that the provider sends the browser back to.
create table sign_in_attempt (
  state_sha256 bytea primary key,
  -- Of the secret in a cookie: the answer counts only in the browser that began.
  browser_sha256 bytea not null,
  provider text not null,
  nonce text not null,
  code_verifier text not null,
  return_to text not null,
  -- For linking: the session that began it.
  session_id text references session on delete cascade,
  created_at_ms bigint not null,
  expires_at_ms bigint not null
);
create index sign_in_attempt_expiry on sign_in_attempt (expires_at_ms);

-- Public keys of passkeys, of accounts that sign in with an e-mail address.
create table passkey (
  id text primary key,
  account_id text not null references account on delete cascade,
  -- As the authenticator names it, base64url.
  credential_id text not null unique,
  public_key bytea not null,
  -- Grows with each use where the authenticator counts.
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at_ms bigint not null,
  last_used_at_ms bigint
);
create index passkey_account on passkey (account_id, created_at_ms, id);

-- Challenges that wait for a passkey's answer; each counts once.
create table passkey_challenge (
  challenge text primary key,
  -- For a new passkey: the account that gets it.
  account_id text references account on delete cascade,
  expires_at_ms bigint not null
);
create index passkey_challenge_expiry on passkey_challenge (expires_at_ms);
