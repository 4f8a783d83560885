-- What a host is found to be when it is registered, and when it left the fleet: one that still has VMs of ours, unmanaged, keeps its row.
alter table hosts
  add column arch text,
  add column acceleration text check (acceleration in ('kvm', 'emulation')),
  add column removed_at timestamptz;
