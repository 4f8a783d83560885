-- What each renewal was charged for. The key makes it impossible to charge a month of a VM twice, whoever tries.
create table renewals (
  vm_id text not null,
  period_started_at timestamptz not null,
  period_ends_at timestamptz not null check (period_ends_at > period_started_at),
  transaction_id text not null unique references wallet_transactions,
  primary key (vm_id, period_started_at)
);

-- When an account was last told that its wallet will not do.
create table low_balance_warnings (
  account_id text primary key references accounts,
  warned_at timestamptz not null
);

create index vms_unpaid on vms (id) where billing_status = 'SUSPENDED';
