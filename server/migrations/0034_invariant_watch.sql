-- What the watch over the invariants found last, in whatever worker: the API shows it too. It is found anew every five minutes, so it is
-- not logged.
create unlogged table invariant_watch (
  is_only boolean primary key default true check (is_only),
  violations integer not null
);
