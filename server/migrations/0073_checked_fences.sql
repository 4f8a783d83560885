-- The UUID by which the power controller of a host knows the system that it may switch off: compared with the host's own when it was set. Null
-- where an older version has set it: then nothing is switched off.
alter table hosts add column power_system_uuid text;

-- For where else a machine of a VM may be: with many lost hosts there are thousands.
create index stale_machines_vm on stale_machines (vm_id);

-- VMs on replicated storage whose start on another host failed, after theirs was lost: it is tried again.
create table failed_recoveries (
  vm_id text primary key references vms on delete cascade,
  -- The host that was lost.
  source_id text not null,
  failures integer not null check (failures > 0),
  next_attempt_at timestamptz not null
);
