-- Snapshots and backups count: against the account's quota `copies_gib`, the disk of their host, and, where the catalog has a price, the
-- wallet. A host's `disk_used_gib` now includes them, and they may exceed its disk where they were made before they counted.
alter table hosts drop constraint hosts_check1; -- disk_used_gib between 0 and disk_total_gib
alter table hosts add constraint hosts_disk_used_gib_check check (disk_used_gib >= 0);

-- Below the reserve nothing new is written. `disk_free_gib` is what the host measured last; null = unknown.
alter table hosts add column disk_reserve_percent integer not null default 5 check (disk_reserve_percent between 0 and 90);
alter table hosts add column disk_reserve_gib integer not null generated always as ((disk_total_gib * disk_reserve_percent + 99) / 100) stored;
alter table hosts add column disk_free_gib integer;

-- `price_cents` is the monthly price at which the rest of the current billing period is paid.
alter table snapshots add column host_id text references hosts on delete set null;
alter table snapshots add column counted_gib integer not null default 0 check (counted_gib >= 0);
alter table snapshots add column price_cents bigint not null default 0 check (price_cents >= 0);
alter table backups add column counted_gib integer not null default 0 check (counted_gib >= 0);
alter table backups add column price_cents bigint not null default 0 check (price_cents >= 0);
-- The VM's host, while the backup is made there and transferred to another: it needs room on both.
alter table backups add column staging_host_id text references hosts on delete set null;

update snapshots s set host_id = v.host_id, counted_gib = case when s.status = 'FAILED' or v.host_id is null then 0 else v.disk_gib end
from vms v where v.id = s.vm_id;
update backups b set counted_gib = case
  when status = 'FAILED' then 0
  when status in ('PENDING', 'RUNNING') or type = 'MANUAL' then greatest(ceil(size_bytes / 1073741824.0)::int, coalesce((select disk_gib from vms v where v.id = b.vm_id), 1))
  else greatest(ceil(size_bytes / 1073741824.0)::int, 1) end;
update hosts h set disk_used_gib = disk_used_gib
  + (select coalesce(sum(counted_gib), 0)::int from snapshots s where s.host_id = h.id)
  + (select coalesce(sum(counted_gib), 0)::int from backups b where b.host_id = h.id);
insert into account_quotas (account_id, name, used)
select account_id, 'copies_gib', sum(counted_gib) from (
  select account_id, counted_gib from snapshots union all select account_id, counted_gib from backups where not is_tombstone) c
group by account_id having sum(counted_gib) > 0;

-- The price of copies is part of the renewal. Daily backups are paid for by their add-on. Without a price the rows are not read.
create or replace view vm_details as
select v.id, v.account_id, v.region_id, v.host_id, v.plan_id, v.os_template_id, v.uuid, v.generation, v.last_generation, v.name, v.hostname,
  v.status, v.status_reason, v.readiness, v.desired_running, v.provisioned, v.vcpu, v.ram_mib, v.disk_gib, v.bandwidth_gb, v.network_mbps,
  v.throttle_mbps, v.custom_price_cents, v.network_10g, v.network_10g_paid_until, v.daily_backup, v.daily_backup_paid_until, v.is_protected,
  v.ip_address, v.address_pool_id, v.mac, v.billing_status, v.renewal_day, v.period_started_at, v.period_price_cents, v.next_renewal_at,
  v.past_due_at, v.suspended_at, v.bandwidth_pack_bytes, v.throttled_at, v.observed_power, v.observed_at, v.event_sequence, v.created_at,
  v.updated_at, r.slug as region_slug, r.name as region_name, t.slug as template_slug, t.name as template_name,
  t.version as template_version, t.has_agent, t.checksum as template_checksum, t.default_user,
  coalesce(b.used_bytes, 0) as bandwidth_used_bytes,
  coalesce(p.slug, 'custom') as plan_slug,
  coalesce(p.name, format('Custom %s vCPU / %s GiB', v.vcpu, trim_scale(v.ram_mib / 1024.0))) as plan_name,
  coalesce(p.price_cents, v.custom_price_cents) as plan_price_cents,
  coalesce(p.price_cents, v.custom_price_cents)
    + case when v.daily_backup then (coalesce(p.price_cents, v.custom_price_cents) * (select value from catalog_values where name = 'addon.daily_backup_percent') + 99) / 100 else 0 end
    + case when v.network_10g then (select value from catalog_values where name = 'price.network_10g') else 0 end
    + c.cents as renewal_price_cents,
  c.cents as copies_price_cents
from vms v
join regions r on r.id = v.region_id
join os_templates t on t.id = v.os_template_id
left join plans p on p.id = v.plan_id
left join bandwidth_baselines b on b.vm_id = v.id and b.mac = v.mac
cross join lateral (select case when (select value from catalog_values where name = 'price.copies_gib') > 0 then
    (select value from catalog_values where name = 'price.copies_gib') * (
      (select coalesce(sum(counted_gib), 0) from snapshots s where s.vm_id = v.id and s.status in ('AVAILABLE', 'RESTORING'))
      + (select coalesce(sum(counted_gib), 0) from backups k where k.vm_id = v.id and k.type = 'MANUAL' and k.status in ('AVAILABLE', 'RESTORING')))
  else 0 end as cents) c;
