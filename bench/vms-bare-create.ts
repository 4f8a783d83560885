// What POST /vms costs at least: the same ten statements in bare Fastify, each named, in one transaction on the same tables. No checks,
// no rules, no retries. Arguments: database, account.
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'
import pg from 'pg'
import { answerParent } from './vms-process.ts'

const [url, accountId = ''] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: url, max: 16 })
const newId = (): string => `c${Date.now().toString(36)}${randomBytes(8).toString('hex')}`
const randomMac = (): string =>
  `02:${randomBytes(5)
    .toString('hex')
    .replace(/..(?!$)/g, '$&:')}`
const randomAddress = (): string => `10.77.${randomInt(256)}.${randomInt(256)}`

const { rows } = await pool.query(`
  select h.id as host_id, h.region_id, o.id as pool_id, p.id as plan_id, p.vcpu, p.ram_mib, p.disk_gib, p.price_cents, t.id as template_id
  from hosts h, address_pools o, plans p, os_templates t where p.slug = 'nano' and t.slug = 'debian-12' and o.cidr = '10.77.0.0/16'`)
const sold = rows[0] as Record<string, string>

const statements = {
  quota: `update account_quotas set used = used + 1 where account_id = $1 and name = 'vms' and used + 1 <= limit_override`,
  host: `update hosts set vcpu_used = vcpu_used + $2, ram_used_mib = ram_used_mib + $3, disk_used_gib = disk_used_gib + $4
    where id = $1 and ram_used_mib + $3 <= ram_total_mib`,
  address: `delete from free_addresses where address = (select address from free_addresses where pool_id = $1 and address >= $2::inet
    order by pool_id, address limit 1 for update skip locked) returning host(address) as address`,
  vm: `insert into vms (id, account_id, region_id, host_id, plan_id, os_template_id, uuid, name, hostname, status, vcpu, ram_mib, disk_gib,
      bandwidth_gb, network_mbps, throttle_mbps, network_10g, daily_backup, is_protected, ip_address, address_pool_id, mac, renewal_day,
      period_started_at, period_price_cents, next_renewal_at, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $8, 'PROVISIONING', $9, $10, $11, 1000, 1000, 10, false, false, false, $12, $13, $14, 1, $15, $16, $15,
      $15, $15) returning *`,
  port: `insert into vm_ports (vm_id, host_id, account_id) values ($1, $2, $3)`,
  event: `insert into events (account_id, number, id, type, subject_id, data, created_at)
    values ($1, $2, $3, 'vm.provisioning', $4, $5, $6)`,
  run: `insert into workflow_runs (id, name, label, owner_id, subject_id, input, next_attempt_at, deadline_at, created_at)
    values ($1, 'vm.provision', 'CREATE', $2, $3, $4, $5, $5, $5)`,
  job: `insert into pgboss.job (name, data) values ('workflow', $1)`,
  wallet: `update wallets set balance_cents = balance_cents - $2, transaction_count = transaction_count + 1
    where account_id = $1 and balance_cents >= $2 returning transaction_count, balance_cents`,
  ledger: `insert into wallet_transactions (id, account_id, number, type, amount_cents, balance_after_cents, description, reference_type,
      reference_id, created_at)
    values ($1, $2, $3, 'VM_CHARGE', $4, $5, $6, 'VM', $7, $8)`,
}

let events = 0

async function create(client: pg.PoolClient, hostname: string): Promise<object> {
  const ask = async (name: keyof typeof statements, ...values: unknown[]): Promise<Record<string, unknown>> =>
    (await client.query({ name, text: statements[name], values })).rows[0]
  const { host_id, region_id, pool_id, plan_id, vcpu, ram_mib, disk_gib, price_cents, template_id } = sold
  const [id, runId, now] = [newId(), newId(), new Date()]
  await ask('quota', accountId)
  await ask('host', host_id, vcpu, ram_mib, disk_gib)
  const { address } = await ask('address', pool_id, randomAddress())
  const place = [vcpu, ram_mib, disk_gib, address, pool_id, randomMac(), now, price_cents]
  const vm = await ask('vm', id, accountId, region_id, host_id, plan_id, template_id, randomUUID(), hostname, ...place)
  await ask('port', id, host_id, accountId)
  await ask('run', runId, accountId, id, JSON.stringify({ vmId: id }), now)
  await ask('job', JSON.stringify({ runId }))
  await ask('event', accountId, ++events + 1_000_000, newId(), id, JSON.stringify(vm), now)
  const wallet = await ask('wallet', accountId, price_cents)
  await ask('ledger', newId(), accountId, wallet['transaction_count'], -Number(price_cents), wallet['balance_cents'], hostname, id, now)
  return vm
}

const app = fastify()
app.post<{ Body: { hostname: string } }>('/api/public/v1/vms', async (request, reply) => {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const vm = await create(client, request.body.hostname)
    await client.query('commit')
    return await reply.code(202).send({ success: true, data: vm })
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
})
await app.listen({ host: '127.0.0.1', port: 0 })
answerParent(async () => (app.server.address() as AddressInfo).port)
