-- One durable log per account, numbered without gaps in commit order: the number comes from a row that stays locked until the
-- transaction ends, so a reader that has seen number n has seen every lower one.
create table event_counters (
  account_id text primary key references accounts,
  last_number bigint not null
);

create table events (
  account_id text not null references accounts,
  number bigint not null,
  id text not null unique,
  type text not null,
  subject_id text,
  data jsonb not null,
  created_at timestamptz not null,
  primary key (account_id, number)
);
create index events_subject on events (subject_id, number);
-- Events are only appended: a BRIN index finds those of the last days at a few bytes per 128 pages, however long the log is.
create index events_age on events using brin (created_at);
