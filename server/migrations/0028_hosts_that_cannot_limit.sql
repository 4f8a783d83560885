-- Kernels without the modules of traffic control cannot hold an interface to a speed. Unknown counts as able: most can.
alter table hosts add column can_limit boolean not null default true;
