-- Whose quota a released floating address counts against until its rest is over. Nobody gets it before that is null again.
alter table free_addresses add column account_id text;
create index free_addresses_rests on free_addresses (account_id, available_at) where account_id is not null;

-- Floating addresses that the port of a VM may still have on a host, because that host has not confirmed that the port has lost them.
-- They rest for a day when they are released, or until every such host has confirmed it. No foreign keys: VM and host may be gone.
create table unconfirmed_releases (
  address inet not null,
  vm_id text not null,
  host_id text not null,
  primary key (address, vm_id, host_id)
);
