-- Where the data of a backup lies: on another host than its VM's where there is one, so that losing a host does not lose both.
alter table backups add column host_id text references hosts;
update backups b set host_id = v.host_id from vms v where v.id = b.vm_id;
delete from backups where host_id is null;
alter table backups alter column host_id set not null;
-- Of its file, once it was carried to another host.
alter table backups add column checksum text;
-- It outlives its VM until its data is gone.
alter table backups drop constraint backups_vm_id_fkey;
create index backups_host on backups (host_id);
drop index backups_deleting;
create index backups_deleting on backups (host_id) where status = 'DELETING';

-- Machines of VMs that were brought back on another host while theirs was lost. When it returns they are removed.
create table left_machines (
  host_id text not null references hosts on delete cascade,
  vm_id text not null,
  left_at timestamptz not null,
  primary key (host_id, vm_id)
);
