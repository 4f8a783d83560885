-- Hosts have traits and overcommit ratios of their own, and CPUs that are dedicated to single VMs.
alter table hosts
  -- The operator's own words; what is measured is in `all_traits` too.
  add column traits text[] not null default '{}',
  add column ram_overcommit real not null default 1 check (ram_overcommit >= 1),
  -- The NUMA node of each CPU, from CPU 0 on; -1 where there is no such CPU. Null: not known, all are of one node.
  add column cpu_nodes integer[],
  -- Shared machines are kept off them.
  add column dedicated_cpus integer[] not null default '{}',
  -- Raised whenever they change. Machines that run follow: until `applied` is as high, some may be where they should not be.
  add column cpus_version integer not null default 0,
  add column cpus_applied integer not null default 0;

alter table hosts
  add column vcpu_sellable integer not null
    generated always as (floor(greatest(vcpu_total - cardinality(dedicated_cpus), 0) * vcpu_overcommit::numeric)::int) stored,
  add column ram_sellable_mib integer not null generated always as (floor(ram_total_mib * ram_overcommit::numeric)::int) stored,
  add column all_traits text[] not null generated always as (array_remove(traits || array[arch, acceleration,
    case when uplink_mbps >= 10000 then '10g' end, case when cardinality(dedicated_cpus) > 0 then 'dedicated-cpu' end], null)) stored;

-- An operator may lower a ratio below what is sold, and a measurement may find less: what is sold stays, and nothing is added to it.
alter table hosts drop constraint hosts_check, drop constraint hosts_check2; -- ram_used_mib between 0 and ram_total_mib, vcpu_used <= vcpu_total * vcpu_overcommit
alter table hosts add constraint hosts_ram_used check (ram_used_mib >= 0);

create function refuse_oversold() returns trigger language plpgsql as $$
begin
  raise exception 'host % would sell % vCPU of %, % MiB of %', new.name, new.vcpu_used, new.vcpu_sellable, new.ram_used_mib, new.ram_sellable_mib
    using errcode = 'check_violation';
end $$;
-- After: generated columns are not known before.
create trigger refuse_oversold after update of vcpu_used, ram_used_mib on hosts for each row
  when ((new.vcpu_used > old.vcpu_used and new.vcpu_used > new.vcpu_sellable)
    or (new.ram_used_mib > old.ram_used_mib and new.ram_used_mib > new.ram_sellable_mib))
  execute function refuse_oversold();

alter table plans
  add column dedicated_cpu boolean not null default false,
  -- What a host of its VMs must have.
  add column traits text[] not null default '{}';

-- Each of its vCPUs has a CPU of its host for itself: they count in `cpu_pins`, and not in `hosts.vcpu_used`.
alter table vms add column dedicated_cpu boolean not null default false;

-- Which CPU of a host is which vCPU's. A VM that moves has CPUs of both hosts meanwhile. No foreign key to the VM: its row is written after the booking, and may be gone
-- before a cancelled migration of it is undone.
create table cpu_pins (
  host_id text not null references hosts,
  cpu integer not null check (cpu >= 0),
  vm_id text not null,
  vcpu integer not null check (vcpu >= 0),
  primary key (host_id, cpu),
  unique (host_id, vm_id, vcpu)
);
create index cpu_pins_vm on cpu_pins (vm_id);

-- Null: any CPU. With a NUMA node they are pinned, else shared.
alter table simulated.machines add column cpus integer[], add column numa_node integer;

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
  v.public_ipv4, v.ipv6_address, v.ipv6_prefix, v.ipv6_pool_id, v.storage, v.storage_id, v.dedicated_cpu
from vms v
join regions r on r.id = v.region_id
join os_templates t on t.id = v.os_template_id
left join plans p on p.id = v.plan_id
left join bandwidth_baselines b on b.vm_id = v.id and b.mac = v.mac
cross join lateral (select case when (select value from catalog_values where name = 'price.copies_gib') > 0
  then copies_price_cents(v.id) else 0 end as cents) c;
