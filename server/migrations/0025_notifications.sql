-- Emails to customers, one per event, inserted in the event's transaction. A sender claims an email until `claimed_until` and increments
-- `claims`, its fencing token: after a crash the email is due again. The Message-ID is chosen once, so that a receiver recognises a
-- repeated email.
create table emails (
  id text primary key,
  account_id text not null references accounts,
  event_id text not null unique references events (id),
  recipient text not null,
  message_id text,
  status text not null default 'PENDING' check (status in ('PENDING', 'SENT', 'FAILED', 'DISCARDED')),
  attempts integer not null default 0,
  claims integer not null default 0,
  next_attempt_at timestamptz,
  claimed_until timestamptz,
  error text,
  created_at timestamptz not null,
  completed_at timestamptz,
  check ((status = 'PENDING') = (next_attempt_at is not null)),
  check ((status = 'PENDING') = (completed_at is null))
);
create index emails_due on emails (next_attempt_at) where status = 'PENDING';
create index emails_old on emails (completed_at) where status <> 'PENDING';
