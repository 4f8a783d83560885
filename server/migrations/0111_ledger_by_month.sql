-- The ledger of all accounts by time: it grows in that order, so that a small index of ranges finds a month.
create index wallet_transactions_months on wallet_transactions using brin (created_at);
