-- Labels of everything else that an account has. Without an index: quotas keep these lists short.
alter table networks add column labels jsonb not null default '{}';
alter table firewalls add column labels jsonb not null default '{}';
alter table ssh_keys add column labels jsonb not null default '{}';
alter table placement_groups add column labels jsonb not null default '{}';
alter table addresses add column labels jsonb not null default '{}';
alter table snapshots add column labels jsonb not null default '{}';
alter table volume_snapshots add column labels jsonb not null default '{}';
alter table backups add column labels jsonb not null default '{}';
alter table webhooks add column labels jsonb not null default '{}';
