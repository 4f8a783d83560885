-- Hosts that are emptied: their VMs are migrated to other hosts of the region.
create table drains (
  id text primary key,
  host_id text not null references hosts on delete cascade,
  status text not null default 'RUNNING' check (status in ('RUNNING', 'COMPLETED', 'INCOMPLETE', 'CANCELLED')),
  -- VMs that cannot move while they run are stopped, moved, and started again.
  stops_others boolean not null,
  -- Migrations at a time from the host, and to each other host.
  concurrency smallint not null check (concurrency between 1 and 16),
  -- VMs on the host at the beginning.
  vm_count integer not null,
  -- What was not moved and why, once it has ended.
  remaining jsonb,
  created_at timestamptz not null,
  ended_at timestamptz
);
create unique index drains_one_open on drains (host_id) where status = 'RUNNING';
create index drains_host on drains (host_id, created_at);

-- The migrations that a drain has started.
create table drain_moves (
  run_id text primary key references workflow_runs on delete cascade,
  drain_id text not null references drains on delete cascade,
  vm_id text not null,
  vm_name text not null
);
create index drain_moves_drain on drain_moves (drain_id);

-- Maintenances of hosts that were announced to customers.
create table maintenances (
  id text primary key,
  host_id text not null references hosts on delete cascade,
  text text not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > starts_at),
  cancelled_at timestamptz,
  created_at timestamptz not null
);
create index maintenances_host on maintenances (host_id);

-- The accounts that were told: those with VMs on the host at the time.
create table maintenance_accounts (
  maintenance_id text not null references maintenances on delete cascade,
  account_id text not null references accounts,
  primary key (maintenance_id, account_id)
);
create index maintenance_accounts_account on maintenance_accounts (account_id);
