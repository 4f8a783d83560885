-- Hypervisor hosts; the public API calls them nodes. The `used` columns change in the transaction that places or releases a VM.
-- A removed host that still has unmanaged VMs keeps its row.
create table hosts (
  id text primary key,
  region_id text not null references regions,
  name text not null unique,
  driver text not null check (driver in ('libvirt', 'simulated')),
  uri text not null,
  arch text,
  acceleration text check (acceleration in ('kvm', 'emulation')),
  -- False where the kernel lacks the traffic control modules. Unknown counts as true: most hosts have them.
  can_shape_traffic boolean not null default true,
  vcpu_total integer not null check (vcpu_total > 0),
  ram_total_mib integer not null check (ram_total_mib > 0),
  disk_total_gib integer not null check (disk_total_gib > 0),
  vcpu_overcommit real not null default 4 check (vcpu_overcommit >= 1),
  vcpu_used integer not null default 0 check (vcpu_used >= 0),
  ram_used_mib integer not null default 0 check (ram_used_mib between 0 and ram_total_mib),
  disk_used_gib integer not null default 0 check (disk_used_gib between 0 and disk_total_gib),
  maintenance boolean not null default false,
  last_seen_at timestamptz,
  unreachable_since timestamptz,
  reachable_since timestamptz,
  removed_at timestamptz,
  created_at timestamptz not null,
  check (vcpu_used <= vcpu_total * vcpu_overcommit)
);
create index hosts_region on hosts (region_id);

-- Pools of public addresses.
create table address_pools (
  id text primary key,
  region_id text not null references regions,
  host_id text references hosts,
  cidr cidr not null,
  gateway inet not null,
  dns text[] not null,
  created_at timestamptz not null,
  exclude using gist (cidr inet_ops with &&)
);

-- Each free address is a row: allocation deletes one from a random start, which stays fast when most are allocated. A released address
-- is not allocated again before `available_at`.
-- No foreign key: pools are never deleted, and checking 65,000 rows of the first pool took as long as the rest of the first start.
create table free_addresses (
  address inet primary key,
  pool_id text not null,
  available_at timestamptz not null
);
create index free_addresses_pool on free_addresses (pool_id, address);
