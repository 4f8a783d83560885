-- A row is there before its data and goes after it; FAILED has none.
create table backups (
  id text primary key,
  vm_id text not null references vms on delete cascade,
  account_id text not null references accounts,
  -- What was installed when it was made: a restore makes the VM that again.
  os_template_id text not null references os_templates,
  name text not null,
  type text not null check (type in ('DAILY', 'MANUAL')),
  status text not null default 'PENDING' check (status in ('PENDING', 'RUNNING', 'AVAILABLE', 'RESTORING', 'DELETING', 'FAILED')),
  -- The backup that this one holds only the changes to, which has to outlive it; `depth` counts how many stand below it.
  parent_id text references backups,
  depth smallint not null default 0,
  size_bytes bigint not null default 0 check (size_bytes >= 0),
  -- The action that made it or restores it: its data stays until that has ended.
  run_id text not null,
  started_at timestamptz,
  completed_at timestamptz,
  expires_at timestamptz,
  error text,
  delete_reason text,
  -- Deleted for its owner, and kept only for the sake of those that build on it.
  is_hidden boolean not null default false,
  next_try_at timestamptz,
  created_at timestamptz not null
);
create index backups_vm on backups (vm_id, id desc);
create index backups_parent on backups (parent_id) where parent_id is not null;
create index backups_under_way on backups (vm_id) where status in ('PENDING', 'RUNNING');
create index backups_deleting on backups (vm_id) where status = 'DELETING';
create index backups_expiry on backups (expires_at) where status = 'AVAILABLE';

-- When the next daily backup of a VM is due, or its next try.
create table backup_schedules (
  vm_id text primary key references vms on delete cascade,
  next_at timestamptz not null,
  failures smallint not null default 0
);
create index backup_schedules_next on backup_schedules (next_at);
create index vms_daily_backup on vms (id) where daily_backup;

-- Volumes that were seen on a host and that nobody knows, or no longer needs: quarantined, then removed.
create table stray_volumes (
  host_id text not null references hosts on delete cascade,
  kind text not null,
  id text not null,
  vm_id text,
  -- Zero for what has none.
  generation integer not null,
  size_bytes bigint not null,
  -- An old disk of a VM that lives here, rather than something unknown.
  is_old_disk boolean not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (host_id, kind, id, generation)
);
