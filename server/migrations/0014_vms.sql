create table vms (
  id text primary key,
  account_id text not null references accounts,
  region_id text not null references regions,
  host_id text references hosts,
  plan_id text references plans,
  os_template_id text not null references os_templates,
  uuid uuid not null unique,
  generation integer not null default 1,
  name text not null,
  hostname text not null,
  status text not null check (status in ('PROVISIONING', 'RUNNING', 'STOPPED', 'SUSPENDED', 'REBUILDING', 'UPGRADING', 'UNMANAGED', 'ERROR')),
  status_reason text,
  readiness text not null default 'booting' check (readiness in ('booting', 'reachable')),
  -- Whether the customer wants it on: what a host that comes back is brought to, and what a suspension ends in.
  wanted_on boolean not null default true,
  -- A VM that never came up holds no address, no room on a host and no money.
  provisioned boolean not null default false,
  vcpu integer not null,
  ram_mib integer not null,
  disk_gib integer not null,
  bandwidth_gb integer not null,
  network_mbps integer not null,
  throttle_mbps integer not null,
  custom_price_cents bigint,
  network_10g boolean not null,
  daily_backup boolean not null,
  daily_backup_paid_until timestamptz,
  is_protected boolean not null,
  ip_address inet unique,
  address_pool_id text references address_pools,
  mac macaddr unique,
  billing_status text not null default 'ACTIVE' check (billing_status in ('ACTIVE', 'PAST_DUE', 'SUSPENDED', 'CANCELLED')),
  -- The day of the month it was bought: 31 stays 31 although some months are shorter.
  renewal_day smallint not null,
  period_started_at timestamptz not null,
  -- What a whole month costs at the rate that this period was paid at: upgrades and refunds are reckoned from it.
  period_price_cents bigint not null check (period_price_cents >= 0),
  next_renewal_at timestamptz not null,
  past_due_at timestamptz,
  suspended_at timestamptz,
  bandwidth_used_bytes bigint not null default 0 check (bandwidth_used_bytes >= 0),
  bandwidth_pack_bytes bigint not null default 0 check (bandwidth_pack_bytes >= 0),
  throttled_at timestamptz,
  -- A power state on the host that does not agree, and since when it was seen: acted on at the second look.
  seen_power text,
  seen_at timestamptz,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((host_id is null) = (ip_address is null)),
  check (plan_id is not null or custom_price_cents is not null)
);
create index vms_account on vms (account_id, id desc);
create index vms_account_status on vms (account_id, status, id desc);
create index vms_host on vms (host_id);
create index vms_renewal on vms (next_renewal_at);

-- A VM with the words and prices that its wire form needs.
create view vm_details as
select v.*, r.slug as region_slug, r.name as region_name, t.slug as template_slug, t.name as template_name, t.version as template_version,
  t.has_agent, t.checksum as template_checksum, t.default_user,
  coalesce(p.slug, 'custom') as plan_slug,
  coalesce(p.name, format('Custom %s vCPU / %s GiB', v.vcpu, trim_scale(v.ram_mib / 1024.0))) as plan_name,
  coalesce(p.price_cents, v.custom_price_cents) as plan_price_cents,
  coalesce(p.price_cents, v.custom_price_cents)
    + case when v.daily_backup then (coalesce(p.price_cents, v.custom_price_cents) * (select value from catalog_numbers where name = 'addon.daily_backup_percent') + 99) / 100 else 0 end
    + case when v.network_10g then (select value from catalog_numbers where name = 'price.network_10g') else 0 end as renewal_price_cents
from vms v
join regions r on r.id = v.region_id
join os_templates t on t.id = v.os_template_id
left join plans p on p.id = v.plan_id;
