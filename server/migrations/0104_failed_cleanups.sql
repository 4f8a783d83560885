-- The few actions whose cleanup failed are looked for every half a minute.
create index workflow_runs_cleanup_failed on workflow_runs (subject_id) where cleanup_failed;
