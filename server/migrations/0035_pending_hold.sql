-- What is done to the VM as soon as its open action has ended. Until then it accepts no new one but stop and delete, so that no loop of
-- actions keeps a VM from being suspended.
alter table vms add column pending_hold text check (pending_hold in ('UNPAID', 'SUSPEND', 'UNMANAGE'));
create index vms_pending_hold on vms (id) where pending_hold is not null;
