-- People who sign in to the dashboard. Each belongs to one account; an operator also sees the whole product. Without a password there is
-- only a link with which to set the first one. The TOTP secret is encrypted, and the step of the last code is kept so that no code works twice.
create table people (
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
create unique index people_email on people (lower(email));
create index people_account on people (account_id);

-- Only the hash of what the cookie holds is kept. The hash before the last change works a moment longer, for requests that were under way.
create table sessions (
  id text primary key,
  hash bytea not null unique,
  previous_hash bytea unique,
  previous_until timestamptz,
  person_id text not null references people on delete cascade,
  proved_at timestamptz not null,
  ip text not null,
  user_agent text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
);
create index sessions_person on sessions (person_id, last_seen_at);
create index sessions_age on sessions (expires_at);

-- Links that work once: to become the owner (no person yet), or to set a password.
create table person_links (
  hash bytea primary key,
  kind text not null check (kind in ('welcome', 'password')),
  person_id text references people on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((kind = 'welcome') = (person_id is null))
);
create index person_links_age on person_links (expires_at);

-- From where somebody has signed in before: strangers who guess elsewhere do not lock them out there.
create table person_addresses (
  person_id text not null references people on delete cascade,
  address text not null,
  last_used_at timestamptz not null,
  primary key (person_id, address)
);

alter table audit_log drop constraint audit_log_actor_type_check;
alter table audit_log add constraint audit_log_actor_type_check check (actor_type in ('token', 'person', 'operator', 'system'));

-- An account that an operator has suspended keeps what it has, and gets nothing new.
alter table accounts add column suspended_at timestamptz, add column suspended_why text;
