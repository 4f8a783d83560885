-- What object lock keeps of backups that are gone, and no other needs, counts in the quota of the account that made them.
alter table backup_repositories add column account_id text references accounts;
alter table backup_repositories add column locked_gib integer not null default 0;
-- At the latest.
alter table backup_repositories add column locked_until timestamptz;
update backup_repositories r set account_id = coalesce((select v.account_id from vms v where v.id = r.vm_id),
  (select b.account_id from backups b where b.vm_id = r.vm_id limit 1));
create index backup_repositories_locked on backup_repositories (account_id) where locked_gib > 0;

-- The sum of its restore_rooms: a statement that waits for the row of a host or storage backend sees the newest of that row, but nothing that others have
-- written to other tables since it began.
alter table hosts add column disk_restoring_gib integer not null default 0;
alter table storage_backends add column restoring_gib integer not null default 0;
update hosts h set disk_restoring_gib = r.gib from (select host_id, sum(gib) as gib from restore_rooms group by host_id) r where r.host_id = h.id;
update storage_backends s set restoring_gib = r.gib from (select storage_id, sum(gib) as gib from restore_rooms group by storage_id) r where r.storage_id = s.id;

create function count_restore_room() returns trigger language plpgsql as $$
declare
  room restore_rooms := coalesce(new, old);
  more integer := case when tg_op = 'INSERT' then new.gib else -old.gib end;
begin
  update storage_backends set restoring_gib = restoring_gib + more where id = room.storage_id;
  update hosts set disk_restoring_gib = disk_restoring_gib + more where id = room.host_id;
  return null;
end $$;
create trigger count_restore_room after insert or delete on restore_rooms for each row execute function count_restore_room();

-- A VM whose daily backups are to be scheduled is due since -infinity, so that the sweep finds it by the index of due ones; one that has none any more is
-- due at infinity.
create function reschedule_backups() returns trigger language plpgsql as $$
begin
  insert into backup_schedules (vm_id, next_at) values (to_jsonb(new) ->> tg_argv[0], '-infinity')
  on conflict (vm_id) do update set next_at = excluded.next_at;
  return null;
end $$;
create trigger schedule_backups after insert on vms for each row when (new.daily_backup) execute function reschedule_backups('id');
create trigger reschedule_backups after update of daily_backup on vms for each row when (new.daily_backup and not old.daily_backup)
  execute function reschedule_backups('id');
create trigger schedule_backups after insert on backup_policies for each row when (new.hour is not null) execute function reschedule_backups('vm_id');
create trigger reschedule_backups after update of hour on backup_policies for each row when (new.hour is distinct from old.hour)
  execute function reschedule_backups('vm_id');
insert into backup_schedules (vm_id, next_at) select id, '-infinity' from vms where daily_backup on conflict do nothing;
update backup_schedules s set next_at = '-infinity' from backup_policies p where p.vm_id = s.vm_id and p.hour is distinct from s.hour;
