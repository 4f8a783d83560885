-- What is to be purged, among however many backups there are.
create index backups_unwanted on backups (host_id, target_id, vm_id) where status = 'DELETING' or status = 'FAILED' and is_tombstone;
