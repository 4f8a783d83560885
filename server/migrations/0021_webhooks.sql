-- Subscriptions. Secrets are encrypted with a key outside the database. A deleted webhook keeps its row, without its secrets, until its
-- delivery log has been deleted in the background: neither does a deletion wait for deliveries nor an event for a deletion.
create table webhooks (
  id text primary key,
  account_id text not null references accounts,
  url text not null,
  events text[] not null check (cardinality(events) > 0),
  description text not null,
  is_active boolean not null default true,
  disabled_reason text,
  fail_count integer not null default 0 check (fail_count >= 0),
  last_success_at timestamptz,
  active_since timestamptz not null,
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  check (deleted_at is null or not is_active)
);
create index webhooks_account on webhooks (account_id, id) where deleted_at is null;
create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null;

-- One message to one subscription, inserted in the transaction of its event; a test delivery has no event. A sender claims it until
-- `claimed_until` and increments `claims`, its fencing token: after a crash the delivery is due again, and a sender that was only slow
-- no longer holds the last claim. A claim changes no indexed column and the pages have free space, so the update is HOT.
create table webhook_deliveries (
  id text primary key,
  webhook_id text not null references webhooks,
  event_id text references events (id),
  type text not null,
  status text not null check (status in ('PENDING', 'SUCCEEDED', 'EXHAUSTED', 'CANCELLED')),
  attempts integer not null default 0,
  claims integer not null default 0,
  next_attempt_at timestamptz,
  claimed_until timestamptz,
  created_at timestamptz not null,
  completed_at timestamptz,
  unique (event_id, webhook_id),
  check ((status = 'PENDING') = (next_attempt_at is not null)),
  check ((status = 'PENDING') = (completed_at is null))
) with (fillfactor = 75);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where status = 'PENDING';
create index webhook_deliveries_log on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_old on webhook_deliveries (completed_at) where status <> 'PENDING';

create table webhook_attempts (
  delivery_id text not null references webhook_deliveries on delete cascade,
  number integer not null,
  url text not null,
  signature text not null,
  status integer,
  error text,
  response text not null,
  latency_ms integer not null,
  attempted_at timestamptz not null,
  primary key (delivery_id, number)
);
