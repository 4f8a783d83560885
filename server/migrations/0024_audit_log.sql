-- Actor, source address, action and result: one row for every mutation of the API and every operator command. It is inserted with every
-- mutation, so it has one index and no foreign key to accounts, which would lock the account's row each time.
-- Denied requests beyond a rate are aggregated into one row with their `count`.
create table audit_log (
  account_id text not null,
  created_at timestamptz not null,
  id text not null,
  actor_type text not null check (actor_type in ('token', 'person', 'operator', 'system')),
  actor_id text,
  actor_name text not null,
  ip text,
  action text not null,
  method text,
  route text,
  resource_ids text[] not null,
  status smallint,
  code text,
  request_id text,
  count integer not null default 1 check (count > 0),
  primary key (account_id, created_at, id)
);
-- Rows are appended and deleted in time order: a BRIN index finds the old ones at a few bytes per 128 pages.
create index audit_log_age on audit_log using brin (created_at);
