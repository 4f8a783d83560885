-- Support tickets, text only. OPEN waits for staff, ANSWERED for the customer.
create table tickets (
  id text primary key,
  account_id text not null references accounts,
  subject text not null,
  body text not null,
  status text not null default 'OPEN' check (status in ('OPEN', 'ANSWERED', 'CLOSED')),
  reply_count integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  closed_at timestamptz,
  check ((status = 'CLOSED') = (closed_at is not null))
);
create index tickets_account on tickets (account_id, id);
create index tickets_waiting on tickets (updated_at) where status <> 'CLOSED';

create table ticket_replies (
  id text primary key,
  ticket_id text not null references tickets,
  author text not null check (author in ('customer', 'staff')),
  body text not null,
  created_at timestamptz not null
);
create index ticket_replies_ticket on ticket_replies (ticket_id, created_at, id);
