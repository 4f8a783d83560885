-- What VMs use. Rates are reckoned when they are sampled, from the counters seen the time before; so a series is read without a second look.
create table metrics_latest (
  vm_id text primary key,
  sampled_at timestamptz not null,
  epoch text not null,
  cpu_ns bigint not null,
  disk_read_bytes bigint not null,
  disk_written_bytes bigint not null,
  received_bytes bigint not null,
  sent_bytes bigint not null
) with (fillfactor = 50); -- every row is written each minute, and finds room on its own page

-- Whoever moves a host on to the next minute samples it.
create table metrics_hosts (
  host_id text primary key references hosts on delete cascade,
  minute timestamptz not null
);

-- Cut by time: what is too old goes as a whole table, which costs nothing, and no row is ever deleted. No reference to vms for the same
-- reason: the rows of a VM that is gone are out of reach and go with their time. Null is what could not be told.
create table metrics_minutes (
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
create index metrics_minutes_at on metrics_minutes using brin (at) with (autosummarize = on); -- rows come in the order of time

create table metrics_quarters (
  vm_id text not null,
  at timestamptz not null,
  -- How many minutes the averages are made of.
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

-- Up to when minutes have become quarters of an hour.
create table metrics_rollup (
  is_only boolean primary key default true check (is_only),
  until timestamptz not null
);
insert into metrics_rollup (until) values ('epoch');
