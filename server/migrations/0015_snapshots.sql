-- Copies of a disk that its owner asked for. A row is there before its data and goes after it; FAILED has none.
create table snapshots (
  id text primary key,
  vm_id text not null references vms on delete cascade,
  account_id text not null references accounts,
  -- What was installed when it was taken: a restore makes the VM that again.
  os_template_id text not null references os_templates,
  name text not null,
  description text not null,
  status text not null default 'CREATING' check (status in ('CREATING', 'AVAILABLE', 'RESTORING', 'DELETING', 'FAILED')),
  size_bytes bigint not null default 0 check (size_bytes >= 0),
  size_refreshed_at timestamptz,
  created_at timestamptz not null
);
create index snapshots_vm on snapshots (vm_id, id desc);

-- Every rebuild and restore takes a number of its own for its disk, also when it fails: what it left behind is never taken for another's.
alter table vms add column last_generation integer not null default 1;
update vms set last_generation = generation;
