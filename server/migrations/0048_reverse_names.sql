-- What PTR records say of public addresses. A null name: the record is to be removed, and then the row. Each change increments `version`.
create table reverse_names (
  address inet primary key,
  account_id text not null references accounts,
  name text,
  version integer not null default 1,
  state text not null default 'PENDING' check (state in ('PENDING', 'SET', 'FAILED')),
  error text,
  claimed_until timestamptz,
  next_try_at timestamptz,
  updated_at timestamptz not null
);
create index reverse_names_pending on reverse_names (next_try_at) where state <> 'SET';
