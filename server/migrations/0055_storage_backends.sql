-- Pools of Ceph that hold disks apart from hosts. The key is sealed by the master key. What can be written, after replication and below Ceph's
-- own full ratio, is measured; null until it was.
create table storage_backends (
  id text primary key,
  region_id text not null references regions,
  name text not null unique,
  kind text not null default 'RBD' check (kind in ('RBD')),
  monitors text[] not null check (cardinality(monitors) > 0),
  pool text not null,
  user_name text not null,
  sealed_key bytea not null,
  reserve_percent integer not null default 10 check (reserve_percent between 0 and 90),
  capacity_gib integer check (capacity_gib >= 0),
  free_gib integer check (free_gib >= 0),
  measured_at timestamptz,
  unreachable_since timestamptz,
  created_at timestamptz not null
);
create index storage_backends_region on storage_backends (region_id);
