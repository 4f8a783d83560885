-- Codes that stand in for a second factor that was lost, each once: what is used is gone from here. Only keyed hashes are kept.
create table recovery_codes (
  person_id text not null references people on delete cascade,
  hash bytea not null,
  created_at timestamptz not null,
  primary key (person_id, hash)
);
