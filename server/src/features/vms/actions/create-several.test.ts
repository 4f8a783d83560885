// POST /vms with `count` and `alternatives`: all or nothing, alike, and charged for what was placed.
import { describe, expect, test } from 'vitest'
import { fingerprint } from '../../../../test/fingerprint.ts'
import { testApp } from '../../../../test/harness.ts'
import { givenHost, givenRegion } from '../../../../test/hosts.ts'
import { allowManyVms } from '../../../../test/snapshot-backup-fixture.ts'
import { setQuotaLimit } from '../../accounts/service.ts'
import { sql } from '../../../kernel/database/db.ts'
import { formatCents } from '../../../kernel/money.ts'
import { changePlan, getPlan, getRegion } from '../../catalog/service.ts'
import { addPool } from '../../hosts/service.ts'

describe('several VMs', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const input = await app.given.vmInput()
  const other = await givenHost(app, 'other')
  await app.db.run(sql`update address_pools set host_id = null`)
  const elsewhere = await givenRegion(app, 'ams1')
  await app.db.tx((tx) =>
    addPool(tx, app.clock.now(), { regionId: elsewhere.region_id, hostId: null, cidr: '198.18.40.0/24', gateway: '198.18.40.1', dns: [] }),
  )
  const plans = new Map(
    (await app.db.many<{ id: string; slug: string }>(sql`select id, slug from plans`)).map(({ id, slug }) => [slug, id]),
  )
  const planId = plans.get('small')!
  const rich = () => app.given.customer({ credit: '1000.00' })
  type Customer = Awaited<ReturnType<typeof rich>>
  const balance = async (customer: Customer) => (await customer.get('/wallet')).body.data.balance
  const body = (changes: object = {}) => ({ ...input, planId, hostname: 'web-{n}', ...changes })

  /** Returns status, code and message of a refusal after checking that nothing changed. */
  const refused = async (customer: Customer, changes: object) => {
    const before = await fingerprint(app.db)
    const { status, headers, body: answer } = await customer.post('/vms', body(changes))
    expect(await fingerprint(app.db)).toEqual(before)
    const dry = await customer.post('/vms?dryRun=true', body(changes))
    expect([dry.status, dry.headers['x-error-code'], dry.body.error]).toEqual([status, headers['x-error-code'], answer.error])
    expect(await fingerprint(app.db)).toEqual(before)
    return { status, code: headers['x-error-code'], error: answer.error }
  }
  const on = (host: { id: string }, change: 'full' | 'free') =>
    app.db.run(sql`update hosts set maintenance = ${change === 'full'} where id = ${host.id}`)

  describe('of a count', () => {
    test('are alike, numbered, spread, and have an action and a charge each', async () => {
      const customer = await rich()
      const { status, headers, body: answer } = await customer.post('/vms', body({ count: 3, name: 'Web {n} of three' }))
      expect(status).toBe(202)
      const { vm, actionId, vms, actionIds, ...rest } = answer.data
      expect([vm, actionId, rest]).toEqual([vms[0], actionIds[0], {}])
      expect(headers['location']).toContain(`/vms/${vm.id}/actions/${actionId}`)
      expect(vms.map(({ hostname, name }: { hostname: string; name: string }) => [hostname, name])).toEqual([
        ['web-1', 'Web 1 of three'],
        ['web-2', 'Web 2 of three'],
        ['web-3', 'Web 3 of three'],
      ])
      expect(new Set(vms.map(({ ipAddress }: { ipAddress: string }) => ipAddress)).size).toBe(3)
      const { hosts } = await app.db.one<{ hosts: number }>(
        sql`select count(distinct host_id)::int as hosts from vms where id = any(${vms.map(({ id }: { id: string }) => id)}::text[])`,
      )
      expect(hosts).toBe(2)
      expect(await balance(customer)).toBe('982.00')
      await app.settle()
      for (const [index, { id }] of vms.entries()) {
        expect((await customer.get(`/vms/${id}/actions/${actionIds[index]}`)).body.data).toMatchObject({
          action: 'CREATE',
          status: 'COMPLETED',
        })
        expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'RUNNING' })
      }
      const [entry] = (await customer.get('/audit-log')).body.data
      expect(entry.resourceIds).toHaveLength(3)
    })

    test('get a number appended where there is no {n}, and one alone keeps its name', async () => {
      const customer = await rich()
      const made = async (changes: object) =>
        (await customer.post('/vms', body(changes))).body.data.vms.map(({ hostname, name }: { hostname: string; name: string }) => [
          hostname,
          name,
        ])
      expect(await made({ hostname: 'db', count: 2 })).toEqual([
        ['db-1', 'db-1'],
        ['db-2', 'db-2'],
      ])
      expect(await made({ hostname: '{n}{n}', name: 'n', count: 2 })).toEqual([
        ['11', 'n-1'],
        ['22', 'n-2'],
      ])
      expect(await made({ hostname: 'one', count: 1 })).toEqual([['one', 'one']])
      await app.settle()
    })

    test('answer the same again for a repeated Idempotency-Key', async () => {
      const customer = await rich()
      const key = { 'idempotency-key': 'several' }
      const first = await customer.post('/vms', body({ count: 20 }), key)
      expect(first.body.data.actionIds).toHaveLength(20)
      const second = await customer.post('/vms', body({ count: 20 }), key)
      expect([second.body, second.headers['idempotent-replayed']]).toEqual([first.body, 'true'])
      expect((await customer.get('/vms')).body.pagination.total).toBe(20)
      expect(await balance(customer)).toBe('880.00')
      expect((await customer.post('/vms', body({ count: 19 }), key)).status).toBe(422)
      await app.settle()
    })

    test('are quoted together', async () => {
      const quote = (await (await rich()).post('/vms?dryRun=true', body({ count: 4 }))).body.data
      expect(quote).toEqual({ charge: '24.00', monthly: '24.00', currency: 'USD', balanceAfter: '976.00' })
    })

    test.each([
      [{ count: 0 }, 'count must be 1-20'],
      [{ count: 21 }, 'count must be 1-20'],
      [{ count: 2, hostname: '-{n}' }, 'hostname must be 1-63 letters'],
      [{ count: 2, hostname: 'h'.repeat(62) }, 'hostname must be 1-63 letters'],
      [{ count: 2, hostname: 'web-{m}' }, 'hostname must be 1-63 letters'],
      [{ count: 2, name: 'n'.repeat(99) }, 'name must be 1-100 characters, also with its number'],
      [{}, 'hostname must be 1-63 letters'],
    ])('rejects %j', async (changes, sentence) => {
      expect(await refused(await rich(), changes)).toMatchObject({ status: 400, error: expect.stringContaining(sentence) })
    })

    test('are none where the money, the quota, the room or the addresses do not suffice for all', async () => {
      const poor = await app.given.customer({ credit: '17.99' })
      expect(await refused(poor, { count: 3 })).toEqual({
        status: 402,
        code: 'insufficient_funds',
        error: 'Insufficient wallet balance: 18.00 USD required, 17.99 USD available',
      })
      const limited = await rich()
      await app.db.tx((tx) => setQuotaLimit(tx, limited.accountId, 'vms', 2n))
      expect(await refused(limited, { count: 3 })).toMatchObject({ status: 422, code: 'quota_exceeded' })

      const customer = await rich()
      const { ram_mib } = await getPlan(app.db, 'small')
      await app.db.run(sql`update hosts set ram_total_mib = ram_used_mib + ${2 * ram_mib} where region_id = ${input.regionId}`)
      const full = await refused(customer, { count: 5 })
      expect(full).toMatchObject({ status: 503, code: 'no_capacity' })
      expect(full.error).toMatch(/^No capacity in fra1 for 5 VMs of 1 GiB RAM and 25 GiB disk: 2 hosts checked, 2 full \(RAM\)/)
      expect((await customer.post('/vms?dryRun=true', body({ count: 4 }))).status).toBe(200)
      await app.db.run(sql`update hosts set ram_total_mib = 1000000`)

      await app.db.run(sql`
        update free_addresses set available_at = 'infinity' where address not in (
          select f.address from free_addresses f join address_pools p on p.id = f.pool_id where p.region_id = ${input.regionId} and f.available_at < ${app.clock.now()} limit 2)`)
      expect(await refused(customer, { count: 3 })).toMatchObject({
        status: 503,
        error: expect.stringContaining('No public address is free in fra1'),
      })
      await app.db.run(sql`update free_addresses set available_at = '-infinity'`)
    })

    test('keep to their placement group among themselves', async () => {
      const customer = await rich()
      const group = (await customer.post('/placement-groups', { name: 'g', policy: 'STRICT_SPREAD' })).body.data
      expect((await customer.post('/vms', body({ count: 3, placementGroupId: group.id }))).body.error).toContain(
        'with a VM of its placement group',
      )
      expect((await customer.post('/vms', body({ count: 2, placementGroupId: group.id }))).status).toBe(202)
      await app.settle()
    })

    test('get dedicated CPUs of their own', async () => {
      const customer = await rich()
      await app.db.run(sql`update hosts set dedicated_cpus = array[0, 1, 2] where region_id = ${input.regionId}`)
      await app.db.tx((tx) => changePlan(tx, 'small', { dedicatedCpu: true }))
      const { vcpu } = await getPlan(app.db, 'small')
      const most = 2 * Math.floor(3 / vcpu)
      expect((await customer.post('/vms', body({ count: most + 1 }))).status).toBe(503)
      expect((await customer.post('/vms', body({ count: most }))).status).toBe(202)
      await app.settle()
      await app.db.tx((tx) => changePlan(tx, 'small', { dedicatedCpu: false }))
    })

    test('are refunded each by itself where one cannot be built', async () => {
      const customer = await rich()
      await app.simulated.faults.plant({ verb: 'ensureDisk', kind: 'permanent', times: 1 })
      const { vms } = (await customer.post('/vms', body({ count: 2 }))).body.data
      await app.settle()
      await app.simulated.faults.clear()
      const statuses = await Promise.all(vms.map(async ({ id }: { id: string }) => (await customer.get(`/vms/${id}`)).body.data.status))
      const failed = statuses.filter((status) => status === 'ERROR').length
      expect(await balance(customer)).toBe(`${1000 - 6 * (2 - failed)}.00`)
    })
  })

  describe('with alternatives', () => {
    const medium = { planId: plans.get('medium')! }
    const there = { regionId: elsewhere.region_id }

    test('get what was asked for where there is room, and an answer of the usual shape without them', async () => {
      const customer = await rich()
      const { data } = (await customer.post('/vms', body({ hostname: 'web', alternatives: [there, medium] }))).body
      expect(Object.keys(data)).toEqual(['vm', 'actionId', 'alternative'])
      expect(data).toMatchObject({ alternative: null, vm: { region: { slug: 'fra1' }, plan: { slug: 'small' } } })
      expect(Object.keys((await customer.post('/vms', body({ hostname: 'web' }))).body.data)).toEqual(['vm', 'actionId'])
      expect((await customer.post('/vms', body({ hostname: 'web', alternatives: [] }))).body.data.alternative).toBeNull()
      await app.settle()
    })

    test('get the first that has room, and are charged for that', async () => {
      const customer = await rich()
      await Promise.all([on(app.host, 'full'), on(other, 'full'), on(elsewhere, 'full')])
      const custom = { customConfig: { vcpu: 1, ram: 1024, disk: 20 } }
      const request = body({ count: 2, alternatives: [custom, { ...there, ...medium }] })
      const { status, body: refusal } = await customer.post('/vms', request, { accept: 'application/problem+json' })
      expect([status, refusal]).toMatchObject([503, { code: 'no_capacity', missing: ['host'] }])
      expect((refusal as unknown as { detail: string }).detail).toMatch(
        /^No capacity in fra1 for 2 VMs of 1 GiB RAM and 25 GiB disk: .*\. Alternative 1: No capacity in fra1 .*\. Alternative 2: No capacity in ams1 /,
      )
      await on(elsewhere, 'free')
      expect((await customer.post('/vms?dryRun=true', request)).body.data).toEqual({
        charge: '24.00',
        monthly: '24.00',
        currency: 'USD',
        balanceAfter: '976.00',
        alternative: 1,
      })
      const { data } = (await customer.post('/vms', request)).body
      expect(data.alternative).toBe(1)
      expect(data.vms).toMatchObject([1, 2].map((n) => ({ hostname: `web-${n}`, region: { slug: 'ams1' }, plan: { slug: 'medium' } })))
      expect(await balance(customer)).toBe('976.00')
      await Promise.all([on(app.host, 'free'), on(other, 'free')])
      await app.settle()
      const { used } = await app.db.one<{ used: bigint }>(
        sql`select used from account_quotas where account_id = ${customer.accountId} and name = 'ram_mib'`,
      )
      expect(Number(used)).toBe(2 * (await getPlan(app.db, 'medium')).ram_mib)
    })

    test('take exactly the room that there is, of 100 at once, each charged for what was placed', async () => {
      const customer = await rich()
      await app.settle()
      await on(app.host, 'full')
      const sold = { small: await getPlan(app.db, 'small'), medium: await getPlan(app.db, 'medium') }
      const rooms = await app.db.many<{ id: string; ram: number }>(sql`select id, ram_total_mib as ram from hosts`)
      const leaveRoom = (host: { id: string }, mib: number) =>
        app.db.run(sql`update hosts set ram_total_mib = ram_used_mib + ${mib} where id = ${host.id}`)
      await leaveRoom(other, 7 * sold.small.ram_mib)
      await leaveRoom(elsewhere, 5 * sold.medium.ram_mib)
      const order = (_: unknown, i: number) =>
        customer.post('/vms', body({ hostname: `web-${i}`, alternatives: [{ ...there, ...medium }] }))
      const answers = await Promise.all(Array.from({ length: 100 }, order))
      const outcome = ({ status, body: { data } }: (typeof answers)[number]) =>
        status === 202 ? `${data.vm.region.slug} ${data.vm.plan.slug} ${data.alternative}` : String(status)
      const counted = Map.groupBy(answers, outcome)
      expect(Object.fromEntries([...counted].map(([what, each]) => [what, each.length]))).toEqual({
        'fra1 small null': 7,
        'ams1 medium 0': 5,
        503: 88,
      })
      const spent = 7n * sold.small.price_cents + 5n * sold.medium.price_cents
      expect(await balance(customer)).toBe(formatCents(100_000n - spent))
      for (const { id, ram } of rooms) await app.db.run(sql`update hosts set ram_total_mib = ${ram} where id = ${id}`)
      await on(app.host, 'free')
      await app.settle()
      await app.checkInvariants()
    })

    test('also where region or plan are not offered at the moment', async () => {
      const customer = await rich()
      await app.db.run(sql`update regions set available = false where id = ${input.regionId}`)
      const placed = (await customer.post('/vms', body({ hostname: 'web', alternatives: [medium, there] }))).body.data
      expect(placed).toMatchObject({ alternative: 1, vm: { region: { slug: 'ams1' }, plan: { slug: 'small' } } })
      const none = await customer.post('/vms', body({ hostname: 'web', alternatives: [medium] }))
      expect([none.status, none.body.error]).toEqual([
        422,
        'Region fra1 takes no new VMs at the moment. Alternative 1: Region fra1 takes no new VMs at the moment',
      ])
      await app.db.run(sql`update regions set available = true`)
      await app.settle()
    })

    test('are refused for any other reason, which names the alternative', async () => {
      const customer = await app.given.customer({ credit: '6.00' })
      const network = (await customer.post('/networks', { name: 'n', nodeId: input.regionId, cidr: '10.1.0.0/24' })).body.data.id
      const plain = { hostname: 'web' }
      const gone = { planId: 'cunknown12' }
      expect(await refused(customer, { ...plain, alternatives: [medium, gone] })).toMatchObject({
        status: 404,
        error: 'Alternative 2: Plan not found',
      })
      expect(await refused(customer, { ...plain, alternatives: [{ regionId: 'cunknown12' }] })).toMatchObject({
        status: 404,
        error: 'Alternative 1: Region not found',
      })
      expect(await refused(customer, { ...plain, alternatives: [{}] })).toMatchObject({
        status: 400,
        error: expect.stringContaining('give a regionId, a planId or a customConfig'),
      })
      const both = { ...medium, customConfig: { vcpu: 1, ram: 1024, disk: 20 } }
      expect(await refused(customer, { ...plain, alternatives: [both] })).toMatchObject({ status: 400 })
      expect(await refused(customer, { ...plain, alternatives: Array(6).fill(there) })).toMatchObject({ status: 400 })
      expect(await refused(customer, { ...plain, privateNetworkIds: [network], alternatives: [there] })).toMatchObject({
        status: 422,
        code: 'region_mismatch',
        error: 'Alternative 1: The private networks are not in region ams1',
      })
      await app.db.run(sql`update os_templates set min_disk_gib = 30`)
      const tiny = { customConfig: { vcpu: 1, ram: 1024, disk: 10 } }
      expect(await refused(customer, { hostname: 'web', ...medium, alternatives: [tiny] })).toMatchObject({
        status: 422,
        code: 'incompatible',
      })
      await app.db.run(sql`update os_templates set min_disk_gib = 1`)
      await Promise.all([on(app.host, 'full'), on(other, 'full')])
      expect(await refused(customer, { ...plain, alternatives: [{ ...there, ...medium }, there] })).toMatchObject({
        status: 402,
        error: 'Alternative 1: Insufficient wallet balance: 12.00 USD required, 6.00 USD available',
      })
      await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'ram_mib', 1024n))
      expect(await refused(customer, { ...plain, alternatives: [{ ...there, ...medium }] })).toMatchObject({
        code: 'quota_exceeded',
        error: expect.stringMatching(/^Alternative 1: Quota exceeded/),
      })
      await Promise.all([on(app.host, 'free'), on(other, 'free')])
      expect((await getRegion(app.db, 'fra1')).available).toBe(true)
    })
  })
})
