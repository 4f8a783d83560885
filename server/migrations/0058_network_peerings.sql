-- Pairs of networks whose routers are connected. Both are of one account and region: the keys see to it.
alter table networks add constraint networks_place unique (id, account_id, region_id);
create table network_peerings (
  id text primary key,
  network_id text not null,
  peer_id text not null,
  account_id text not null,
  region_id text not null,
  created_at timestamptz not null,
  foreign key (network_id, account_id, region_id) references networks (id, account_id, region_id) on delete cascade,
  foreign key (peer_id, account_id, region_id) references networks (id, account_id, region_id) on delete cascade,
  constraint network_peerings_order check (network_id < peer_id),
  constraint network_peerings_unique unique (network_id, peer_id)
);
create index network_peerings_peer on network_peerings (peer_id);
