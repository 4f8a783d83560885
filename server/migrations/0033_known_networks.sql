-- Known addresses count by client network, as limits do: IPv4 without the prefix of a dual-stack socket, IPv6 by /64. An IPv6 network
-- becomes known again with the next sign-in from it.
insert into known_ips (user_id, address, last_used_at)
select user_id, substr(address, 8), last_used_at from known_ips where address like '::ffff:%.%'
on conflict (user_id, address) do update set last_used_at = greatest(known_ips.last_used_at, excluded.last_used_at);

delete from known_ips where strpos(address, ':') > 0;
