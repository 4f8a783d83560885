-- What operators say to all customers, or to those who have something in a region.
create table announcements (
  id text primary key,
  level text not null check (level in ('INFO', 'WARNING', 'CRITICAL')),
  text text not null,
  region_id text references regions on delete cascade,
  starts_at timestamptz not null,
  ends_at timestamptz check (ends_at > starts_at),
  withdrawn_at timestamptz,
  created_at timestamptz not null
);
create index announcements_shown on announcements (starts_at) where withdrawn_at is null;
