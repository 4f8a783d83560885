-- Machines that run VMs; the public API calls them nodes. Used counters change in the transaction that places or releases a VM.
create table hosts (
  id text primary key,
  region_id text not null references regions,
  name text not null unique,
  driver text not null check (driver in ('libvirt', 'simulated')),
  uri text not null,
  vcpu_total integer not null check (vcpu_total > 0),
  ram_total_mib integer not null check (ram_total_mib > 0),
  disk_total_gib integer not null check (disk_total_gib > 0),
  vcpu_overcommit real not null default 4 check (vcpu_overcommit >= 1),
  vcpu_used integer not null default 0 check (vcpu_used >= 0),
  ram_used_mib integer not null default 0 check (ram_used_mib between 0 and ram_total_mib),
  disk_used_gib integer not null default 0 check (disk_used_gib between 0 and disk_total_gib),
  maintenance boolean not null default false,
  last_seen_at timestamptz,
  created_at timestamptz not null,
  check (vcpu_used <= vcpu_total * vcpu_overcommit)
);
create index hosts_region on hosts (region_id);
