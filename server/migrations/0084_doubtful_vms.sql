-- Looked at every few seconds, among all others that are as they should be.
create index vms_doubtful on vms (id) where observed_power is not null or (status = 'STOPPED' and desired_running);
