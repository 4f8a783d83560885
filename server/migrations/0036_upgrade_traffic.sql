-- Traffic of the plan that is not part of this billing period: an upgrade in the middle of a period pays for the rest of it, and brings the
-- additional traffic for the rest.
alter table vms add column bandwidth_withheld_bytes bigint not null default 0 check (bandwidth_withheld_bytes >= 0);
