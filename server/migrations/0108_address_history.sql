-- Which VM had which public address when, also of VMs and accounts that are gone: what an abuse report asks.
create table address_history (
  id bigint generated always as identity primary key,
  -- A single address, or the prefix of which the VM had every address.
  address inet not null,
  vm_id text not null,
  -- As they were called when the VM got it; both may be gone.
  vm_name text not null,
  account_id text not null,
  email text not null,
  -- Of the reserved address that was assigned to the VM; null: one of the VM's own.
  address_id text,
  since timestamptz not null,
  -- Null: the VM has it.
  until timestamptz check (until >= since),
  -- Nobody can have had an address that another one had. It also finds an address, and the prefixes around it.
  constraint address_history_once exclude using gist (address inet_ops with &&, tstzrange(since, until) with &&)
);
create index address_history_vm on address_history (vm_id, until);
create index address_history_address_id on address_history (address_id) where until is null and address_id is not null;
create index address_history_until on address_history (until) where until is not null;

-- Since when they had them before is not known.
insert into address_history (address, vm_id, vm_name, account_id, email, address_id, since)
select held.address, v.id, v.name, v.account_id, coalesce(a.email, p.email, ''), held.address_id, now()
from (
  select id as vm_id, ip_address as address, null as address_id from vms where ip_address is not null
  union all select id, coalesce(ipv6_prefix, ipv6_address::cidr)::inet, null from vms where ipv6_address is not null
  union all select coalesce(releasing_vm_id, vm_id), address, id from addresses where coalesce(releasing_vm_id, vm_id) is not null) held
  join vms v on v.id = held.vm_id join accounts a on a.id = v.account_id left join accounts p on p.id = a.payer_account_id;
