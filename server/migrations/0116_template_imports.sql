-- Imports of images of OS templates that operators began in the dashboard. The id is that of the run.
create table template_imports (
  id text primary key,
  slug text not null,
  url text not null,
  -- What the worker does at the moment, in words.
  doing text not null default '',
  created_at timestamptz not null
);
