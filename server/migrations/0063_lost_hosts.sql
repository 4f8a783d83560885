-- When an operator declared it destroyed, with its disks: it never runs a VM again, and is removed as well.
alter table hosts add column lost_at timestamptz;
alter table hosts add check (lost_at is null or removed_at is not null);

-- When its disk was last lost with its host, without a backup: what was paid until then is kept.
alter table vms add column lost_at timestamptz;

-- Backups of the control plane itself in a backup target.
create table control_plane_backups (
  target_id text primary key references backup_targets on delete cascade,
  -- How long daily ones are kept; null: none are made daily.
  keep_days integer check (keep_days between 1 and 3650),
  next_at timestamptz not null,
  claimed_until timestamptz,
  -- What may be unfinished in the bucket.
  upload_id text,
  -- When the last one was stored.
  done_at timestamptz,
  -- Of the last try, if it failed.
  error text,
  created_at timestamptz not null
);
