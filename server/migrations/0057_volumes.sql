-- Disks of customers apart from those of VMs. A LOCAL one lies on a host, a REPLICATED one in a storage backend; its room is booked from the
-- start, its data is made when it is attached for the first time.
create table volumes (
  id text primary key,
  account_id text not null references accounts,
  region_id text not null references regions,
  name text not null,
  labels jsonb not null default '{}',
  is_protected boolean not null,
  size_gib integer not null check (size_gib > 0),
  storage text not null check (storage in ('LOCAL', 'REPLICATED')),
  host_id text references hosts,
  storage_id text references storage_backends,
  -- There may be data at its place.
  has_data boolean not null default false,
  status text not null default 'AVAILABLE' check (status in ('AVAILABLE', 'ATTACHING', 'ATTACHED', 'DETACHING')),
  vm_id text references vms,
  -- The host whose machine has it: that of the VM, or the one that the VM is being evacuated from.
  vm_host_id text,
  -- The action that works on it.
  run_id text,
  -- A machine that may still write to it, because its host was lost or a change of it could not be undone: until it is no longer stale.
  left_vm_id text,
  left_host_id text,
  billing_status text not null default 'ACTIVE' check (billing_status in ('ACTIVE', 'PAST_DUE', 'SUSPENDED')),
  renewal_day smallint not null,
  period_started_at timestamptz not null,
  period_price_cents bigint not null check (period_price_cents >= 0),
  next_renewal_at timestamptz not null,
  past_due_at timestamptz,
  -- Its data is being removed. Only its room still counts.
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((host_id is not null) = (storage = 'LOCAL') and (storage_id is not null) = (storage = 'REPLICATED')),
  check ((vm_id is null) = (status = 'AVAILABLE') and (vm_id is null) = (vm_host_id is null)),
  check ((left_vm_id is null) = (left_host_id is null)),
  check ((billing_status = 'ACTIVE') = (past_due_at is null)),
  check (deleted_at is null or (vm_id is null and run_id is null))
);
create index volumes_account on volumes (account_id, id desc) where deleted_at is null;
create index volumes_vm on volumes (vm_id) where vm_id is not null;
create index volumes_host on volumes (host_id) where host_id is not null;
create index volumes_storage on volumes (storage_id) where storage_id is not null;
create index volumes_renewal on volumes (next_renewal_at) where deleted_at is null;
create index volumes_deleted on volumes (deleted_at) where deleted_at is not null;

-- The ledger entry of each period, the first too. The primary key makes it impossible to charge one twice.
create table volume_periods (
  volume_id text not null,
  started_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > started_at),
  transaction_id text not null unique references wallet_transactions,
  primary key (volume_id, started_at)
);

alter table wallet_transactions drop constraint wallet_transactions_type_check, drop constraint wallet_transactions_reference_type_check;
alter table wallet_transactions
  add constraint wallet_transactions_type_check check (type in ('CREDIT', 'DEPOSIT', 'VM_CHARGE', 'VM_RENEWAL', 'VM_REFUND', 'VM_UPGRADE',
    'ADDON_CHARGE', 'BANDWIDTH_PACK', 'ADJUSTMENT', 'ADDRESS_CHARGE', 'ADDRESS_RENEWAL', 'ADDRESS_REFUND',
    'VOLUME_CHARGE', 'VOLUME_UPGRADE', 'VOLUME_RENEWAL', 'VOLUME_REFUND')),
  add constraint wallet_transactions_reference_type_check check (reference_type in ('VM', 'PAYMENT', 'ADMIN', 'ADDRESS', 'VOLUME'));

alter table orphan_volumes drop constraint orphan_volumes_kind_check;
alter table orphan_volumes
  add constraint orphan_volumes_kind_check check (kind in ('disk', 'seed', 'snapshot', 'backup', 'template', 'volume'));

alter table simulated.volumes drop constraint volumes_kind_check;
alter table simulated.volumes add constraint volumes_kind_check check (kind in ('disk', 'seed', 'snapshot', 'backup', 'template', 'volume'));
create index volumes_id on simulated.volumes (id) where kind = 'volume';

-- Which volumes a machine is defined with.
create table simulated.machine_volumes (
  host_id text not null,
  machine text not null,
  volume_id text not null,
  primary key (host_id, machine, volume_id),
  foreign key (host_id, machine) references simulated.machines on delete cascade
);
create index machine_volumes_volume on simulated.machine_volumes (volume_id);
