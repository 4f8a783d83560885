-- A URL that opens a console once. Only the hash of its secret is kept; the row stays for a while after its use or its end, so that
-- whoever comes too late is told so.
create table console_links (
  secret_hash bytea primary key,
  vm_id text not null references vms on delete cascade,
  account_id text not null references accounts,
  actor_id text not null,
  type text not null check (type in ('serial', 'vnc')),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index console_links_vm on console_links (vm_id);
create index console_links_expiry on console_links (expires_at);

-- Who looks at which console now, whatever process carries it. A process says again and again that its sessions live; those of one that
-- died run out by themselves.
create table console_sessions (
  vm_id text not null references vms on delete cascade,
  type text not null,
  id text not null unique,
  account_id text not null references accounts,
  opened_at timestamptz not null,
  alive_until timestamptz not null,
  primary key (vm_id, type)
);
create index console_sessions_account on console_sessions (account_id);
