-- A row exists before its data and is deleted after it; a FAILED snapshot has no data.
create table snapshots (
  id text primary key,
  vm_id text not null references vms on delete cascade,
  account_id text not null references accounts,
  -- What was installed at the time: a restore brings the VM back to it.
  os_template_id text not null references os_templates,
  name text not null,
  description text not null,
  status text not null default 'CREATING' check (status in ('CREATING', 'AVAILABLE', 'RESTORING', 'DELETING', 'FAILED')),
  size_bytes bigint not null default 0 check (size_bytes >= 0),
  size_refreshed_at timestamptz,
  -- When the data was first not found on its host. Still missing at the next check, the snapshot is FAILED.
  missing_since timestamptz,
  created_at timestamptz not null
);
create index snapshots_vm on snapshots (vm_id, id desc);
