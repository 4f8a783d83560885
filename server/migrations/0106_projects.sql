-- A project is an account that another one pays for: whatever hangs on accounts hangs on it, and money and limits are the payer's.
-- refuses no row: the version before writes an address and no payer
alter table accounts
  add column payer_account_id text references accounts,
  -- Of a project: its tokens, members and whatever else has ended, and the ledger still names it.
  add column deleted_at timestamptz,
  alter column email drop not null,
  add constraint accounts_payer check ((payer_account_id is null) = (email is not null)),
  add constraint accounts_deleted check (payer_account_id is not null or deleted_at is null),
  -- To the version before a project would be an account with a wallet and limits of its own: none is made before the contract.
  add constraint accounts_no_projects check (payer_account_id is null);
create index accounts_payer_projects on accounts (payer_account_id) where payer_account_id is not null;

-- What was paid for a project, and what it was called then.
alter table wallet_transactions add column project_id text, add column project_name text,
  add constraint wallet_transactions_project check ((project_id is null) = (project_name is null));
create index wallet_transactions_of_project on wallet_transactions (project_id, number) where project_id is not null;
