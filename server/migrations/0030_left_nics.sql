-- Private interfaces that a machine still had when its VM returned to a host that was lost, and that the VM has no more: its network was
-- deleted, or its address given to another VM. They are unplugged when the host answers.
create table left_nics (
  host_id text not null references hosts on delete cascade,
  vm_id text not null,
  mac macaddr not null,
  primary key (host_id, vm_id, mac)
);
