-- The disk that the backup is of: a VM that is made from it needs one as large. Null before: then it is that of its VM at most.
alter table backups add column disk_gib integer check (disk_gib > 0);
