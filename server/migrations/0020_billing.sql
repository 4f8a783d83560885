-- The ledger entry of each renewal. The primary key makes it impossible to charge a billing period of a VM twice.
create table renewals (
  vm_id text not null,
  period_started_at timestamptz not null,
  period_ends_at timestamptz not null check (period_ends_at > period_started_at),
  transaction_id text not null unique references wallet_transactions,
  primary key (vm_id, period_started_at)
);

-- When an account was last warned that its balance does not cover the coming renewals.
create table low_balance_warnings (
  account_id text primary key references accounts,
  warned_at timestamptz not null
);
