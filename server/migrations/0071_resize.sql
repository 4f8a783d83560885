-- A VM that had a plan with more traffic for a part of the period has a part of that traffic: less than nothing is withheld then.
alter table vms drop constraint vms_bandwidth_withheld_bytes_check;
