-- A backup is on a host or in a backup target. One in a target has no parent: it needs no other to be restored.
alter table backups alter column host_id drop not null;
alter table backups add column target_id text references backup_targets;
alter table backups add constraint backups_place check ((host_id is null) <> (target_id is null));
create index backups_target on backups (target_id) where target_id is not null;

-- Where the backups of a VM lie in a target. It outlives the VM until they are gone.
create table backup_repositories (
  id text primary key,
  target_id text not null references backup_targets,
  vm_id text not null,
  -- Content that no backup needs is deleted then; null: there is none.
  sweep_at timestamptz,
  -- One process at a time deletes.
  claimed_until timestamptz,
  created_at timestamptz not null,
  unique (target_id, vm_id)
);
create index backup_repositories_sweep on backup_repositories (sweep_at) where sweep_at is not null;
