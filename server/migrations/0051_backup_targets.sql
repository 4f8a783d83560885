-- Where the backups of a region's VMs go.
create table backup_targets (
  id text primary key,
  region_id text not null unique references regions,
  kind text not null check (kind = 's3'),
  endpoint text not null,
  bucket text not null,
  -- Of every key: empty, or with a slash at its end.
  prefix text not null,
  -- As signatures of requests name it.
  region_name text not null,
  access_key text not null,
  -- Sealed by the master key.
  secret_key bytea not null,
  -- Null: as fast as it goes.
  bandwidth_mib integer check (bandwidth_mib > 0),
  -- Null: without object lock.
  lock_days integer check (lock_days > 0),
  created_at timestamptz not null
);
