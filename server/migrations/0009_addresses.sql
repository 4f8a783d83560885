-- Public addresses. Free ones are rows of their own: taking one deletes a row from a random start, which stays as fast when most are
-- taken. A given-back address rests before it is handed out again.
create table address_pools (
  id text primary key,
  region_id text not null references regions,
  host_id text references hosts,
  cidr cidr not null,
  gateway inet not null,
  dns text[] not null,
  created_at timestamptz not null,
  exclude using gist (cidr inet_ops with &&)
);

-- No foreign key: pools are never deleted, and checking 65,000 rows of the first one took as long as all the rest of the first start.
create table free_addresses (
  address inet primary key,
  pool_id text not null,
  available_at timestamptz not null
);
create index free_addresses_pool on free_addresses (pool_id, address);

alter table hosts add column unreachable_since timestamptz, add column reachable_since timestamptz;
