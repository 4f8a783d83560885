-- No process is left to which a project would be an account that pays for itself.
alter table accounts drop constraint if exists accounts_no_projects;
