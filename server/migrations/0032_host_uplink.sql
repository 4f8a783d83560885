-- Link speed of the host's fastest network card, null while unknown. 10G is sold only where there is such a card.
alter table hosts add column uplink_mbps integer check (uplink_mbps > 0);
update hosts set uplink_mbps = 10000 where driver = 'simulated';
