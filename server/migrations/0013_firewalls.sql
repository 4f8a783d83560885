create table firewalls (
  id text primary key,
  account_id text not null references accounts,
  name text not null,
  description text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (id, account_id)
);
create index firewalls_account on firewalls (account_id, id desc);

-- Positions run from 1 without a gap. They are compared at the commit, so that rules can change places.
create table firewall_rules (
  id text primary key,
  firewall_id text not null references firewalls on delete cascade,
  position integer not null check (position > 0),
  direction text not null check (direction in ('IN', 'OUT')),
  action text not null check (action in ('ACCEPT', 'DROP', 'REJECT')),
  protocol text not null check (protocol in ('TCP', 'UDP', 'ICMP', 'ICMPV6', 'ANY')),
  -- Null: all ports.
  port text check (port is null or protocol in ('TCP', 'UDP')),
  source_ips text[] not null,
  dest_ips text[] not null,
  description text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (firewall_id, position) deferrable initially deferred
);

-- The position is the order in which a VM's firewalls are asked.
create table firewall_bindings (
  firewall_id text not null,
  vm_id text not null,
  account_id text not null,
  position integer not null,
  created_at timestamptz not null,
  primary key (firewall_id, vm_id),
  unique (vm_id, position),
  foreign key (firewall_id, account_id) references firewalls (id, account_id)
);

-- One packet filter per VM, made of all its firewalls. `wanted` counts the changes, `applied` is the count the host has.
create table vm_filters (
  vm_id text primary key,
  host_id text not null references hosts,
  account_id text not null references accounts,
  wanted integer not null default 1,
  applied integer,
  applied_at timestamptz,
  error text,
  -- False until whoever builds the VM has put the first filter on the host, and again when the VM is about to go.
  is_live boolean not null default false,
  claimed_until timestamptz,
  next_try_at timestamptz
);
create index vm_filters_pending on vm_filters (host_id) where is_live and applied is distinct from wanted;
create index vm_filters_host on vm_filters (host_id);
