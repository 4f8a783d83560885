-- Files of dashboards whose names tell their content, of all versions that served them lately: a page of one version finds its files at an API of another.
create table dashboard_assets (
  path text primary key,
  bytes bytea not null,
  used_at timestamptz not null -- when a process that has the file itself was last started
);
alter table dashboard_assets alter column bytes set storage external; -- read as they are
