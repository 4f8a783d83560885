-- Which key the secrets in this database are sealed with, so that no process goes on with another one. Of the key there is a keyed hash only.
create table master_key (
  is_only boolean primary key default true check (is_only),
  mark bytea not null
);
