-- When daily backups of a VM are made and how many are kept. Without a row: at a time of its own, and seven.
create table backup_policies (
  vm_id text primary key references vms on delete cascade,
  -- UTC; null: a time of its own at night.
  hour smallint check (hour between 0 and 23),
  keep_daily smallint not null check (keep_daily between 1 and 31),
  keep_weekly smallint not null check (keep_weekly between 0 and 53),
  keep_monthly smallint not null check (keep_monthly between 0 and 24)
);

-- The hour of the policy that next_at was chosen by.
alter table backup_schedules add column hour smallint;

-- A daily backup beyond the seven that the add-on pays for. It costs as much as one on demand, from the next renewal on.
alter table backups add column is_extra boolean not null default false;

create or replace function copies_price_cents(vm text) returns bigint stable language sql as $$
  select (select value from catalog_values where name = 'price.copies_gib') * (
    (select coalesce(sum(counted_gib), 0) from snapshots where vm_id = vm and status in ('AVAILABLE', 'RESTORING'))
    + (select coalesce(sum(counted_gib), 0) from backups
        where vm_id = vm and (type = 'MANUAL' or is_extra) and status in ('AVAILABLE', 'RESTORING')))
$$;
