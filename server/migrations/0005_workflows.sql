-- Durable workflows. Customers see a run as an action; its steps are the journal from which any worker resumes after a crash.
-- `attempt` is the fencing token: a write with an older attempt than the row's changes nothing.
create table workflow_runs (
  id text primary key,
  name text not null,
  label text not null,
  owner_id text,
  subject_id text,
  input jsonb not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
  compensating boolean not null default false,
  cleanup_failed boolean not null default false,
  attempt integer not null default 0,
  progress smallint not null default 0 check (progress between 0 and 100),
  error text,
  error_code text,
  next_attempt_at timestamptz not null,
  lease_until timestamptz,
  deadline_at timestamptz not null,
  created_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz
);
-- One open run per subject: the constraint behind the "busy" error.
create unique index workflow_runs_one_open on workflow_runs (subject_id) where status in ('PENDING', 'RUNNING');
create index workflow_runs_subject on workflow_runs (subject_id, id desc);
create index workflow_runs_owner on workflow_runs (owner_id, id desc);
create index workflow_runs_ended on workflow_runs (completed_at);
-- A worker that dies stops extending its lease; another worker claims the run after it has expired.
create index workflow_runs_unfinished on workflow_runs (lease_until, next_attempt_at) where status in ('PENDING', 'RUNNING') or compensating;

create table workflow_steps (
  run_id text not null references workflow_runs on delete cascade,
  position smallint not null,
  name text not null,
  status text not null check (status in ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'UNDONE')),
  tries smallint not null default 0,
  result jsonb,
  error text,
  started_at timestamptz,
  completed_at timestamptz,
  primary key (run_id, position)
);
