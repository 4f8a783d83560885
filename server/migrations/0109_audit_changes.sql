-- What a change of the API was done to, by the name that it had, and what it changed: a list of {"field", "from", "to"}, bounded by the writer.
-- `resource` is the first half of the scope that the call needed: only who may read such resources is shown the other two.
alter table audit_log add column resource text, add column resource_name text, add column changes jsonb;
