-- Rate-limit counters, used only where several processes share one database and no Redis is configured. Nothing here matters after
-- a crash, so it is not logged.
create extension if not exists btree_gist;

create unlogged table counters (
  key text primary key,
  count integer not null,
  ends_at timestamptz not null
);
create index counters_ends_at on counters (ends_at);
