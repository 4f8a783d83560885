-- Budgets of members, invitations and projects too. A member is named by account and person, 'ACCOUNT/PERSON': what was used this month outlives
-- the membership. The budget of an invitation is that with which the member starts. A project is named by its account.
alter table budgets drop constraint budgets_subject_type_check;
alter table budgets add constraint budgets_subject_type_check check (subject_type in ('TOKEN', 'MEMBER', 'INVITATION', 'PROJECT'));
alter table budget_entries drop constraint budget_entries_subject_type_check;
alter table budget_entries add constraint budget_entries_subject_type_check check (subject_type in ('TOKEN', 'MEMBER', 'PROJECT'));
alter table budget_resources drop constraint budget_resources_subject_type_check;
alter table budget_resources add constraint budget_resources_subject_type_check check (subject_type in ('TOKEN', 'MEMBER', 'PROJECT'));
