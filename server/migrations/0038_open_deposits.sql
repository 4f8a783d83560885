-- Open deposits: counted per account, and expired by age.
create index payments_open on payments (account_id, created_at) where status = 'PENDING';
