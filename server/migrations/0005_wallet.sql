-- Money: one wallet per account, and a ledger that only grows. Cents, never floats.
create table wallets (
  account_id text primary key references accounts,
  balance_cents bigint not null default 0 check (balance_cents >= 0),
  transaction_count integer not null default 0
);

create table wallet_transactions (
  id text primary key,
  account_id text not null references wallets,
  number integer not null,
  type text not null,
  amount_cents bigint not null,
  balance_after_cents bigint not null check (balance_after_cents >= 0),
  description text not null,
  reference_type text not null,
  reference_id text not null,
  created_at timestamptz not null,
  unique (account_id, number)
);
create index wallet_transactions_type on wallet_transactions (account_id, type, number desc);
create index wallet_transactions_time on wallet_transactions (account_id, created_at);
create index wallet_transactions_reference on wallet_transactions (reference_id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the ledger only grows: % is not allowed', tg_op;
end $$;
create trigger wallet_transactions_append_only before update or delete on wallet_transactions
  for each row execute function refuse_change();
