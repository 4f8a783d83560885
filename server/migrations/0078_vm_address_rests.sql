-- Whose VM had a public address that rests: it counts for that account until `available_at`. What is left after that says nothing.
alter table free_addresses add column vm_account_id text;
create index free_addresses_vm_rests on free_addresses (vm_account_id, available_at) where vm_account_id is not null;
