-- How many DIMMs a simulated machine got since it was started: it has slots for so many, as a real one.
alter table simulated.machines add column dimms integer not null default 0;
