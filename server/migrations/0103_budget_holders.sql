-- Budgets of members too. A member is named by account and person, 'ACCOUNT/PERSON': what was used this month outlives the membership. The
-- budget of an invitation is that with which the member starts.
alter table budgets drop constraint budgets_subject_type_check;
alter table budgets add constraint budgets_subject_type_check check (subject_type in ('TOKEN', 'MEMBER', 'INVITATION'));
alter table budget_entries drop constraint budget_entries_subject_type_check;
alter table budget_entries add constraint budget_entries_subject_type_check check (subject_type in ('TOKEN', 'MEMBER'));
alter table budget_resources drop constraint budget_resources_subject_type_check;
alter table budget_resources add constraint budget_resources_subject_type_check check (subject_type in ('TOKEN', 'MEMBER'));

-- What the tokens of a person have used, the person has used. Tokens of one family have an entry each for the same charge.
insert into budget_entries (subject_type, subject_id, month, number, account_id, reference_id, kind, cents, used_after_cents, created_at)
select 'MEMBER', subject_id, month, number, account_id, reference_id, kind, cents,
  sum(cents) over (partition by subject_id, month order by number), created_at
from (
  select distinct on (k.account_id, k.created_by, e.month, e.number) k.account_id || '/' || k.created_by as subject_id, e.*
  from (select subject_id as token_id, month, number, account_id, reference_id, kind, cents, created_at from budget_entries) e
  join api_tokens k on k.id = e.token_id and k.created_by is not null) used;
insert into budget_resources (subject_type, subject_id, vm_id, volume_id, address_id, image_id)
select distinct 'MEMBER', k.account_id || '/' || k.created_by, vm_id, volume_id, address_id, image_id
from budget_resources r join api_tokens k on k.id = r.subject_id where k.created_by is not null;
