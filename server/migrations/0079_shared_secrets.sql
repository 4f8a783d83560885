-- What the machines of the control plane share and no one copies: the files of the certificate authorities, each sealed by the master key.
create table pki_files (
  name text primary key,
  sealed bytea not null,
  changed_at timestamptz not null
);

-- One-time tokens by which another machine gets the master key: sealed by a key that only the token has, which is stored nowhere. Null once the
-- token was used or has expired; the row then still tells which.
create table join_tokens (
  hash bytea primary key,
  sealed_key bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
