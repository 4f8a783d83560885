-- The secret of a URL that opens a console once. Only its hash is stored; the row stays for a while after its use or expiry, so that a
-- late client gets the reason.
create table console_tokens (
  secret_hash bytea primary key,
  vm_id text not null references vms on delete cascade,
  account_id text not null references accounts,
  actor_id text not null,
  type text not null check (type in ('serial', 'vnc')),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index console_tokens_vm on console_tokens (vm_id);
create index console_tokens_expiry on console_tokens (expires_at);

-- The open console sessions of all processes. A process extends `alive_until` of its sessions; those of a dead process expire.
create table console_sessions (
  vm_id text not null references vms on delete cascade,
  type text not null check (type in ('serial', 'vnc')),
  id text not null unique,
  account_id text not null references accounts,
  opened_at timestamptz not null,
  alive_until timestamptz not null,
  primary key (vm_id, type)
);
create index console_sessions_account on console_sessions (account_id);
