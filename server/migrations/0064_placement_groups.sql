-- How VMs of an account are placed among hosts, relative to each other.
create table placement_groups (
  id text primary key,
  account_id text not null references accounts,
  name text not null,
  policy text not null check (policy in ('SPREAD', 'STRICT_SPREAD', 'TOGETHER')),
  created_at timestamptz not null
);
create index placement_groups_account on placement_groups (account_id, id);

create table placement_group_members (
  vm_id text primary key references vms on delete cascade,
  group_id text not null references placement_groups
);
create index placement_group_members_group on placement_group_members (group_id);
