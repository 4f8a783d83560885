-- Static routes of the router that every network with a gateway has.
create table network_routes (
  id text primary key,
  network_id text not null references networks on delete cascade,
  destination cidr not null check (family(destination) = 4 and masklen(destination) > 0),
  next_hop inet not null,
  created_at timestamptz not null,
  constraint network_routes_unique unique (network_id, destination)
);

-- Counts changes, so that one made while an older state is being applied is applied too. Networks without SNAT get their router now.
alter table networks add column version integer not null default 1;
update networks set is_applied = false, next_try_at = null where gateway is not null;

-- What the network routes to the interface.
alter table simulated.ports add column ranges text[] not null default '{}';
