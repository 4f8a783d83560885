-- What the machine of a running VM can grow to without a restart, as its host said when it was started; null: nothing.
alter table vms add column room_vcpu integer, add column room_ram_mib integer;

alter table simulated.machines add column room_vcpu integer, add column room_ram_mib integer;
