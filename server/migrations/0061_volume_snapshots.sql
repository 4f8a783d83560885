-- A restore begins the next generation of a volume; a number that was once used names other data, and is not used again.
alter table volumes add column generation integer not null default 0, add column last_generation integer not null default 0,
  add check (generation between 0 and last_generation);

-- Snapshots of volumes: files on the host of a LOCAL one, snapshots of Ceph in the storage backend of a REPLICATED one. They count as those of VMs.
create table volume_snapshots (
  id text primary key,
  volume_id text not null references volumes on delete cascade,
  name text not null,
  description text not null,
  status text not null default 'CREATING' check (status in ('CREATING', 'AVAILABLE', 'RESTORING', 'DELETING', 'FAILED')),
  -- Of the volume when it was taken.
  size_gib integer not null check (size_gib > 0),
  size_bytes bigint not null default 0,
  size_refreshed_at timestamptz,
  counted_gib integer not null check (counted_gib >= 0),
  -- The monthly price at which the rest of the volume's period is paid; part of its `period_price_cents`.
  price_cents bigint not null default 0 check (price_cents >= 0),
  missing_since timestamptz,
  created_at timestamptz not null
);
create index volume_snapshots_volume on volume_snapshots (volume_id, id desc);
