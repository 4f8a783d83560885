// Concurrency: scarce resources are allocated exactly as often as they exist. `npm test` uses sixty requests, `npm run prove` four
// hundred.
import { describe, expect, test } from 'vitest'
import { setQuotaLimit } from '../src/features/accounts/service.ts'
import { getPlan } from '../src/features/catalog/service.ts'
import { addPool } from '../src/features/hosts/public-addresses.ts'
import { sql } from '../src/kernel/database/db.ts'
import { testApp, type Answer } from './harness.ts'
import { givenRegion } from './hosts.ts'

export const describeRaces = (atOnce: number) =>
  describe(`${atOnce} requests at once`, { timeout: 300_000 }, async () => {
    const half = atOnce / 2
    const quarter = atOnce / 4
    const app = await testApp()
    const input = await app.given.vmInput()
    await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)

    /** An account limited only by its funds. */
    const buyer = async (options: { credit: string; vms?: bigint }) => {
      const customer = await app.given.customer(options)
      const limits = { vms: options.vms ?? 10_000n, vcpu: 10_000n, ram_mib: 10_000_000n, disk_gib: 1_000_000n }
      await app.db.tx(async (tx) => {
        for (const [name, limit] of Object.entries(limits)) await setQuotaLimit(tx, customer.accountId, name, limit)
      })
      return customer
    }
    type Buyer = Awaited<ReturnType<typeof buyer>>

    /** Twice as many in flight as there are database connections. A 409 or 503 is retried. */
    const together = async (request: (number: number) => Promise<Answer>): Promise<Answer[]> => {
      const answers: Answer[] = []
      let next = 0
      const client = async (): Promise<void> => {
        for (let number = next++; number < atOnce; number = next++) {
          let answer = await request(number)
          while (answer.headers['x-error-code'] === 'service_unavailable') answer = await request(number)
          answers[number] = answer
        }
      }
      await Promise.all(Array.from({ length: 2 * app.config.databaseConnections }, client))
      return answers
    }

    const counts = (answers: Answer[]): Record<number, number> => {
      const statuses = Map.groupBy(answers, ({ status }) => status)
      return Object.fromEntries([...statuses].map(([status, each]) => [status, each.length]))
    }

    const charges = async ({ accountId }: Buyer): Promise<number> =>
      (
        await app.db.one<{ count: number }>(sql`
      select count(*)::int as count from wallet_transactions where account_id = ${accountId} and type = 'VM_CHARGE'`)
      ).count

    let pools = 0
    /** Exactly that many addresses, in pools as large as possible: a range of 2^n has 3 that no VM gets. */
    const addAddresses = (count: number): Promise<void> =>
      app.db.tx(async (tx) => {
        for (let left = count; left > 0;) {
          const bits = Math.floor(Math.log2(left + 3))
          const net = `172.16.${++pools}.`
          const pool = { regionId: app.host.region_id, hostId: app.host.id, gateway: `${net}1`, dns: [] }
          await addPool(tx, app.clock.now(), { ...pool, cidr: `${net}0/${32 - Math.min(bits, 8)}` })
          left -= 2 ** Math.min(bits, 8) - 3
        }
      })

    const create = (customer: Buyer) => (number: number) => customer.post('/vms', { ...input, hostname: `web-${number}` })

    test(`for ${half} addresses: ${half} VMs, each with its own`, async () => {
      const customer = await buyer({ credit: '10000.00' })
      await app.db.run(sql`delete from free_addresses`)
      await app.db.run(sql`delete from address_pools`)
      await addAddresses(half)
      const answers = await together(create(customer))
      expect(counts(answers)).toEqual({ 202: half, 503: half })
      const addresses = answers.flatMap(({ body }) => body.data?.vm.ipAddress ?? [])
      expect(new Set(addresses).size).toBe(half)
      expect(await charges(customer)).toBe(half)
      await addAddresses(4 * atOnce)
    })

    test(`for a quota of ${quarter}: ${quarter} VMs`, async () => {
      const customer = await buyer({ credit: '10000.00', vms: BigInt(quarter) })
      expect(counts(await together(create(customer)))).toEqual({ 202: quarter, 422: atOnce - quarter })
      expect(await charges(customer)).toBe(quarter)
    })

    test(`for funds for ${quarter}: ${quarter} VMs and an empty wallet`, async () => {
      const customer = await buyer({ credit: `${quarter * 6}.00` })
      expect(counts(await together(create(customer)))).toEqual({ 202: quarter, 402: atOnce - quarter })
      expect((await customer.get('/wallet')).body.data.balance).toBe('0.00')
    })

    test(`for two VMs each and a quota of ${half + 1}: ${half} VMs, each paid`, async () => {
      const customer = await buyer({ credit: '10000.00', vms: BigInt(half + 1) })
      const answers = await together(() => customer.post('/vms', { ...input, hostname: 'web-{n}', count: 2 }))
      expect(counts(answers)).toEqual({ 202: half / 2, 422: atOnce - half / 2 })
      expect(await charges(customer)).toBe(half)
      expect((await customer.get('/vms')).body.pagination.total).toBe(half)
    })

    test('for two VMs each and regions that are soon full: the alternatives in their order, and a charge for what was placed', async () => {
      const { ram_mib } = await getPlan(app.db, 'small')
      const regionIds: string[] = []
      for (const [index, slug] of ['first', 'second'].entries()) {
        const { id, region_id: regionId } = await givenRegion(app, slug)
        await app.db.run(
          sql`update hosts set ram_total_mib = ${2 * quarter * ram_mib}, vcpu_total = 10000, disk_total_gib = 1000000 where id = ${id}`,
        )
        const net = `198.18.${16 * index}`
        await app.db.tx((tx) => addPool(tx, app.clock.now(), { regionId, hostId: null, cidr: `${net}.0/22`, gateway: `${net}.1`, dns: [] }))
        regionIds.push(regionId)
      }
      const medium = { regionId: input.regionId, planId: (await getPlan(app.db, 'medium')).id }
      const customer = await buyer({ credit: `${2 * quarter * (6 + 6 + 12)}.00` })
      const body = { ...input, hostname: 'web-{n}', count: 2, regionId: regionIds[0], alternatives: [{ regionId: regionIds[1] }, medium] }
      const answers = await together(() => customer.post('/vms', body))
      expect(counts(answers)).toEqual({ 202: 3 * quarter, 402: quarter })
      const taken = Map.groupBy(answers, ({ status, body }) => (status === 202 ? String(body.data.alternative) : 'none'))
      expect(Object.fromEntries([...taken].map(([which, each]) => [which, each.length]))).toEqual({
        null: quarter,
        0: quarter,
        1: quarter,
        none: quarter,
      })
      expect(await charges(customer)).toBe(6 * quarter)
      expect((await customer.get('/wallet')).body.data.balance).toBe('0.00')
      expect((await app.deps.metrics.deadlocks.get()).values).toMatchObject([{ value: 0 }])
    })

    test('with the same Idempotency-Key: one VM, returned by all successful responses', async () => {
      const customer = await buyer({ credit: '10000.00' })
      const key = { 'idempotency-key': 'only-once' }
      const answers = await together(() => customer.post('/vms', input, key))
      const accepted = answers.filter(({ status }) => status === 202)
      expect(accepted.length).toBeGreaterThan(0)
      expect(answers.filter(({ status }) => status !== 202 && status !== 409)).toEqual([])
      expect(new Set(accepted.map(({ body }) => body.data.vm.id)).size).toBe(1)
      expect(await charges(customer)).toBe(1)
    })

    test('concurrent with deletions of the same account: no deadlock', async () => {
      const customer = await buyer({ credit: '10000.00' })
      const network = (await customer.post('/networks', { name: 'lan', nodeId: input.regionId, cidr: '10.9.0.0/20' })).body.data.id
      const firewall = (await customer.post('/firewalls', { name: 'web' })).body.data.id
      const belongings = { privateNetworkIds: [network], firewallIds: [firewall] }
      const doomed: string[] = []
      for (let i = 0; i < 8; i++) doomed.push((await app.given.vm(customer, belongings)).id)
      for (const id of doomed) await customer.delete(`/vms/${id}`)
      const createBesides = (number: number) => customer.post('/vms', { ...input, ...belongings, hostname: `web-${number}` })
      const [answers] = await Promise.all([together(createBesides), app.settle()])
      expect(counts(answers)).toEqual({ 202: atOnce })
      expect((await app.deps.metrics.deadlocks.get()).values).toMatchObject([{ value: 0 }])
    })

    test('on one VM: one is accepted, the others get 409 busy', async () => {
      const customer = await buyer({ credit: '100.00' })
      const { id } = await app.given.vm(customer)
      const answers = await together(() => customer.post(`/vms/${id}/restart`))
      expect(counts(answers)).toEqual({ 202: 1, 409: atOnce - 1 })
      expect(new Set(answers.map(({ headers }) => headers['x-error-code']))).toEqual(new Set([undefined, 'busy']))
    })
  })
