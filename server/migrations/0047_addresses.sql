-- Public addresses that belong to an account and move between its VMs. They come from pools of their region.
create table addresses (
  id text primary key,
  account_id text not null references accounts,
  region_id text not null references regions,
  name text not null,
  address inet not null unique,
  pool_id text not null references address_pools,
  -- Its owner, changed by compare and set.
  vm_id text references vms,
  -- A VM whose port may still have the address. The port of the owner gets it once this is null, so that no two ports have it.
  releasing_vm_id text,
  -- Whether the guest of the owner has it on its interface: null while there is no owner, MANUAL without a guest agent.
  guest_state text check (guest_state in ('PENDING', 'CONFIGURED', 'MANUAL')),
  guest_reason text,
  -- When the guest is told of it (again).
  guest_due_at timestamptz,
  billing_status text not null default 'ACTIVE' check (billing_status in ('ACTIVE', 'PAST_DUE', 'SUSPENDED')),
  renewal_day smallint not null,
  period_started_at timestamptz not null,
  period_price_cents bigint not null check (period_price_cents >= 0),
  next_renewal_at timestamptz not null,
  past_due_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((vm_id is null) = (guest_state is null)),
  check ((billing_status = 'ACTIVE') = (past_due_at is null))
);
create index addresses_account on addresses (account_id, id desc);
create index addresses_vm on addresses (vm_id) where vm_id is not null;
create index addresses_pool on addresses (pool_id);
create index addresses_releasing on addresses (releasing_vm_id) where releasing_vm_id is not null;
create index addresses_guest on addresses (guest_due_at) where guest_due_at is not null;
create index addresses_renewal on addresses (next_renewal_at);

-- The ledger entry of each period, the first too. The primary key makes it impossible to charge one twice.
create table address_periods (
  address_id text not null,
  started_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > started_at),
  transaction_id text not null unique references wallet_transactions,
  primary key (address_id, started_at)
);

alter table wallet_transactions drop constraint wallet_transactions_type_check, drop constraint wallet_transactions_reference_type_check;
alter table wallet_transactions
  add constraint wallet_transactions_type_check check (type in ('CREDIT', 'DEPOSIT', 'VM_CHARGE', 'VM_RENEWAL', 'VM_REFUND', 'VM_UPGRADE',
    'ADDON_CHARGE', 'BANDWIDTH_PACK', 'ADJUSTMENT', 'ADDRESS_CHARGE', 'ADDRESS_RENEWAL', 'ADDRESS_REFUND')),
  add constraint wallet_transactions_reference_type_check check (reference_type in ('VM', 'PAYMENT', 'ADMIN', 'ADDRESS'));

-- What the guest has on the interface beside its own address, until it is off.
alter table simulated.nics add column floating text[] not null default '{}';
