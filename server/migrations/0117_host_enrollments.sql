-- Hosts that operators are adding in the dashboard. The bundle is sealed by the token, which is not here, and gone once it was fetched.
create table host_enrollments (
  id text primary key,
  region_id text not null references regions on delete cascade,
  name text not null,
  address text not null,
  -- Network card of the public network; null: the host masquerades.
  uplink text,
  token_hash bytea not null unique,
  sealed_bundle bytea,
  range text not null,
  gateway text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  fetched_at timestamptz,
  checks jsonb not null default '[]',
  checked_at timestamptz,
  joined_at timestamptz,
  host_id text references hosts on delete set null,
  revoked_at timestamptz,
  -- Its certificates are revoked, or of somebody else by now.
  is_cleaned boolean not null default false
);
