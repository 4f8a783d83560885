-- The trace that a run goes on with, as the W3C's traceparent; null where its process made none.
alter table workflow_runs add column trace_parent text;
