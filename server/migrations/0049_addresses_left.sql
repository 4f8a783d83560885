-- When the VM that had the address was deleted on an unreachable host, where it may still run and answer at it.
alter table addresses add column left_at timestamptz;
