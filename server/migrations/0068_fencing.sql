-- How long every known path to a host must be silent until it counts as lost, and whether it is then fenced, and its VMs on replicated storage
-- started elsewhere, without an operator.
alter table regions add column lost_after_seconds integer not null default 60 check (lost_after_seconds between 10 and 3600);
alter table regions add column auto_recovery boolean not null default false;

-- Its power controller (Redfish); the password is sealed. `power_ca`: the certificate of the controller, or of who issued it, in PEM.
alter table hosts add column power_url text;
alter table hosts add column power_user text;
alter table hosts add column sealed_power_password bytea;
alter table hosts add column power_ca text;
alter table hosts add check ((power_url is null) = (power_user is null) and (power_url is null) = (sealed_power_password is null));

-- When it was verified that it no longer writes to storage backends; null again when it has come back and was cleaned.
alter table hosts add column fenced_at timestamptz;

-- Ways beside that of libvirt (hosts.last_seen_at) by which an unreachable host may show that it lives: as a chassis of the network controller,
-- and as a client of storage backends.
create table host_paths (
  host_id text not null references hosts on delete cascade,
  path text not null check (path in ('CHASSIS', 'STORAGE')),
  seen_at timestamptz,
  -- Null while it is seen, or cannot be asked.
  silent_since timestamptz,
  -- Why it cannot be asked.
  problem text,
  primary key (host_id, path)
);

-- Who had which images of the VMs of a host open, as Ceph knows them.
create table host_storage_clients (
  host_id text not null references hosts on delete cascade,
  storage_id text not null references storage_backends on delete cascade,
  -- A VM or a volume.
  owner_id text not null,
  address text not null,
  nonce bigint not null,
  -- Not while the VM may be moving from or to another host, whose client it might be.
  is_certain boolean not null,
  seen_at timestamptz not null,
  primary key (host_id, storage_id, owner_id, address, nonce)
);

-- Machines that workers run on, by address: none of them is blocked as a whole.
create table worker_addresses (
  address text primary key,
  seen_at timestamptz not null
);

-- A host that is to be fenced, or is.
create table host_fences (
  host_id text primary key references hosts on delete cascade,
  requested_at timestamptz not null,
  -- Whether the VMs of the host are to be started elsewhere.
  recovers boolean not null,
  -- What has been verified.
  means text[] not null default '{}',
  -- Of the last try, if it failed.
  error text,
  next_attempt_at timestamptz not null
);

-- What was blocked in which storage backend, as Ceph writes it.
create table host_blocks (
  host_id text not null references host_fences on delete cascade,
  storage_id text not null references storage_backends on delete cascade,
  client text not null,
  primary key (host_id, storage_id, client)
);

create table simulated.blocklist (
  storage_id text not null,
  client text not null,
  primary key (storage_id, client)
);

-- Which hosts have a machine of a VM.
create index machines_vm on simulated.machines (vm_id);
