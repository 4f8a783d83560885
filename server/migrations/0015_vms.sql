-- Metering writes to bandwidth_baselines, not here: these rows are wide and read all the time. Keeping them unchanged lets an index-only
-- scan find a far page of a list (5 x the time of the first page instead of 18 x with 100,000 VMs).
create table vms (
  id text primary key,
  account_id text not null references accounts,
  region_id text not null references regions,
  host_id text references hosts,
  plan_id text references plans,
  os_template_id text not null references os_templates,
  uuid uuid not null unique,
  generation integer not null default 1,
  -- Every rebuild and restore allocates a number of its own for its disk, also when it fails, so that no leftover disk is mistaken for
  -- another's.
  last_generation integer not null default 1,
  name text not null,
  hostname text not null,
  status text not null check (status in ('PROVISIONING', 'RUNNING', 'STOPPED', 'SUSPENDED', 'REBUILDING', 'UPGRADING', 'UNMANAGED', 'ERROR')),
  status_reason text,
  readiness text not null default 'booting' check (readiness in ('booting', 'reachable')),
  -- The power state the customer asked for: restored when a host returns or a suspension ends.
  desired_running boolean not null default true,
  -- A VM that was never provisioned holds no address, no capacity and no money.
  provisioned boolean not null default false,
  vcpu integer not null,
  ram_mib integer not null,
  disk_gib integer not null,
  bandwidth_gb integer not null,
  network_mbps integer not null,
  throttle_mbps integer not null,
  custom_price_cents bigint,
  network_10g boolean not null,
  -- Until when each add-on is paid for: disabled and enabled again it is not charged twice.
  network_10g_paid_until timestamptz,
  daily_backup boolean not null,
  daily_backup_paid_until timestamptz,
  is_protected boolean not null,
  ip_address inet unique,
  address_pool_id text references address_pools,
  mac macaddr unique,
  billing_status text not null default 'ACTIVE' check (billing_status in ('ACTIVE', 'PAST_DUE', 'SUSPENDED', 'CANCELLED')),
  -- The day of the month of the purchase: 31 stays 31 although some months are shorter.
  renewal_day smallint not null,
  period_started_at timestamptz not null,
  -- The price of a full month at the rate of the current billing period: upgrades and refunds are prorated from it.
  period_price_cents bigint not null check (period_price_cents >= 0),
  next_renewal_at timestamptz not null,
  past_due_at timestamptz,
  suspended_at timestamptz,
  bandwidth_pack_bytes bigint not null default 0 check (bandwidth_pack_bytes >= 0),
  throttled_at timestamptz,
  -- A power state on the host that differs from the record, and when it was first observed: applied at the second observation.
  observed_power text,
  observed_at timestamptz,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((host_id is null) = (ip_address is null)),
  check (plan_id is not null or custom_price_cents is not null)
) with (fillfactor = 90);
create index vms_account on vms (account_id, id desc);
create index vms_account_status on vms (account_id, status, id desc);
create index vms_host on vms (host_id);
create index vms_renewal on vms (next_renewal_at);
create index vms_daily_backup on vms (id) where daily_backup;
create index vms_unpaid on vms (id) where billing_status = 'SUSPENDED';

-- Domains of VMs that were evacuated from an unreachable host. They are removed when the host returns.
create table stale_machines (
  host_id text not null references hosts on delete cascade,
  vm_id text not null,
  next_attempt_at timestamptz not null,
  primary key (host_id, vm_id)
);

-- Private interfaces that a domain still has after its VM returned to a lost host, and that the VM no longer has: the network was deleted,
-- or the address was allocated to another VM. They are detached when the host answers.
create table stale_nics (
  host_id text not null references hosts on delete cascade,
  vm_id text not null,
  mac macaddr not null,
  primary key (host_id, vm_id, mac)
);
