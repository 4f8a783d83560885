-- What customers have cloud-init do at the first boot of a disk, from that generation on. Sealed, because it often holds secrets; null: nothing from there on.
create table vm_user_data (
  vm_id text not null references vms on delete cascade,
  generation integer not null,
  sealed bytea,
  -- The action that makes the disk, which shows what came of it.
  run_id text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'UNSUPPORTED', 'UNKNOWN')),
  seconds integer,
  errors text[] not null default '{}',
  -- Since when its guest is to be asked, and when it is asked next. Null before it has booted, and when it has answered.
  wanted_at timestamptz,
  due_at timestamptz,
  primary key (vm_id, generation)
);
create index vm_user_data_due on vm_user_data (due_at) where due_at is not null;

-- What came after the end of an action, as its owner sees it.
alter table workflow_runs add column follow_up jsonb;
