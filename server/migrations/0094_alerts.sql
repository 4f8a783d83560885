-- What customers want to be told of their VMs and their balance, and where it is so at present.
create table alerts (
  id text primary key,
  account_id text not null references accounts,
  name text not null,
  metric text not null,
  comparison text not null check (comparison in ('ABOVE', 'BELOW')),
  threshold float8 not null,
  for_minutes integer, -- null for what is not measured by the minute
  vm_ids text[], -- null, as with label_selector: all VMs of the account
  label_selector text,
  labels jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (vm_ids is null or label_selector is null)
);
create index alerts_account on alerts (account_id, id);

-- Kept for a while after it has ended, so that one that comes and goes is not told each time.
create table alert_firings (
  alert_id text not null references alerts on delete cascade,
  vm_id text not null, -- '' for the account
  vm_name text not null,
  vm_labels jsonb not null, -- by which webhooks are chosen, also when it has ended
  value float8 not null,
  fired_at timestamptz not null,
  resolved_at timestamptz,
  primary key (alert_id, vm_id)
);

-- The minute that was looked at last: one worker does, whichever is first.
create table alert_minutes (
  is_only boolean primary key default true check (is_only),
  minute timestamptz not null
);

create index emails_account on emails (account_id, created_at);
