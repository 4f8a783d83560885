-- A suspended account keeps its resources and cannot create new ones.
create table accounts (
  id text primary key,
  email text not null,
  name text not null default '',
  suspended_at timestamptz,
  suspension_reason text,
  created_at timestamptz not null
);
create unique index accounts_email on accounts (lower(email));

-- Only the hash of a token is stored: the secret is shown once and cannot be read again.
create table api_tokens (
  id text primary key,
  account_id text not null references accounts,
  name text not null,
  prefix text not null,
  hash bytea not null unique,
  scopes text[] not null,
  requests_per_minute integer not null default 600 check (requests_per_minute > 0),
  allowed_ips text[] not null default '{}',
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  last_used_ip text,
  created_at timestamptz not null
);
create index api_tokens_account on api_tokens (account_id, id);

-- The response of a mutation, stored for a day so that a repeated request has no second effect. Bodies are encrypted.
create table idempotency_keys (
  account_id text not null references accounts,
  key text not null,
  fingerprint bytea not null,
  status smallint not null,
  body bytea not null,
  location text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (account_id, key)
);
create index idempotency_keys_expiry on idempotency_keys (expires_at);

-- Usage and limit of each resource type per account, counted in the transaction that creates or deletes a resource. A null limit means
-- the catalog's default.
create table account_quotas (
  account_id text not null references accounts,
  name text not null,
  used bigint not null default 0 check (used >= 0),
  limit_override bigint,
  primary key (account_id, name)
);
