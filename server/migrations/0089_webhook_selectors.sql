-- Webhooks for events of some resources only: as their owner wrote it, and as it is compared with labels. Null: of all.
alter table webhooks add column label_selector text, add column selector jsonb;
