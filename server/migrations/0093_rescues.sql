-- VMs that run a rescue system instead of their own, to mend that: from a disk of its own, whose number no other disk of the VM has.
create table vm_rescues (
  vm_id text primary key references vms on delete cascade,
  generation integer not null,
  template_id text not null references os_templates,
  -- Room that its disk takes, where the disk of the VM is.
  gib integer not null,
  host_id text,
  storage_id text,
  -- Null until it runs.
  started_at timestamptz,
  ends_at timestamptz,
  -- When its end is tried again, of one that is over.
  next_attempt_at timestamptz,
  check ((host_id is null) <> (storage_id is null))
);
create index vm_rescues_ends on vm_rescues (ends_at);
create index vm_rescues_template on vm_rescues (template_id);

-- As of restores: a statement that waits for the row of a host or storage backend sees the newest of that row alone.
create function count_rescue_room() returns trigger language plpgsql as $$
declare
  room vm_rescues := coalesce(new, old);
  more integer := case when tg_op = 'INSERT' then new.gib else -old.gib end;
begin
  update storage_backends set restoring_gib = restoring_gib + more where id = room.storage_id;
  update hosts set disk_restoring_gib = disk_restoring_gib + more where id = room.host_id;
  return null;
end $$;
create trigger count_rescue_room after insert or delete on vm_rescues for each row execute function count_rescue_room();

alter table simulated.machines add column rescue_generation integer;
