-- When a copy was first not found on the host that should have it. Found missing again, it is FAILED.
alter table snapshots add column missing_since timestamptz;
alter table backups add column missing_since timestamptz;
