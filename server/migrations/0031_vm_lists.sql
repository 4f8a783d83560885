-- Lists of an account's VMs by region or plan, and sorted by name or renewal.
create index vms_account_region on vms (account_id, region_id, id desc);
create index vms_account_plan on vms (account_id, plan_id, id desc);
create index vms_account_name on vms (account_id, lower(name), id);
create index vms_account_renewal on vms (account_id, next_renewal_at, id);
