-- Networks span the hosts of their region. A range is unique in an account and a region; those of different accounts may overlap.
alter table networks drop constraint networks_unique_on_host, drop constraint networks_unique_in_account, drop column host_id;
alter table networks add constraint networks_unique_in_account
  exclude using gist (account_id with =, region_id with =, cidr inet_ops with &&) where (deleted_at is null);

-- What the guests of a network with SNAT are seen as outside: of 100.64.0.0/16, whose gateway is 100.64.0.1, and no other network's of the
-- region. It is free again when the row is gone.
alter table networks add column snat_address inet;
update networks n set snat_address = '100.64.0.1'::inet + k.number, is_applied = false, claimed_until = null, next_try_at = null
  from (select id, row_number() over (partition by region_id order by id) as number from networks where enable_snat) k where n.id = k.id;
update networks set is_applied = false, claimed_until = null, next_try_at = null where not enable_snat;
alter table networks add constraint networks_snat_address check (enable_snat = (snat_address is not null)),
  add constraint networks_unique_snat_address unique (region_id, snat_address);
create index networks_pending on networks (region_id) where not is_applied or deleted_at is not null;

-- The ports of a VM's interfaces: host, limit, addresses and packet filter together. Each change increments `desired_version`; the network
-- controller of the region has `applied_version`.
alter table vm_filters rename to vm_ports;
alter table vm_ports rename constraint vm_filters_pkey to vm_ports_pkey;
alter table vm_ports rename constraint vm_filters_host_id_fkey to vm_ports_host_id_fkey;
alter table vm_ports rename constraint vm_filters_account_id_fkey to vm_ports_account_id_fkey;
alter index vm_filters_pending rename to vm_ports_pending;
alter index vm_filters_host rename to vm_ports_host;
update vm_ports set applied_version = null, claimed_until = null, next_try_at = null;

-- A limit is part of the port.
drop table bandwidth_limit_queue;
