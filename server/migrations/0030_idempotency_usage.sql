-- What an account has stored in idempotency_keys. Counting the rows for every write would take 118 ms at 50,000 keys. The triggers run
-- once per statement, so that pruning many keys updates an account's row once.
create table idempotency_usage (
  account_id text primary key references accounts,
  keys integer not null check (keys >= 0),
  bytes bigint not null check (bytes >= 0)
) with (fillfactor = 50);

insert into idempotency_usage (account_id, keys, bytes)
select account_id, count(*), sum(octet_length(body)) from idempotency_keys group by account_id;

create function count_idempotency_keys() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into idempotency_usage as u (account_id, keys, bytes)
    select account_id, count(*), sum(octet_length(body)) from added group by account_id order by account_id
    on conflict (account_id) do update set keys = u.keys + excluded.keys, bytes = u.bytes + excluded.bytes;
  elsif tg_op = 'UPDATE' then
    update idempotency_usage u set bytes = u.bytes + c.bytes
    from (select account_id, sum(bytes) as bytes
      from (select account_id, octet_length(body) as bytes from added union all select account_id, -octet_length(body) from removed) b
      group by account_id) c
    where u.account_id = c.account_id and c.bytes <> 0;
  else
    update idempotency_usage u set keys = u.keys - c.keys, bytes = u.bytes - c.bytes
    from (select account_id, count(*) as keys, sum(octet_length(body)) as bytes from removed group by account_id) c
    where u.account_id = c.account_id;
  end if;
  return null;
end $$;

create trigger count_added after insert on idempotency_keys
  referencing new table as added for each statement execute function count_idempotency_keys();
create trigger count_changed after update on idempotency_keys
  referencing old table as removed new table as added for each statement execute function count_idempotency_keys();
create trigger count_removed after delete on idempotency_keys
  referencing old table as removed for each statement execute function count_idempotency_keys();
