-- Backups are proved: one is restored into a guest of its own, without any interface, which must boot.

-- BOOTED: its guest agent answered. RUNNING: it ran until the deadline, and no agent answered. Null: not tried yet.
alter table backups add column verification text check (verification in ('BOOTED', 'RUNNING', 'FAILED'));
alter table backups add column verified_at timestamptz;
alter table backups add column verification_error text;
alter table backups add column restore_seconds real;
alter table backups add column boot_seconds real;
create index backups_unproved on backups (id) where verification = 'FAILED';

-- The guests that are on hosts for this now: no VMs, so they are in no list and no quota. Each is booked on its host, one on a host. A row
-- outlives its run only while something of the guest may be left.
create table backup_proofs (
  -- Of the machine on the host.
  id text primary key,
  backup_id text not null,
  vm_id text not null,
  host_id text not null unique references hosts on delete cascade,
  run_id text not null,
  -- All zero: the room was given to a VM, and the proof is being stopped.
  vcpu integer not null,
  ram_mib integer not null,
  disk_gib integer not null,
  started_at timestamptz not null
);
create index backup_proofs_vm on backup_proofs (vm_id);

-- When a backup of the VM is to be proved next.
create table backup_proof_times (
  vm_id text primary key references vms on delete cascade,
  next_at timestamptz not null
);
create index backup_proof_times_next on backup_proof_times (next_at);
insert into backup_proof_times (vm_id, next_at)
  select distinct b.vm_id, now() from backups b join vms v on v.id = b.vm_id where b.status = 'AVAILABLE';

-- What the screen of the guest showed.
create table backup_screenshots (
  backup_id text primary key references backups on delete cascade,
  taken_at timestamptz not null,
  png bytea not null check (octet_length(png) <= 524288)
);
