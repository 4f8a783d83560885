-- Resource usage of VMs. Rates are computed at sampling time from the previous counters, so that reading a series needs no join.
create table metrics_latest (
  vm_id text primary key,
  sampled_at timestamptz not null,
  epoch text not null,
  cpu_ns bigint not null,
  disk_read_bytes bigint not null,
  disk_written_bytes bigint not null,
  received_bytes bigint not null,
  sent_bytes bigint not null
) with (fillfactor = 50); -- every row is updated each minute (HOT)

-- The worker that advances a host's row to the next minute samples that host.
create table metrics_sample_claims (
  host_id text primary key references hosts on delete cascade,
  minute timestamptz not null
);

-- Partitioned by time: retention drops whole partitions, and no row is ever deleted. No foreign key to vms for the same reason: rows of a
-- deleted VM are unreachable and expire with their partition. Null means unknown.
create table metrics_1m (
  vm_id text not null,
  at timestamptz not null,
  cpu_percent real,
  ram_used_mib integer,
  ram_mib integer not null,
  disk_read_rate real,
  disk_write_rate real,
  network_in_rate real,
  network_out_rate real,
  primary key (vm_id, at)
) partition by range (at);
create index metrics_1m_at on metrics_1m using brin (at) with (autosummarize = on); -- rows arrive in time order

create table metrics_15m (
  vm_id text not null,
  at timestamptz not null,
  -- The number of minutes behind the averages.
  rate_samples smallint not null,
  ram_samples smallint not null,
  cpu_percent double precision,
  cpu_percent_max real,
  ram_used_mib double precision,
  ram_used_mib_max integer,
  ram_mib integer not null,
  disk_read_rate double precision,
  disk_read_rate_max real,
  disk_write_rate double precision,
  disk_write_rate_max real,
  network_in_rate double precision,
  network_in_rate_max real,
  network_out_rate double precision,
  network_out_rate_max real,
  primary key (vm_id, at)
) partition by range (at);

-- Up to when metrics_1m has been rolled up into metrics_15m.
create table metrics_rollup (
  is_only boolean primary key default true check (is_only),
  until timestamptz not null
);
insert into metrics_rollup (until) values ('epoch');
