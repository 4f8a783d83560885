create table ssh_keys (
  id text primary key,
  account_id text not null references accounts,
  name text not null,
  type text not null,
  fingerprint text not null,
  public_key text not null,
  created_at timestamptz not null,
  unique (account_id, fingerprint)
);
create index ssh_keys_account on ssh_keys (account_id, id);

-- The VMs on which a key was installed.
create table ssh_key_uses (
  ssh_key_id text not null references ssh_keys on delete cascade,
  vm_id text not null,
  primary key (ssh_key_id, vm_id)
);
create index ssh_key_uses_vm on ssh_key_uses (vm_id);
