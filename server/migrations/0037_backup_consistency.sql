-- Whether the guest's filesystems were frozen while the copy began. Null until it is available, and for backups of older releases.
alter table backups add column consistency text check (consistency in ('FILESYSTEM', 'CRASH'));
