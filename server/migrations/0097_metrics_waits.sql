-- What VMs waited for: the CPUs of their host, and their disks. Of a minute 12 bytes for each slot of the host, three float4 (features/metrics/points.ts), apart from the
-- points, which the version before writes and reads as they were.
alter table metrics_minutes add column waits bytea; -- null: sampled by the version before
alter table metrics_minutes alter column waits set storage external;

alter table metrics_samples add column waits bytea;
alter table metrics_samples alter column waits set storage external;
alter table metrics_samples add column waits_at timestamptz; -- another time than sampled_at: the version before has sampled since

alter table metrics_15m
  add column cpu_steal_samples smallint not null default 0,
  add column disk_request_samples smallint not null default 0,
  add column disk_wait_samples smallint not null default 0, -- minutes with requests to its disks
  add column cpu_steal_percent double precision,
  add column cpu_steal_percent_max real,
  add column disk_request_rate double precision,
  add column disk_request_rate_max real,
  add column disk_wait_ms double precision,
  add column disk_wait_ms_max real;
