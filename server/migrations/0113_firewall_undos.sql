-- The rules of a firewall before its latest change, in the form of rows of firewall_rules. `version_after` is the version of its rules
-- since: with another one they were changed by a version of Berth that keeps nothing here.
create table firewall_undos (
  firewall_id text primary key references firewalls on delete cascade,
  rules jsonb not null,
  version_after text not null,
  undo_until timestamptz not null,
  -- Undone by itself then. Null: confirmed, or not asked for.
  confirm_by timestamptz
);
create index firewall_undos_confirm on firewall_undos (confirm_by) where confirm_by is not null;
create index firewall_undos_until on firewall_undos (undo_until);
