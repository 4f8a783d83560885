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

-- Positions are 1..n without gaps. The constraint is checked at commit, so that rules can swap positions.
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

-- The position is the order in which a VM's firewalls are evaluated.
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

-- One packet filter per VM, compiled from all its firewalls. Each change increments `desired_version`; the host has `applied_version`.
create table vm_filters (
  vm_id text primary key,
  host_id text not null references hosts,
  account_id text not null references accounts,
  desired_version integer not null default 1,
  applied_version integer,
  applied_at timestamptz,
  error text,
  -- False until the create workflow has applied the first filter, and again before the VM is deleted: the reconciler skips it then.
  is_managed boolean not null default false,
  claimed_until timestamptz,
  next_try_at timestamptz
);
create index vm_filters_pending on vm_filters (host_id) where is_managed and applied_version is distinct from desired_version;
create index vm_filters_host on vm_filters (host_id);
