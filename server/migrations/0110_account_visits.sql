-- Operators who have signed in to the account of a customer. It belongs to the session that began it, and is over with it.
create table account_visits (
  id text primary key,
  user_id text not null references users on delete cascade,
  session_id text references sessions on delete set null,
  account_id text not null references accounts on delete cascade,
  reason text not null,
  started_at timestamptz not null,
  ends_at timestamptz not null,
  -- Since when it may change something, and why; null: it only reads.
  writes_since timestamptz,
  writes_reason text,
  ended_at timestamptz,
  check ((writes_since is null) = (writes_reason is null))
);
create index account_visits_session on account_visits (session_id) where session_id is not null;
create index account_visits_account on account_visits (account_id, started_at);
create index account_visits_user on account_visits (user_id);
