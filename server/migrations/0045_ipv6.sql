-- IPv6 addresses of VMs, and VMs without a public IPv4 address.
--
-- Ranges of IPv6 pools that are in use or were until a moment ago: one address each of a pool from /64 on, a /64 each of a larger one. A pool
-- has far too many to list those that are free: they are chosen at random, and the primary key keeps them unique. A released range is not
-- allocated again before `available_at`, which is null while a VM has it.
-- No foreign key to pools, as for free_addresses.
create table ipv6_ranges (
  range cidr primary key,
  pool_id text not null,
  available_at timestamptz
);
create index ipv6_ranges_pool on ipv6_ranges (pool_id);
create index ipv6_ranges_released on ipv6_ranges (available_at) where available_at is not null;

-- `ipv6_prefix` is the /64 around `ipv6_address`, where the VM has one of its own.
alter table vms add column public_ipv4 boolean not null default true, add column ipv6_address inet unique, add column ipv6_prefix cidr unique,
  add column ipv6_pool_id text references address_pools;
alter table vms drop constraint vms_check;
alter table vms add constraint vms_placed check ((host_id is null) = (ip_address is null and ipv6_address is null)),
  add constraint vms_ipv4 check (public_ipv4 or ip_address is null),
  add constraint vms_has_ipv4 check (not public_ipv4 or (host_id is null) = (ip_address is null)),
  add constraint vms_ipv6 check ((ipv6_address is null) = (ipv6_pool_id is null) and (ipv6_prefix is null or ipv6_address << ipv6_prefix));

alter table simulated.nics alter column address drop not null, add column ipv6 text;

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
  -- A VM without an IPv4 address costs less by its price.
  case when v.public_ipv4 then coalesce(p.price_cents, v.custom_price_cents) else greatest(coalesce(p.price_cents, v.custom_price_cents)
    - coalesce((select value from catalog_values where name = 'price.ipv4'), 0), 0) end
    + case when v.daily_backup then (coalesce(p.price_cents, v.custom_price_cents) * (select value from catalog_values where name = 'addon.daily_backup_percent') + 99) / 100 else 0 end
    + case when v.network_10g then (select value from catalog_values where name = 'price.network_10g') else 0 end
    + c.cents as renewal_price_cents,
  c.cents as copies_price_cents,
  v.disk_iops, v.disk_mib_per_second, v.pending_hold, v.bandwidth_withheld_bytes,
  v.public_ipv4, v.ipv6_address, v.ipv6_prefix, v.ipv6_pool_id
from vms v
join regions r on r.id = v.region_id
join os_templates t on t.id = v.os_template_id
left join plans p on p.id = v.plan_id
left join bandwidth_baselines b on b.vm_id = v.id and b.mac = v.mac
cross join lateral (select case when (select value from catalog_values where name = 'price.copies_gib') > 0
  then copies_price_cents(v.id) else 0 end as cents) c;
