-- State of the simulated hypervisor: what a real host keeps in its own files. Only hypervisor/simulated reads or writes it, and it
-- refers to no table of the product, as a host does not. Every key starts with the host; every method looks up by key.
create schema simulated;

create table simulated.hosts (
  host_id text primary key,
  disk_total_bytes bigint not null,
  disk_used_bytes bigint not null default 0 check (disk_used_bytes >= 0),
  is_full boolean not null default false,
  is_gone boolean not null default false
);

-- `name` is the VM's id, or any name for a machine created by hand.
create table simulated.machines (
  host_id text not null,
  name text not null,
  vm_id text,
  account_id text,
  uuid uuid not null,
  generation integer,
  vcpu integer not null,
  ram_mib integer not null,
  has_agent boolean not null,
  power text not null default 'stopped' check (power in ('running', 'stopped', 'paused')),
  stop_reason text check (stop_reason in ('user', 'guest', 'crash', 'host')),
  -- Identifies the process that runs it: a reboot from inside the guest keeps it, a stop and start does not.
  epoch bigint not null default 0,
  started_at timestamptz,
  booted_at timestamptz,
  last_restart_id text,
  -- A guest that neither boots nor reacts to ACPI.
  is_stuck boolean not null default false,
  primary key (host_id, name),
  unique (host_id, uuid)
);

create sequence simulated.epochs;

create table simulated.networks (
  host_id text not null,
  network_id text not null,
  cidr cidr not null,
  gateway text,
  enable_snat boolean not null,
  enable_dhcp boolean not null,
  primary key (host_id, network_id),
  exclude using gist (host_id with =, cidr inet_ops with &&) where (enable_snat or enable_dhcp)
);

-- Traffic is computed when it is read: the bytes so far, plus a rate since `counted_at` (null while nothing flows).
create table simulated.nics (
  host_id text not null,
  machine text not null,
  mac text not null,
  kind text not null check (kind in ('public', 'private')),
  network_id text,
  address text not null,
  limit_mbps integer,
  epoch bigint not null default 0,
  bytes_per_second integer not null,
  received_bytes bigint not null default 0,
  sent_bytes bigint not null default 0,
  counted_at timestamptz,
  primary key (host_id, machine, mac),
  foreign key (host_id, machine) references simulated.machines on delete cascade,
  foreign key (host_id, network_id) references simulated.networks
);
create index nics_network on simulated.nics (host_id, network_id) where network_id is not null;

create table simulated.filters (
  host_id text not null,
  vm_id text not null,
  filter jsonb not null,
  primary key (host_id, vm_id)
);

-- Disks, seeds, snapshots, backups and templates. `content` is what a guest would read from it.
create table simulated.volumes (
  host_id text not null,
  name text not null,
  kind text not null check (kind in ('disk', 'seed', 'snapshot', 'backup', 'template')),
  id text not null,
  vm_id text,
  generation integer,
  parent text,
  is_complete boolean not null default false,
  capacity_bytes bigint not null,
  size_bytes bigint not null,
  content jsonb not null default '{}',
  -- Backups for which the host has a dirty bitmap of this disk.
  checkpoints text[] not null default '{}',
  primary key (host_id, name)
);
create index volumes_vm on simulated.volumes (host_id, vm_id) where vm_id is not null;
create index volumes_parent on simulated.volumes (host_id, parent) where parent is not null;

-- Injected faults: for the calls from `first_call` to `last_call` of the verb (`*` = any).
create table simulated.faults (
  id bigint generated always as identity primary key,
  host_id text not null,
  verb text not null,
  kind text not null check (kind in ('transient', 'permanent', 'guest_failed', 'halfway', 'lost_answer', 'hang')),
  calls integer not null default 0,
  first_call integer not null,
  last_call integer not null
);
create index faults_host on simulated.faults (host_id);
