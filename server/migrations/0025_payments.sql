-- Money that comes in from outside, and what becomes of it. A payment is credited once: `transaction_id` is that entry of the ledger.
create table payments (
  id text primary key,
  account_id text not null references accounts,
  provider text not null check (provider in ('manual', 'stripe')),
  status text not null default 'PENDING' check (status in ('PENDING', 'PROCESSING', 'SUCCEEDED', 'FAILED', 'EXPIRED')),
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null,
  -- The provider's own names of it: of the page that it is paid at, and of the payment itself once there is one.
  session_id text unique,
  intent_id text,
  checkout_url text,
  instructions text,
  -- What really came in, and what the provider took back since: refunds grow, disputes come and go.
  received_cents bigint check (received_cents > 0),
  refunded_cents bigint not null default 0 check (refunded_cents >= 0),
  disputed_cents bigint not null default 0,
  -- What of that could be taken out of the wallet. The rest is the operator's loss.
  taken_back_cents bigint not null default 0 check (taken_back_cents >= 0),
  transaction_id text unique references wallet_transactions,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'SUCCEEDED') = (transaction_id is not null)),
  check ((received_cents is null) = (transaction_id is null)),
  check (transaction_id is not null or taken_back_cents = 0)
);
create index payments_account on payments (account_id, id desc);
create index payments_intent on payments (intent_id);

-- Every notice of a provider, once. One that came before the payment it is about waits for it.
create table payment_notices (
  id text primary key,
  provider text not null,
  type text not null,
  object_id text not null,
  intent_id text,
  change jsonb not null,
  payment_id text references payments,
  received_at timestamptz not null
);
create index payment_notices_waiting on payment_notices (intent_id) where payment_id is null;
-- A provider may tell of the same dispute twice, under two names.
create unique index payment_notices_disputes on payment_notices (type, object_id) where change ->> 'kind' in ('withdrawn', 'reinstated');

-- Until when 10G is paid for, as there is for daily backups: switched off and on again it is not paid for twice.
alter table vms add column network_10g_paid_until timestamptz;
update vms set network_10g_paid_until = next_renewal_at where network_10g;

-- What an operator put into a wallet or took out of it, and why: entries of the ledger refer to it.
create table wallet_orders (
  id text primary key,
  account_id text not null references accounts,
  amount_cents bigint not null check (amount_cents <> 0),
  reason text not null check (reason <> ''),
  created_at timestamptz not null
);
