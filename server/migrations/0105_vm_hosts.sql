-- What a VM says of its host: since when it does not answer, and whether it is kept from its storage.
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
  -- A shelved one costs its disk and its address, and never more than otherwise.
  case when v.shelved_at is null then m.cents else least(m.cents, m.shelved_cents) end + c.cents as renewal_price_cents,
  c.cents as copies_price_cents,
  v.disk_iops, v.disk_mib_per_second, v.pending_hold, v.bandwidth_withheld_bytes,
  v.public_ipv4, v.ipv6_address, v.ipv6_prefix, v.ipv6_pool_id, v.storage, v.storage_id, v.dedicated_cpu,
  v.shelved_at, v.shelved_credit_cents, v.shelved_price_cents, t.arch as template_arch, v.labels,
  h.unreachable_since as host_unreachable_since, h.fenced_at as host_fenced_at
from vms v
join regions r on r.id = v.region_id
join os_templates t on t.id = v.os_template_id
left join hosts h on h.id = v.host_id
left join plans p on p.id = v.plan_id
left join bandwidth_baselines b on b.vm_id = v.id and b.mac = v.mac
cross join lateral (select
  -- A VM without an IPv4 address costs less by its price.
  case when v.public_ipv4 then coalesce(p.price_cents, v.custom_price_cents) else greatest(coalesce(p.price_cents, v.custom_price_cents)
    - coalesce((select value from catalog_values where name = 'price.ipv4'), 0), 0) end
    + case when v.daily_backup then (coalesce(p.price_cents, v.custom_price_cents) * (select value from catalog_values where name = 'addon.daily_backup_percent') + 99) / 100 else 0 end
    + case when v.network_10g then (select value from catalog_values where name = 'price.network_10g') else 0 end as cents,
  case when v.shelved_at is not null then v.disk_gib * coalesce((select value from catalog_values
      where name = case v.storage when 'LOCAL' then 'price.shelved_gib' else 'price.shelved_replicated_gib' end), 0)
    + case when v.public_ipv4 then coalesce((select max(value) from catalog_values where name in ('price.ipv4', 'price.address')), 0) else 0 end end as shelved_cents) m
cross join lateral (select case when (select value from catalog_values where name = 'price.copies_gib') > 0
  then copies_price_cents(v.id) else 0 end as cents) c;
