// Each kind is read by the index of its account: a search costs no more than what one account has, however many there are.
import { sql, type NotNull, type Queries, type Sql } from '../../kernel/database/db.ts'
import type { SearchResult } from './schema.ts'

export interface FoundRow {
  kind: NotNull<SearchResult['kind']>
  id: NotNull<string>
  name: NotNull<string>
  detail: string | null
  vm_id: string | null
  labels: Record<string, string> | null
}

interface Reader {
  accountId: string
  scopes: ReadonlySet<string>
}

/** `ip`: the text, where it is an address. */
interface Sought {
  text: string
  ip: string | null
  limit: number
}

/** A line each, with one before and after all: a text that has none can be found as a whole line, the start of one, or a part. */
const lines = (words: Sql): Sql => sql`concat_ws(chr(10), '', ${words}, '')`

/** Public, floating and private ones, and their names in reverse DNS. */
const addressesOf = (accountId: string, ip: string | null): Sql => sql`
  host(v.ip_address), host(v.ipv6_address), case when v.ipv6_prefix >>= ${ip}::inet then host(${ip}::inet) end,
  (select string_agg(host(n.address), chr(10)) from network_attachments n where n.vm_id = v.id),
  (select string_agg(concat_ws(chr(10), host(f.address), r.name), chr(10)) from addresses f
    left join reverse_names r on r.address = f.address and r.account_id = f.account_id where f.vm_id = v.id),
  (select string_agg(r.name, chr(10)) from reverse_names r where r.address in (v.ip_address, v.ipv6_address) and r.account_id = ${accountId})`

const everything = (accountId: string, readable: string[], { text, ip }: Sought): Sql => sql`
  select 'vm' as kind, v.id, v.name, coalesce(host(v.ip_address), host(v.ipv6_address), v.hostname) as detail, null as vm_id, v.labels,
    ${lines(sql`v.id, v.name, v.hostname, ${addressesOf(accountId, ip)}`)} as words
  from vms v where v.account_id = ${accountId} and 'vms:read' = any(${readable}::text[])
  union all
  select 'address', a.id, a.name, host(a.address), a.vm_id, a.labels,
    ${lines(sql`a.id, a.name, host(a.address), (select r.name from reverse_names r where r.address = a.address and r.account_id = a.account_id)`)}
  from addresses a where a.account_id = ${accountId} and 'addresses:read' = any(${readable}::text[])
  union all
  select 'network', n.id, n.name, n.cidr::text, null, n.labels, ${lines(sql`n.id, n.name, n.cidr::text`)}
  from networks n where n.account_id = ${accountId} and n.deleted_at is null and 'networks:read' = any(${readable}::text[])
  union all
  select 'firewall', f.id, f.name, nullif(f.description, ''), null, f.labels, ${lines(sql`f.id, f.name`)}
  from firewalls f where f.account_id = ${accountId} and 'firewalls:read' = any(${readable}::text[])
  union all
  select 'volume', o.id, o.name, o.size_gib || ' GiB', o.vm_id, o.labels, ${lines(sql`o.id, o.name`)}
  from volumes o where o.account_id = ${accountId} and o.deleted_at is null and 'volumes:read' = any(${readable}::text[])
  union all
  select 'volume_snapshot', s.id, s.name, o.name, null, s.labels, ${lines(sql`s.id, s.name`)}
  from volumes o cross join lateral (select id, name, labels from volume_snapshots where volume_id = o.id offset 0) s
  where o.account_id = ${accountId} and o.deleted_at is null and 'snapshots:read' = any(${readable}::text[])
  union all
  select 'snapshot', s.id, s.name, v.name, v.id, s.labels, ${lines(sql`s.id, s.name`)}
  from vms v cross join lateral (select id, name, labels from snapshots where vm_id = v.id offset 0) s
  where v.account_id = ${accountId} and 'snapshots:read' = any(${readable}::text[])
  union all
  select 'backup', b.id, b.name, v.name, v.id, b.labels, ${lines(sql`b.id, b.name`)}
  from vms v cross join lateral (select id, name, labels from backups where vm_id = v.id and not is_tombstone offset 0) b
  where v.account_id = ${accountId} and 'backups:read' = any(${readable}::text[])
  union all
  select 'image', i.id, i.name, i.kind, null, i.labels, ${lines(sql`i.id, i.name`)}
  from images i where i.account_id = ${accountId} and 'images:read' = any(${readable}::text[])
  union all
  select 'ssh_key', k.id, k.name, k.fingerprint, null, k.labels, ${lines(sql`k.id, k.name, k.fingerprint`)}
  from ssh_keys k where k.account_id = ${accountId} and 'ssh_keys:read' = any(${readable}::text[])
  union all
  select 'placement_group', g.id, g.name, g.policy, null, g.labels, ${lines(sql`g.id, g.name`)}
  from placement_groups g where g.account_id = ${accountId} and 'placement_groups:read' = any(${readable}::text[])
  union all
  select 'alert', a.id, a.name, a.metric, null, a.labels, ${lines(sql`a.id, a.name`)}
  from alerts a where a.account_id = ${accountId} and 'alerts:read' = any(${readable}::text[])
  union all
  select 'webhook', w.id, w.url, nullif(w.description, ''), null, w.labels, ${lines(sql`w.id, w.url, w.description`)}
  from webhooks w where w.account_id = ${accountId} and w.deleted_at is null and 'webhooks:read' = any(${readable}::text[])
  union all
  select 'project', p.id, p.name, null, null, null, ${lines(sql`p.id, p.name`)}
  from accounts p where p.payer_account_id = ${accountId} and p.deleted_at is null and 'projects:read' = any(${readable}::text[])
  union all
  select 'token', t.id, t.name, t.prefix, null, null, ${lines(sql`t.id, t.name, t.prefix`)}
  from api_tokens t where t.account_id = ${accountId} and 'tokens:read' = any(${readable}::text[])
  union all
  select 'action', r.id, r.label, r.status, case when coalesce(r.input ->> 'addressId', r.input ->> 'imageId') is null
    and r.subject_id is distinct from r.input ->> 'volumeId' then r.subject_id else coalesce(r.input ->> 'vmId', r.input ->> 'previousVmId') end,
    null, ${lines(sql`r.id`)}
  from workflow_runs r where r.id = ${text} and r.owner_id = ${accountId} and 'vms:read' = any(${readable}::text[])`

/** No pattern: every character of the text stands for itself. */
export const findMatches = (db: Queries, { accountId, scopes }: Reader, sought: Sought) =>
  db.many<FoundRow>(sql`
    with sought as materialized (select lower(coalesce(host(${sought.ip}::inet), ${sought.text}::text)) as text)
    select kind, id, name, vm_id, labels, case when strpos(lower(name), text) > 0 then detail else coalesce(
      (select line from string_to_table(words, chr(10)) line where line <> id and strpos(lower(line), text) > 0 order by length(line) limit 1),
      detail) end as detail
    from (${everything(accountId, [...scopes], sought)}) each cross join sought
    where strpos(lower(words), text) > 0
      or exists (select from jsonb_each_text(labels) pair where strpos(lower(pair.key || '=' || pair.value), text) > 0)
    order by case when strpos(lower(words), chr(10) || text || chr(10)) > 0 then 0 when strpos(lower(words), chr(10) || text) > 0 then 1
      when strpos(lower(words), text) > 0 then 2 else 3 end, length(name), lower(name), id
    limit ${sought.limit}`)
