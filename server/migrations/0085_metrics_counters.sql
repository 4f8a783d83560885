-- The counters of a host's VMs at its last sample, in one row: one write a minute instead of one for each VM. metrics_latest is used no more, and empties
-- itself within a day.
create table metrics_counters (
  host_id text primary key references hosts on delete cascade,
  sampled_at timestamptz not null,
  counters text not null -- JSON, read by workers alone
);
