-- Who made and used the tokens by which machines get the master key. Kept for 90 days.
alter table join_tokens add column made_on text, add column used_at timestamptz, add column used_on text, add column revoked_at timestamptz;
