-- Costs are asked for by name and label also of what is gone: its last name and labels are kept, one row each.
create table deleted_resources (
  id text primary key,
  account_id text not null references accounts,
  type text not null check (type in ('VM', 'VOLUME', 'IMAGE', 'ADDRESS')),
  name text not null,
  labels jsonb not null
);
create index deleted_resources_account on deleted_resources (account_id);

-- What the ledger refers to.
create view charged_resources as
select id, account_id, 'VM' as type, name, labels, false as is_deleted from vms
union all select id, account_id, 'VOLUME', name, labels, deleted_at is not null from volumes
union all select id, account_id, 'IMAGE', name, labels, status = 'DELETING' from images
union all select id, account_id, 'ADDRESS', name, labels, false from addresses
union all select id, account_id, type, name, labels, true from deleted_resources;

-- What a price was made of: [{"part": "PLAN", "cents": "1200"}, ...]. Null: of one part, or from before.
alter table wallet_transactions add column price_parts jsonb;
