-- An undo that nobody asked for and that failed is tried again later each time. `rules` has every column of firewall_rules, also those that the
-- process that restores them does not know: a migration that adds one that must not be null adds it there too.
alter table firewall_undos add column failures integer not null default 0, add column next_try_at timestamptz;
