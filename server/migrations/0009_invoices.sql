-- One invoice per account and month: the range of the account's ledger from `first_entry` to `last_entry`. Issued invoices are immutable.
create table invoices (
  id text primary key,
  account_id text not null references accounts,
  number integer not null unique check (number > 0),
  month date not null check (extract(day from month) = 1),
  first_entry integer not null,
  last_entry integer not null check (last_entry >= first_entry),
  currency text not null,
  opening_cents bigint not null,
  charged_cents bigint not null,
  paid_cents bigint not null,
  closing_cents bigint not null check (closing_cents = opening_cents + paid_cents - charged_cents),
  seller jsonb not null,
  customer jsonb not null,
  issued_at timestamptz not null,
  unique (account_id, month),
  unique (account_id, first_entry)
);
create index invoices_last_entry on invoices (account_id, last_entry desc);

create function reject_invoice_change() returns trigger language plpgsql as $$
begin
  raise exception 'issued invoices are immutable: % is not allowed', tg_op;
end $$;
create trigger invoices_immutable before update or delete on invoices for each row execute function reject_invoice_change();

-- Invoice numbers are allocated under this row's lock in the issuing transaction: a rollback leaves no gap.
create table invoice_counter (
  is_only boolean primary key default true check (is_only),
  last_number integer not null default 0
);
insert into invoice_counter default values;
