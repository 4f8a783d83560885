-- Events only ever come at the end: a few bytes for every 128 pages find those of the last days, however long the log has become.
create index events_age on events using brin (created_at);
