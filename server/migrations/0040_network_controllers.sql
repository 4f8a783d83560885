-- Networks belong to a region and its network controller, no longer to a host.

-- Where OVN's databases are: `unix:` and the folder of their sockets. Null: simulated.
alter table regions add column network_controller text;

-- What a host calls itself, also to the network controller.
alter table hosts add column hostname text;
update hosts set hostname = name;
alter table hosts alter column hostname set not null;
-- Limits are the network controller's, which needs no kernel module.
alter table hosts drop column can_shape_traffic;

drop table simulated.filters;
alter table simulated.nics drop column network_id;
drop table simulated.networks;
create table simulated.networks (
  region_id text not null,
  network_id text not null,
  spec jsonb not null,
  primary key (region_id, network_id)
);
create table simulated.ports (
  region_id text not null,
  mac text not null,
  vm_id text not null,
  network_id text,
  host text not null,
  addresses text[] not null,
  limit_mbps integer,
  filter jsonb,
  primary key (region_id, mac),
  foreign key (region_id, network_id) references simulated.networks
);
create index ports_network on simulated.ports (region_id, network_id) where network_id is not null;
create index nics_mac on simulated.nics (mac);
