// One account tries to fill the disks of the product: everything it can store has an end with a clear error, and hosts keep their reserve.
import { beforeAll, describe, expect, test } from 'vitest'
import { CHANGES_PER_HOUR } from '../src/features/audit-log/audit-trail.ts'
import { MAX_BYTES, MAX_KEYS } from '../src/http/api/idempotency.ts'
import { sql } from '../src/kernel/database/db.ts'
import type { Shot } from './attacker.ts'
import { testApp, type Answer } from './harness.ts'
import { expectUnharmed, legitimateCustomer, measureImpact, startTarget } from './legitimate-customer.ts'
import { generateKey } from './openssh-keys.ts'

const LONG = 'x'.repeat(100)
/** The largest that is accepted. */
const RULE = {
  direction: 'IN',
  action: 'ACCEPT',
  protocol: 'TCP',
  port: '1',
  sourceIps: Array.from({ length: 50 }, (_, i) => `10.0.0.${i}`),
}

describe('an account that stores all it can', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '10000.00' })
  const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
  const nano = plans.find(({ slug }) => slug === 'nano')!.id

  /** Repeats it until it is refused, and returns how often it was accepted. */
  const until = async (most: number, make: (i: number) => Promise<Answer>): Promise<[number, Answer]> => {
    for (let i = 0; i <= most; i++) {
      const answer = await make(i)
      if (answer.status === 202) await app.settle()
      if (answer.status >= 300) return [i, answer]
    }
    throw new Error(`More than ${most} were accepted`)
  }

  test.each<[string, number, (i: number) => Promise<Answer>]>([
    ['SSH keys', 50, () => customer.post('/ssh-keys', { name: LONG, publicKey: generateKey().line })],
    [
      'webhooks',
      20,
      (i) => customer.post('/webhooks', { url: `https://example.com/${i}${'x'.repeat(1_900)}`, events: ['vm.created'], description: LONG }),
    ],
    ['firewalls', 10, () => customer.post('/firewalls', { name: LONG, description: LONG })],
    [
      'networks',
      10,
      async (i) => customer.post('/networks', { name: LONG, nodeId: (await app.given.vmInput()).regionId, cidr: `10.${i}.0.0/24` }),
    ],
    ['tickets', 20, () => customer.post('/tickets', { subject: LONG, body: 'x'.repeat(10_000) })],
    ['VMs', 10, async () => customer.post('/vms', { ...(await app.given.vmInput()), planId: nano })],
  ])('gets %s up to %i', async (_what, most, make) => {
    const [accepted, refused] = await until(most, make)
    expect([accepted, refused.status, refused.headers['x-error-code']]).toEqual([most, 422, 'quota_exceeded'])
    expect(refused.body.error).toMatch(/^Quota exceeded: \d+ of \d+ /)
  })

  test('gets so many rules and replies', async () => {
    const firewall = (await customer.get('/firewalls')).body.data[0].id as string
    const rules = await until(50, () => customer.post(`/firewalls/${firewall}/rules`, { ...RULE, sourceIps: [] }))
    expect([rules[0], rules[1].status, rules[1].headers['x-error-code']]).toEqual([50, 422, 'quota_exceeded'])
    const all = Array.from({ length: 11 }, () => RULE) // of 50 addresses each
    expect(await customer.put(`/firewalls/${firewall}/rules`, { rules: all })).toMatchObject({ status: 422 })
    const ticket = (await customer.get('/tickets')).body.data[0].id as string
    const replies = await until(100, () => customer.post(`/tickets/${ticket}/replies`, { body: 'x'.repeat(10_000) }))
    expect([replies[0], replies[1].status, replies[1].headers['x-error-code']]).toEqual([100, 422, 'quota_exceeded'])
  })

  test('gets so many copies of a VM, and so many GiB of all', async () => {
    const vms = ((await customer.get('/vms')).body.data as { id: string }[]).map(({ id }) => id)
    await app.db.run(sql`update catalog_values set value = 100 where name = 'quota.copies_gib'`)
    const snapshots = await until(5, () => customer.post(`/vms/${vms[0]}/snapshots`, { name: LONG }))
    expect([snapshots[0], snapshots[1].status, snapshots[1].headers['x-error-code']]).toEqual([5, 422, 'quota_exceeded'])
    const backups = await until(10, (i) => customer.post(`/vms/${vms[1 + (i % 3)]}/backups`, { name: LONG }))
    expect([backups[0], backups[1].status, backups[1].headers['x-error-code']]).toEqual([5, 422, 'quota_exceeded'])
    expect(backups[1].body.error).toMatch(/100 of 100/)
    await app.db.run(sql`update catalog_values set value = 1200 where name = 'quota.copies_gib'`)
  })

  test('leaves the reserve of the host', async () => {
    const vms = ((await customer.get('/vms')).body.data as { id: string }[]).map(({ id }) => id)
    await app.db.run(sql`update hosts set disk_total_gib = disk_used_gib + 60`)
    const [, refused] = await until(50, (i) => customer.post(`/vms/${vms[4 + (i % 6)]}/snapshots`, { name: LONG }))
    expect([refused.status, refused.headers['x-error-code']]).toEqual([503, 'no_capacity'])
    const { left, reserve } = await app.db.one<{ left: number; reserve: number }>(sql`
      select disk_total_gib - disk_used_gib as left, disk_reserve_gib as reserve from hosts`)
    expect(reserve).toBeGreaterThan(0)
    expect(left).toBeGreaterThanOrEqual(reserve)
    await app.db.run(sql`update hosts set disk_total_gib = 10000`)
  })

  test('gets so many idempotency keys and bytes of answers', async () => {
    const fill = (keys: number, bytes: number) =>
      app.db.run(sql`
        insert into idempotency_keys (account_id, key, fingerprint, status, body, created_at, expires_at)
        select ${customer.accountId}, 'old-' || n, '', 200, convert_to(repeat('x', ${bytes}::int), 'UTF8'), ${app.clock.now()},
          ${new Date(app.clock.now().getTime() + 3_600_000)} from generate_series(1, ${keys}::int) n`)
    const [vm] = (await customer.get('/vms')).body.data as { id: string }[]
    const write = (i: number) => customer.patch(`/vms/${vm!.id}`, { name: `n${i}` }, { 'idempotency-key': `new-${i}` })
    for (const [keys, bytes] of [
      [MAX_KEYS - 5, 0],
      [64, MAX_BYTES / 64 - 64],
    ] as const) {
      await app.db.run(sql`delete from idempotency_keys`)
      await fill(keys, bytes)
      const [, refused] = await until(50, write)
      expect([refused.status, refused.headers['x-error-code']]).toEqual([422, 'too_many_idempotency_keys'])
    }
    await app.db.run(sql`delete from idempotency_keys`)
  })

  test('gets so many lines of the audit log an hour, whether its requests succeed or not', async () => {
    const vms = (await customer.get('/vms')).body.data as { id: string }[]
    const change = (i: number) => customer.patch(`/vms/${vms[i % vms.length]!.id}`, { name: `n${i}` })
    const lines = async (): Promise<number> =>
      (await app.db.one<{ count: number }>(sql`select count(*)::int as count from audit_log where account_id = ${customer.accountId}`))
        .count
    for (let i = 0; i < CHANGES_PER_HOUR / vms.length; i++) await Promise.all(vms.map((_, n) => change(n)))
    const before = await lines()
    for (let i = 0; i < 200; i++) {
      await change(i)
      await customer.delete('/vms/cunknown000000000000000')
    }
    await app.deps.audit.sweep()
    expect((await lines()) - before).toBeLessThanOrEqual(101)
  })

  test('sends no body that is larger than any it needs', async () => {
    expect(await customer.post('/tickets', { subject: 'x', body: 'x'.repeat(300_000) })).toMatchObject({ status: 413 })
    expect(await customer.post('/tickets', { subject: 'x', body: 'x'.repeat(10_001) })).toMatchObject({ status: 400 })
    expect(await customer.post('/ssh-keys', { name: 'x', publicKey: `ssh-rsa ${'A'.repeat(20_000)}` })).toMatchObject({ status: 400 })
  })

  test('has stored a few megabytes with all of that', async () => {
    const { bytes } = await app.db.one<{ bytes: number }>(sql`select pg_database_size(current_database())::float8 as bytes`)
    expect(bytes).toBeLessThan(120 * 1024 ** 2)
  })
})

describe('meanwhile', async () => {
  const target = await startTarget()
  let shots: Shot[]
  beforeAll(async () => {
    const { token } = await legitimateCustomer(target)
    const headers = (n: number) => ({
      'x-api-key': token,
      'x-forwarded-for': '10.1.1.1',
      'content-type': 'application/json',
      'idempotency-key': `k${n}`,
    })
    const bodies: [string, object][] = [
      ['/tickets', { subject: LONG, body: 'x'.repeat(10_000) }],
      ['/firewalls', { name: LONG }],
      ['/ssh-keys', { name: LONG, publicKey: generateKey().line }],
      ['/webhooks', { url: 'https://example.com', events: ['vm.created'] }],
    ]
    shots = Array.from({ length: 10_000 }, (_, n) => {
      const [path, body] = bodies[n % bodies.length]!
      return { method: 'POST', url: `${target.url}${path}`, headers: headers(n), body: JSON.stringify(body) }
    })
  })

  test('another customer does not wait', async () => {
    const customer = await legitimateCustomer(target)
    const impact = await measureImpact({ shots, perSecond: 60 }, () => customer.work())
    expect(Object.keys(impact.statuses).filter((status) => !['201', '409', '422', '429'].includes(status))).toEqual([])
    expectUnharmed(impact)
  })
})
