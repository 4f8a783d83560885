-- VMs whose guests are to be told of the routes and peers of their networks, or were told. No reference to the VM: a request that changes a network
-- must not wait for a request that holds one of its VMs and waits for the network.
create table guest_routes (
  vm_id text primary key,
  -- Another one with every change, so that an answer to an older one does not count for it.
  version uuid not null,
  is_told boolean not null,
  -- Since when its guest is to be told, and when it is tried next.
  wanted_at timestamptz not null,
  due_at timestamptz not null
);
create index guest_routes_due on guest_routes (due_at);

-- Routes and peerings of today.
insert into guest_routes (vm_id, version, is_told, wanted_at, due_at)
select vm_id, gen_random_uuid(), false, now(), now() from (
  select distinct vm_id from network_attachments a
  where exists (select from network_routes r where r.network_id = a.network_id)
    or exists (select from network_peerings p where a.network_id in (p.network_id, p.peer_id))) attached;

-- What the guest was told, as `range via gateway`.
alter table simulated.machines add column routes text[] not null default '{}';
