-- Mails to customers, written in the transaction of the event they tell of, one for each. Whoever sends one claims it for a while and
-- counts the claim: when that sender dies, it is due again by itself. The Message-ID is decided once, so that a receiver recognises a mail
-- that had to be sent twice.
create table mails (
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
create index mails_due on mails (next_attempt_at) where status = 'PENDING';
create index mails_old on mails (completed_at) where status <> 'PENDING';
