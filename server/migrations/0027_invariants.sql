-- The last result of the invariant monitor of any worker, shown by the API. Unlogged: it is recomputed every five minutes.
create unlogged table invariant_status (
  is_only boolean primary key default true check (is_only),
  violations integer not null
);
