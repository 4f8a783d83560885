-- Images of an account: disks to make VMs from, and ISO files. The file is in the image folder of the control plane under the id of the image.
-- A disk image that is available is an OS template of its account, with the same id: VMs, hosts and storage backends know it as one.
alter table os_templates add column account_id text references accounts;

create table images (
  id text primary key,
  account_id text not null references accounts,
  name text not null,
  labels jsonb not null default '{}',
  kind text not null check (kind in ('DISK', 'ISO')),
  status text not null default 'CREATING' check (status in ('CREATING', 'AVAILABLE', 'FAILED', 'DELETING')),
  -- Why it failed, or is being deleted.
  reason text,
  is_protected boolean not null default false,
  source_type text not null check (source_type in ('VM', 'SNAPSHOT', 'BACKUP', 'URL')),
  -- Of the VM, snapshot or backup, which need not exist any more; or the URL.
  source text not null,
  -- The VM of the source, where there is one.
  vm_id text,
  run_id text not null,
  size_bytes bigint not null default 0,
  disk_gib integer,
  checksum text not null default '',
  consistency text check (consistency in ('FILESYSTEM', 'CRASH')),
  -- What it takes of the quota of its account: an estimate until it is made.
  counted_gib integer not null check (counted_gib >= 0),
  -- Of the copy on the host of the VM, from which it is made.
  staging_host_id text references hosts,
  staging_gib integer not null default 0,
  -- Its files are removed not before.
  next_try_at timestamptz,
  billing_status text not null default 'ACTIVE' check (billing_status in ('ACTIVE', 'PAST_DUE', 'SUSPENDED')),
  -- Null until it is available.
  renewal_day smallint,
  period_started_at timestamptz,
  period_price_cents bigint check (period_price_cents >= 0),
  next_renewal_at timestamptz,
  past_due_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((staging_host_id is null) = (staging_gib = 0)),
  check (status <> 'AVAILABLE' or next_renewal_at is not null),
  check ((billing_status = 'ACTIVE') = (past_due_at is null))
);
create index images_account on images (account_id, id desc);
create index images_renewal on images (next_renewal_at) where status = 'AVAILABLE';
create index images_deleting on images (id) where status = 'DELETING';
create index images_staging on images (staging_host_id) where staging_host_id is not null;

-- The ledger entry of each period, the first too. The primary key makes it impossible to charge one twice.
create table image_periods (
  image_id text not null,
  started_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > started_at),
  transaction_id text not null unique references wallet_transactions,
  primary key (image_id, started_at)
);

-- Hosts that may have an image, and the room it takes there: disks of VMs are layers on it. None where they are in a storage backend.
create table image_rooms (
  image_id text not null references images,
  host_id text not null references hosts,
  gib integer not null check (gib >= 0),
  primary key (image_id, host_id)
);
create index image_rooms_host on image_rooms (host_id);

-- What the tables of other resources have added stays.
do $$
declare
  types text := substring(pg_get_constraintdef((select oid from pg_constraint where conrelid = 'wallet_transactions'::regclass and conname = 'wallet_transactions_type_check')) from 'ARRAY\[(.*)\]');
  refs text := substring(pg_get_constraintdef((select oid from pg_constraint where conrelid = 'wallet_transactions'::regclass and conname = 'wallet_transactions_reference_type_check')) from 'ARRAY\[(.*)\]');
begin
  alter table wallet_transactions drop constraint wallet_transactions_type_check, drop constraint wallet_transactions_reference_type_check;
  execute format('alter table wallet_transactions
    add constraint wallet_transactions_type_check check (type in (%s, ''IMAGE_CHARGE'', ''IMAGE_RENEWAL'', ''IMAGE_REFUND'')),
    add constraint wallet_transactions_reference_type_check check (reference_type in (%s, ''IMAGE''))', types, refs);
end $$;

-- Who deletes an image looks for what was made from it.
create index vms_os_template on vms (os_template_id);
create index snapshots_os_template on snapshots (os_template_id);
create index backups_os_template on backups (os_template_id);
