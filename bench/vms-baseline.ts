// The floor of GET /vms and GET /vms/{id}: node:http, a token looked up by its hash in memory, a counter, one named statement,
// JSON.stringify. It answers what the product answers. Arguments: database, then account and token of each customer.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { answerParent } from './vms-process.ts'

const [url, ...customers] = process.argv.slice(2)
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')
const accounts = new Map(customers.map((each) => each.split('=') as [string, string]).map(([id, token]) => [hashOf(token), id]))
const counts = new Map<string, number>()
const pool = new pg.Pool({ connectionString: url, max: 16 })

const columns = `v.id, v.name, v.hostname, v.status, v.vcpu, v.ram_mib, v.disk_gib, v.storage, v.dedicated_cpu, v.bandwidth_gb, v.network_mbps, v.network_10g, v.daily_backup,
  v.is_protected, v.public_ipv4, host(v.ip_address) as ip, host(v.ipv6_address) as ipv6, v.ipv6_prefix, r.slug as region_slug, r.name as region_name, p.slug as plan_slug, p.name as plan_name, p.price_cents,
  t.slug as template_slug, t.name as template_name, t.version, t.arch, v.next_renewal_at, v.billing_status, v.created_at, v.labels, v.shelved_at, h.unreachable_since as host_unreachable_since`
const joins = `join regions r on r.id = v.region_id join plans p on p.id = v.plan_id join os_templates t on t.id = v.os_template_id left join hosts h on h.id = v.host_id`
const LIST = {
  name: 'list',
  text: `select ${columns}, (select used from account_quotas q where q.account_id = $1 and q.name = 'vms') as total
    from (select id from vms where account_id = $1 order by id desc limit 20) page join vms v using (id) ${joins} order by v.id desc`,
}
const GET = {
  name: 'get',
  text: `select ${columns}, coalesce(b.used_bytes, 0) as bandwidth_used_bytes, v.bandwidth_pack_bytes, v.updated_at, v.readiness, v.status_reason,
      n.name as reverse_name, n.state as reverse_state, n.error as reverse_error,
      n6.name as ipv6_reverse_name, n6.state as ipv6_reverse_state, n6.error as ipv6_reverse_error,
      (select json_agg(json_build_object('id', k.id, 'name', k.name, 'fingerprint', k.fingerprint))
        from ssh_key_uses u join ssh_keys k on k.id = u.ssh_key_id where u.vm_id = v.id) as keys,
      (select json_agg(json_build_object('id', f.id, 'name', f.name))
        from firewall_bindings b join firewalls f on f.id = b.firewall_id where b.vm_id = v.id) as firewalls,
      (select json_agg(json_build_object('id', n.id, 'name', n.name))
        from network_attachments a join networks n on n.id = a.network_id where a.vm_id = v.id) as networks,
      (select json_build_object('id', w.id, 'action', w.label, 'status', w.status, 'progress', w.progress)
        from workflow_runs w where w.subject_id = v.id and w.status in ('PENDING', 'RUNNING')) as action,
      (select json_build_object('id', g.id, 'name', g.name)
        from placement_group_members m join placement_groups g on g.id = m.group_id where m.vm_id = v.id) as placement_group,
      (select json_build_object('hour', o.hour, 'keepDaily', o.keep_daily, 'keepWeekly', o.keep_weekly, 'keepMonthly', o.keep_monthly)
        from backup_policies o where o.vm_id = v.id) as policy,
      (select json_build_object('status', u.status, 'seconds', u.seconds, 'errors', u.errors)
        from vm_user_data u where u.vm_id = v.id and u.sealed is not null order by u.generation desc limit 1) as initialization,
      (select json_build_object('since', e.started_at, 'endsAt', e.ends_at, 'user', o.default_user)
        from vm_rescues e join os_templates o on o.id = e.template_id where e.vm_id = v.id and e.started_at is not null) as rescue,
      (select json_build_object('imageId', c.image_id, 'name', m.name, 'since', c.attached_at, 'active', c.active)
        from vm_isos c join images m on m.id = c.image_id where c.vm_id = v.id and c.attached_at is not null) as iso,
      (select value from catalog_values where name = 'price.copies_gib') as copies_price
    from vms v ${joins}
      left join bandwidth_baselines b on b.vm_id = v.id and b.mac = v.mac
      left join reverse_names n on n.address = v.ip_address and n.account_id = v.account_id
      left join reverse_names n6 on n6.address = v.ipv6_address and n6.account_id = v.account_id where v.id = $2 and v.account_id = $1`,
}
const ALLOWED = [
  'stop',
  'restart',
  'upgrade',
  'resize',
  'rebuild',
  'delete',
  'password',
  'snapshot',
  'restore',
  'backup',
  'attach',
  'detach',
  'grow',
  'console',
  'shelve',
  'rescue',
  'attachIso',
]

const money = (cents: unknown): string => (Number(cents) / 100).toFixed(2)
const item = (row: Record<string, unknown>) => ({
  id: row['id'],
  name: row['name'],
  hostname: row['hostname'],
  status: row['status'],
  vcpu: row['vcpu'],
  ram: row['ram_mib'],
  disk: row['disk_gib'],
  storage: row['storage'],
  dedicatedCpu: row['dedicated_cpu'],
  bandwidth: row['bandwidth_gb'],
  networkSpeed: row['network_mbps'],
  network10gEnabled: row['network_10g'],
  dailyBackupEnabled: row['daily_backup'],
  isProtected: row['is_protected'],
  publicIpv4: row['public_ipv4'],
  ipAddress: row['ip'],
  ipv6Address: row['ipv6'],
  ipv6Prefix: row['ipv6_prefix'],
  region: { slug: row['region_slug'], name: row['region_name'] },
  plan: { slug: row['plan_slug'], name: row['plan_name'], priceMonthly: money(row['price_cents']) },
  osTemplate: { slug: row['template_slug'], name: row['template_name'], version: row['version'], arch: row['arch'] },
  billing: { nextRenewalAt: row['next_renewal_at'], status: row['billing_status'], priceMonthly: money(row['price_cents']) },
  createdAt: row['created_at'],
  labels: row['labels'],
  shelvedAt: row['shelved_at'],
  hostUnreachableSince: row['host_unreachable_since'],
})
const full = (row: Record<string, unknown>) => ({
  ...item(row),
  networkLimited: true,
  reverseName: row['reverse_name'],
  reverseNameState: row['reverse_state'],
  reverseNameReason: row['reverse_error'],
  ipv6ReverseName: row['ipv6_reverse_name'],
  ipv6ReverseNameState: row['ipv6_reverse_state'],
  ipv6ReverseNameReason: row['ipv6_reverse_error'],
  backupPolicy: row['policy'] ?? { hour: null, keepDaily: 7, keepWeekly: 0, keepMonthly: 0 },
  copiesPriceMonthly: money(row['copies_price']), // snapshots and backups cost nothing here
  bandwidthUsedBytes: Number(row['bandwidth_used_bytes']),
  bandwidthPackBytes: row['bandwidth_pack_bytes'],
  sshKeys: row['keys'] ?? [],
  firewalls: row['firewalls'] ?? [],
  placementGroup: row['placement_group'],
  privateNetworks: row['networks'] ?? [],
  updatedAt: row['updated_at'],
  currentAction: row['action'],
  allowedActions: ALLOWED,
  readiness: row['readiness'],
  statusReason: row['status_reason'],
  initialization: row['initialization'],
  rescue: row['rescue'],
  iso: row['iso'],
})

async function answer(path: string, accountId: string): Promise<object> {
  const id = path.split('/vms/')[1]
  if (id) return { success: true, data: full((await pool.query({ ...GET, values: [accountId, id] })).rows[0]) }
  const { rows } = await pool.query({ ...LIST, values: [accountId] })
  const total = Number(rows[0].total)
  return { success: true, data: rows.map(item), pagination: { page: 1, limit: 20, total, totalPages: Math.ceil(total / 20) } }
}

const server = createServer(async (request, response) => {
  const hash = hashOf(request.headers['x-api-key'] as string)
  const accountId = accounts.get(hash)
  const count = (counts.get(hash) ?? 0) + 1
  counts.set(hash, count)
  if (!accountId || count > 10_000_000) return void response.writeHead(401).end()
  const body = Buffer.from(JSON.stringify(await answer(request.url!, accountId)))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
})
server.listen(0, '127.0.0.1', () => answerParent(async () => (server.address() as AddressInfo).port))
