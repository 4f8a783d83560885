-- How the product shows itself to customers, where an operator has changed it: one row.
create table branding (
  one boolean primary key default true check (one),
  settings json not null, -- in the order in which it is shown
  changed_at timestamptz not null
);
create table branding_images (
  name text primary key check (name in ('logo', 'logo-dark', 'favicon')),
  hash text not null, -- part of its address
  type text not null,
  bytes bytea not null
);
-- In which mails are written to the user: as the browser asked at the last sign-in, or as chosen in the dashboard.
alter table users add column language text;
