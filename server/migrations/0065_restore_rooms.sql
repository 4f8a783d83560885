-- Room that a restore takes for a time, where the disk is. COPY: what is fetched, until the disk is made from it. DISK: the new disk beside the
-- old one, until the run has ended.
create table restore_rooms (
  run_id text not null,
  purpose text not null check (purpose in ('COPY', 'DISK')),
  host_id text references hosts on delete cascade,
  storage_id text references storage_backends,
  gib integer not null check (gib > 0),
  primary key (run_id, purpose),
  check (num_nonnulls(host_id, storage_id) = 1)
);
create index restore_rooms_host on restore_rooms (host_id);
create index restore_rooms_storage on restore_rooms (storage_id);
