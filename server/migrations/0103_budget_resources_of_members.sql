-- What was made by the tokens of a person, the person has made.
insert into budget_resources (subject_type, subject_id, vm_id, volume_id, address_id, image_id)
select distinct 'MEMBER', k.account_id || '/' || k.created_by, vm_id, volume_id, address_id, image_id
from budget_resources r join api_tokens k on k.id = r.subject_id where k.created_by is not null;
