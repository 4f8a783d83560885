-- An action ended without an answer of the host, where it may have started the machine: while it may run there, no other writes to its disk.
alter table stale_machines add column may_run boolean not null default false;
