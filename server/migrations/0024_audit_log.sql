-- Who did what to an account, from where, and what came of it: one line for every write of the API and every command of an operator.
-- Written with each effect, so it must cost little: one index, and no reference to accounts, which would lock the account's row each time.
-- Refusals beyond a rate are one line that says how many (`count`).
create table audit_log (
  account_id text not null,
  created_at timestamptz not null,
  id text not null,
  actor_type text not null check (actor_type in ('token', 'operator', 'system')),
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
-- Lines only ever come at the end and go from the beginning: a few bytes for every 128 pages find the old ones.
create index audit_log_age on audit_log using brin (created_at);
