-- A row exists before its data and is deleted after it; a FAILED backup has no data. A backup outlives its VM until its data is purged.
create table backups (
  id text primary key,
  vm_id text not null,
  account_id text not null references accounts,
  -- The host that has the data: another host than the VM's where there is one, so that losing a host does not lose both.
  host_id text not null references hosts,
  -- What was installed at the time: a restore brings the VM back to it.
  os_template_id text not null references os_templates,
  name text not null,
  type text not null check (type in ('DAILY', 'MANUAL')),
  status text not null default 'PENDING' check (status in ('PENDING', 'RUNNING', 'AVAILABLE', 'RESTORING', 'DELETING', 'FAILED')),
  -- The backup that this one is incremental to, which must outlive it; `depth` is its distance from the full backup.
  parent_id text references backups,
  depth smallint not null default 0,
  size_bytes bigint not null default 0 check (size_bytes >= 0),
  -- Of its file, once it was transferred to another host.
  checksum text,
  -- The workflow run that creates or restores it: its data is not purged before that run has ended.
  run_id text not null,
  started_at timestamptz,
  completed_at timestamptz,
  expires_at timestamptz,
  error text,
  delete_reason text,
  -- Deleted for its owner, and kept only because incremental backups depend on it.
  is_tombstone boolean not null default false,
  next_try_at timestamptz,
  -- When the data was first not found on its host. Still missing at the next check, the backup is FAILED.
  missing_since timestamptz,
  created_at timestamptz not null
);
create index backups_vm on backups (vm_id, id desc);
create index backups_host on backups (host_id);
create index backups_parent on backups (parent_id) where parent_id is not null;
create index backups_under_way on backups (vm_id) where status in ('PENDING', 'RUNNING');
create index backups_deleting on backups (host_id) where status = 'DELETING';
create index backups_expiry on backups (expires_at) where status = 'AVAILABLE';

-- When the next daily backup of a VM, or its next attempt, is due.
create table backup_schedules (
  vm_id text primary key references vms on delete cascade,
  next_at timestamptz not null,
  failures smallint not null default 0
);
create index backup_schedules_next on backup_schedules (next_at);

-- Volumes found on a host that nothing owns or needs: quarantined, then removed.
create table orphan_volumes (
  host_id text not null references hosts on delete cascade,
  kind text not null check (kind in ('disk', 'seed', 'snapshot', 'backup', 'template')),
  id text not null,
  vm_id text,
  -- Zero for kinds without generations.
  generation integer not null,
  size_bytes bigint not null,
  -- A previous disk of a VM on this host, rather than an unknown volume.
  is_old_disk boolean not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (host_id, kind, id, generation)
);
