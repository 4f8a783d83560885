-- Daily backups that outlive the add-on that paid for them cost as much as those on demand.
create or replace function copies_price_cents(vm text) returns bigint stable language sql as $$
  select (select value from catalog_values where name = 'price.copies_gib') * (
    (select coalesce(sum(counted_gib), 0) from snapshots where vm_id = vm and status in ('AVAILABLE', 'RESTORING'))
    + (select coalesce(sum(counted_gib), 0) from backups
        where vm_id = vm and status in ('AVAILABLE', 'RESTORING')
          and (type = 'MANUAL' or is_extra or not (select daily_backup from vms where id = vm))))
$$;

-- When the last daily backup was made: another hour does not bring the next one at once.
alter table backup_schedules add column done_at timestamptz;
