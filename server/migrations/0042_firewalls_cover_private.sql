-- Whether its rules also filter the private interfaces of the VMs that it is bound to.
alter table firewalls add column covers_private boolean not null default false;
