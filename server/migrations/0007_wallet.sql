-- One wallet per account and an append-only ledger, in cents.
create table wallets (
  account_id text primary key references accounts,
  balance_cents bigint not null default 0 check (balance_cents >= 0),
  transaction_count integer not null default 0
);

create table wallet_transactions (
  id text primary key,
  account_id text not null references wallets,
  number integer not null,
  type text not null check (type in ('CREDIT', 'DEPOSIT', 'VM_CHARGE', 'VM_RENEWAL', 'VM_REFUND', 'VM_UPGRADE', 'ADDON_CHARGE', 'BANDWIDTH_PACK', 'ADJUSTMENT')),
  amount_cents bigint not null,
  balance_after_cents bigint not null check (balance_after_cents >= 0),
  description text not null,
  reference_type text not null check (reference_type in ('VM', 'PAYMENT', 'ADMIN')),
  reference_id text not null,
  created_at timestamptz not null,
  unique (account_id, number)
);
create index wallet_transactions_type on wallet_transactions (account_id, type, number desc);
create index wallet_transactions_time on wallet_transactions (account_id, created_at);
create index wallet_transactions_reference on wallet_transactions (reference_id);

create function reject_ledger_change() returns trigger language plpgsql as $$
begin
  raise exception 'the ledger is append-only: % is not allowed', tg_op;
end $$;
create trigger wallet_transactions_append_only before update or delete on wallet_transactions
  for each row execute function reject_ledger_change();

-- An operator's credit or debit with its reason; the ledger entry refers to it.
create table wallet_adjustments (
  id text primary key,
  account_id text not null references accounts,
  amount_cents bigint not null check (amount_cents <> 0),
  reason text not null check (reason <> ''),
  created_at timestamptz not null
);
