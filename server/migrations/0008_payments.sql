-- Deposits through a payment provider. A payment is credited once: `transaction_id` is its ledger entry.
create table payments (
  id text primary key,
  account_id text not null references accounts,
  provider text not null check (provider in ('manual', 'stripe')),
  status text not null default 'PENDING' check (status in ('PENDING', 'PROCESSING', 'SUCCEEDED', 'FAILED', 'EXPIRED')),
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null,
  -- The provider's ids: of the checkout session, and of the payment intent once it exists.
  session_id text unique,
  intent_id text,
  checkout_url text,
  instructions text,
  -- The amount received, and what the provider reversed since: refunds grow, disputes open and close.
  received_cents bigint check (received_cents > 0),
  refunded_cents bigint not null default 0 check (refunded_cents >= 0),
  disputed_cents bigint not null default 0,
  -- The part of the reversals that was debited from the wallet. The rest is the operator's loss.
  reversed_cents bigint not null default 0 check (reversed_cents >= 0),
  transaction_id text unique references wallet_transactions,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'SUCCEEDED') = (transaction_id is not null)),
  check ((received_cents is null) = (transaction_id is null)),
  check (transaction_id is not null or reversed_cents = 0)
);
create index payments_account on payments (account_id, id desc);
create index payments_intent on payments (intent_id);

-- Every event of a provider, once. An event that arrives before its payment is known waits with a null `payment_id`.
create table payment_events (
  id text primary key,
  provider text not null,
  type text not null,
  object_id text not null,
  intent_id text,
  change jsonb not null,
  payment_id text references payments,
  received_at timestamptz not null
);
create index payment_events_waiting on payment_events (intent_id) where payment_id is null;
-- A provider may report one dispute twice under two event ids.
create unique index payment_events_disputes on payment_events (type, object_id) where change ->> 'kind' in ('withdrawn', 'reinstated');
