-- The version of the port that was wanted last, which the controller lists.
alter table simulated.ports add column version integer not null default 0;
