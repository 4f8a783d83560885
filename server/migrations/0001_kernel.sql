-- Exclusion constraints of address ranges combine an id with a range in one GiST index.
create extension if not exists btree_gist;

-- Rate-limit counters, used only where several processes share one database and no Redis is configured. Unlogged: losing them in a crash
-- costs nothing.
create unlogged table counters (
  key text primary key,
  count integer not null,
  ends_at timestamptz not null
);
create index counters_ends_at on counters (ends_at);

-- Identifies the master key that encrypts the secrets in this database, so that no process starts with another one. It is a keyed hash.
create table master_key (
  is_only boolean primary key default true check (is_only),
  fingerprint bytea not null
);

-- A row marks this as a test database: its time is the real time plus this offset.
create table test_clock (
  is_only boolean primary key default true check (is_only),
  ahead_ms bigint not null default 0 check (ahead_ms >= 0)
);
