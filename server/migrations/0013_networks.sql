-- Private networks. Each exists on one host. A deleted network disappears from the API at once; its row stays until the host has removed
-- it, because only then is the range free again on that host.
create table networks (
  id text primary key,
  account_id text not null references accounts,
  region_id text not null references regions,
  host_id text not null references hosts,
  name text not null,
  cidr cidr not null check (family(cidr) = 4 and masklen(cidr) between 8 and 30),
  gateway inet check (gateway << cidr),
  enable_snat boolean not null,
  enable_dhcp boolean not null,
  -- The address allocated last. The search for the next one starts after it, so that released addresses are reused as late as possible.
  last_address inet,
  is_applied boolean not null default false,
  claimed_until timestamptz,
  next_try_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (id, account_id),
  constraint networks_gateway check (gateway is not null or not (enable_snat or enable_dhcp)),
  constraint networks_unique_on_host exclude using gist (host_id with =, cidr inet_ops with &&) where (enable_snat or enable_dhcp),
  constraint networks_unique_in_account exclude using gist (account_id with =, cidr inet_ops with &&) where (deleted_at is null)
);
create index networks_account on networks (account_id, id desc) where deleted_at is null;
create index networks_pending on networks (host_id) where not is_applied or deleted_at is not null;

create table network_attachments (
  network_id text not null,
  vm_id text not null,
  account_id text not null,
  mac macaddr not null unique,
  address inet not null,
  -- The order in which a VM was attached to its networks.
  number bigint generated always as identity,
  primary key (network_id, vm_id),
  unique (network_id, address),
  foreign key (network_id, account_id) references networks (id, account_id)
);
create index network_attachments_vm on network_attachments (vm_id, number);
