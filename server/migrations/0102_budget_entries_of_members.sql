-- What the tokens of a person have used, the person has used. Tokens of one family have an entry each for the same charge.
insert into budget_entries (subject_type, subject_id, month, number, account_id, reference_id, kind, cents, used_after_cents, created_at)
select 'MEMBER', subject_id, month, number, account_id, reference_id, kind, cents,
  sum(cents) over (partition by subject_id, month order by number), created_at
from (
  select distinct on (k.account_id, k.created_by, e.month, e.number) k.account_id || '/' || k.created_by as subject_id, e.*
  from (select subject_id as token_id, month, number, account_id, reference_id, kind, cents, created_at from budget_entries) e
  join api_tokens k on k.id = e.token_id and k.created_by is not null) used;
