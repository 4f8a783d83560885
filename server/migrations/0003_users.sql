-- Users of the dashboard. Each belongs to one account; an operator also sees the whole product. A user without a password has only a
-- one-time link to set the first one. The TOTP secret is encrypted; the step of the last code is stored so that no code works twice.
create table users (
  id text primary key,
  account_id text not null references accounts,
  email text not null,
  name text not null default '',
  password_hash text,
  is_operator boolean not null default false,
  totp_secret bytea,
  totp_enabled_at timestamptz,
  totp_step bigint not null default 0,
  created_at timestamptz not null,
  check (totp_enabled_at is null or totp_secret is not null)
);
create unique index users_email on users (lower(email));
create index users_account on users (account_id);

-- Replace a lost second factor, each once: using a code deletes its row. Only keyed hashes are stored.
create table recovery_codes (
  user_id text not null references users on delete cascade,
  hash bytea not null,
  created_at timestamptz not null,
  primary key (user_id, hash)
);

-- Only the hash of the cookie's secret is stored. After a rotation the previous hash stays valid until `previous_until`, for requests in
-- flight.
create table sessions (
  id text primary key,
  hash bytea not null unique,
  previous_hash bytea unique,
  previous_until timestamptz,
  user_id text not null references users on delete cascade,
  authenticated_at timestamptz not null,
  ip text not null,
  user_agent text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
);
create index sessions_user on sessions (user_id, last_seen_at);
create index sessions_age on sessions (expires_at);

-- Links that work once: to become the owner (no user yet), or to set a password.
create table one_time_links (
  hash bytea primary key,
  kind text not null check (kind in ('welcome', 'password')),
  user_id text references users on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((kind = 'welcome') = (user_id is null))
);
create index one_time_links_age on one_time_links (expires_at);

-- Addresses from which a user has signed in before: password guessing from elsewhere does not lock the user out there.
create table known_ips (
  user_id text not null references users on delete cascade,
  address text not null,
  last_used_at timestamptz not null,
  primary key (user_id, address)
);
