-- What may be spent through something, for now an API token: money in a calendar month (UTC), and VMs at a time. Null is without limit.
create table budgets (
  subject_type text not null check (subject_type in ('TOKEN')),
  subject_id text not null,
  account_id text not null references accounts,
  monthly_cents bigint check (monthly_cents >= 0),
  max_vms integer check (max_vms >= 0),
  label_selector text,
  primary key (subject_type, subject_id)
);

-- What the ledger has of it, under the number of the ledger's entry: one row for a token, and one for each that it was made with. What is
-- given back counts in the month in which it was charged. `limit_cents` is the budget's at that moment.
create table budget_entries (
  subject_type text not null check (subject_type in ('TOKEN')),
  subject_id text not null,
  month date not null,
  number integer not null,
  account_id text not null references accounts,
  reference_id text not null,
  kind text not null check (kind in ('CHARGE', 'RENEWAL', 'REFUND')),
  cents bigint not null,
  used_after_cents bigint not null,
  limit_cents bigint,
  created_at timestamptz not null,
  primary key (subject_type, subject_id, month, number)
);
create index budget_entries_reference on budget_entries (reference_id);
create index budget_entries_time on budget_entries (created_at);

-- What was made through it and is still there: its renewals count, and VMs count until they are deleted. `vms_after` and `max_vms` are of
-- the moment when it was made.
create table budget_resources (
  subject_type text not null check (subject_type in ('TOKEN')),
  subject_id text not null,
  vm_id text references vms on delete cascade,
  volume_id text references volumes on delete cascade,
  address_id text references addresses on delete cascade,
  image_id text references images on delete cascade,
  reference_id text not null generated always as (coalesce(vm_id, volume_id, address_id, image_id)) stored,
  vms_after integer,
  max_vms integer,
  primary key (reference_id, subject_type, subject_id)
);
create index budget_resources_subject on budget_resources (subject_type, subject_id) where vm_id is not null;
create index budget_resources_vm on budget_resources (vm_id) where vm_id is not null;
create index budget_resources_volume on budget_resources (volume_id) where volume_id is not null;
create index budget_resources_address on budget_resources (address_id) where address_id is not null;
create index budget_resources_image on budget_resources (image_id) where image_id is not null;
