-- What the VMs of a host used in a minute, in one row instead of one for each VM: 28 bytes for each slot of the host, seven float4 (features/metrics/points.ts).
-- metrics_1m and metrics_counters are written no more; what metrics_1m has is read until it expires.
create table metrics_minutes (
  host_id text not null,
  at timestamptz not null,
  points bytea not null,
  primary key (host_id, at)
) partition by range (at);
alter table metrics_minutes alter column points set storage external; -- uncompressed: one VM is read without the others

-- Where a VM is in the rows of a host. A slot is another VM's only after all that it was is gone.
create table metrics_slots (
  host_id text not null,
  slot integer not null,
  vm_id text not null,
  since timestamptz not null, -- the first minute
  left_at timestamptz, -- the VM is on that host no more: minutes from then on are not its own
  primary key (host_id, slot),
  unique (host_id, vm_id)
);
create index metrics_slots_vm on metrics_slots (vm_id);

-- The counters of a host's VMs at its last sample, by slot, for whichever worker takes the next one.
create table metrics_samples (
  host_id text primary key references hosts on delete cascade,
  sampled_at timestamptz not null,
  counters bytea not null
);
alter table metrics_samples alter column counters set storage external;

-- Up to when metrics_minutes has been rolled up; before its first time, as far as metrics_1m. The version before moves `until` and knows nothing of these.
alter table metrics_rollup add column minutes_until timestamptz;
