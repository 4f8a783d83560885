-- Images of accounts in backup targets, from where a site that lost its image folder has them again.
create table image_copies (
  -- Which need not exist any more: its copy is removed then.
  image_id text not null,
  target_id text not null references backup_targets on delete cascade,
  -- The last run that stored or removed it.
  run_id text,
  -- Null until it is there.
  stored_at timestamptz,
  -- Of the content, as the target knows it.
  checksum text,
  -- When its object lock has to be renewed.
  renew_at timestamptz,
  -- Nothing is tried before.
  next_try_at timestamptz,
  -- Of the last try, if it failed.
  error text,
  -- Of a deleted one: what object lock keeps.
  locked_bytes bigint not null default 0,
  created_at timestamptz not null,
  primary key (image_id, target_id)
);
create index image_copies_target on image_copies (target_id);

-- What was received of an import until now, by all tries.
alter table images add column received_bytes bigint not null default 0;

-- What imports that failed have received, in the last day.
create table failed_imports (
  image_id text primary key,
  account_id text not null references accounts,
  bytes bigint not null,
  failed_at timestamptz not null
);
create index failed_imports_account on failed_imports (account_id, failed_at);

-- What nobody needs any more and object lock keeps.
alter table backup_repositories add column locked_bytes bigint not null default 0;
