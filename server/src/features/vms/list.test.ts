import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'

describe('GET /vms', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
  await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
  const customer = await app.given.customer({ credit: '10000.00' })
  const stranger = await app.given.customer({ credit: '100.00' })
  const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
  const plan = (slug: string) => plans.find((each) => each.slug === slug)!.id
  const region = (await customer.get('/regions')).body.data[0] as { id: string; slug: string }
  await app.db.run(sql`
    insert into regions (id, slug, name, country, city, flag, available, position, created_at)
    values (${newId()}, 'ams1', 'Amsterdam 1', 'NL', 'Amsterdam', '', true, 1, now())`)
  const nodeId = (await customer.get(`/regions/${region.id}/nodes`)).body.data[0].id as string
  const network = (await customer.post('/networks', { name: 'lan', nodeId, cidr: '10.7.0.0/24' })).body.data as { id: string }
  const firewall = (await customer.post('/firewalls', { name: 'web' })).body.data as { id: string }
  const strangers = (await stranger.post('/firewalls', { name: 'theirs' })).body.data as { id: string }

  const make = async (name: string, input: object = {}) => {
    const { id } = await app.given.vm(customer, { name, ...input })
    app.clock.advance('1h')
    return id
  }
  const charlie = await make('Charlie', { planId: plan('nano') })
  const alpha = await make('alpha', { planId: plan('small'), privateNetworkIds: [network.id] })
  const bravo = await make('bravo 100%', { planId: plan('nano'), firewallIds: [firewall.id] })
  const delta = await make('delta_x', { customConfig: { vcpu: 1, ram: 512, disk: 10 } })
  await app.given.vm(stranger)
  const list = async (query: string) => {
    const { status, body } = await customer.get(`/vms?${query}`)
    return status === 200 ? (body.data as { id: string }[]).map((vm) => vm.id) : [status, body.error]
  }
  const vm = async (id: string) => (await customer.get(`/vms/${id}`)).body.data

  test.each([
    ['', [delta, bravo, alpha, charlie]],
    [`region=${region.slug}`, [delta, bravo, alpha, charlie]],
    [`region=${region.id}`, [delta, bravo, alpha, charlie]],
    ['region=ams1', []],
    ['plan=nano', [bravo, charlie]],
    [`plan=${plan('small')}`, [alpha]],
    ['plan=custom', [delta]],
    [`network=${network.id}`, [alpha]],
    [`firewall=${firewall.id}`, [bravo]],
    ['name=HARL', [charlie]],
    ['name=a', [delta, bravo, alpha, charlie]],
    ['name=%25', [bravo]],
    ['name=_', [delta]],
    ['name=%5C', []],
    ['status=RUNNING&plan=nano&name=bravo', [bravo]],
    ['status=STOPPED&plan=nano', []],
    [`firewall=${firewall.id}&network=${network.id}`, []],
  ])('filters by %s', async (query, expected) => {
    expect(await list(query)).toEqual(expected)
    expect((await customer.get(`/vms?${query}`)).body.pagination.total).toBe(expected.length)
  })

  test('filters by public and by private address', async () => {
    const { ipAddress, privateNetworks } = await vm(alpha)
    expect(await list(`address=${ipAddress}`)).toEqual([alpha])
    expect(await list(`address=${privateNetworks[0].ipAddress}`)).toEqual([alpha])
    expect(await list('address=198.51.100.250')).toEqual([])
  })

  test.each([
    ['sort=name', [alpha, bravo, charlie, delta]],
    ['sort=-name', [delta, charlie, bravo, alpha]],
    ['sort=createdAt', [charlie, alpha, bravo, delta]],
    ['sort=-createdAt', [delta, bravo, alpha, charlie]],
    ['sort=nextRenewalAt', [charlie, alpha, bravo, delta]],
    ['sort=-nextRenewalAt', [delta, bravo, alpha, charlie]],
    ['sort=name&plan=nano', [bravo, charlie]],
    ['sort=-name&limit=1&page=2', [charlie]],
  ])('sorts by %s', async (query, expected) => {
    expect(await list(query)).toEqual(expected)
  })

  interface Listed {
    id: string
    status: string
    plan: { name: string }
    region: { name: string }
    billing: { priceMonthly: string }
  }
  test.each([
    ['status', (each: Listed) => each.status],
    ['plan', (each: Listed) => each.plan.name.toLowerCase()],
    ['region', (each: Listed) => each.region.name.toLowerCase()],
    ['priceMonthly', (each: Listed) => each.billing.priceMonthly.padStart(12, '0')],
  ])('sorts by %s, and those of one value by age', async (field, valueOf) => {
    const other = await make('echo', { planId: plan('small') })
    const { region_id } = await app.db.one<{ region_id: string }>(sql`select region_id from vms where id = ${alpha}`)
    await app.db.run(sql`
      update vms set status = case when id in (${alpha}, ${other}) then 'STOPPED' else status end,
        region_id = case when id = ${bravo} then (select id from regions where slug = 'ams1') else region_id end`)
    const { data } = (await customer.get('/vms?sort=createdAt')).body as { data: Listed[] }
    const keyOf = (each: Listed): string => `${valueOf(each)} ${each.id}`
    const expected = data.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).map(({ id }) => id)
    expect(new Set(data.map(valueOf)).size).toBeGreaterThan(1)
    expect(new Set(data.map(valueOf)).size).toBeLessThan(data.length)
    expect(await list(`sort=${field}`)).toEqual(expected)
    expect(await list(`sort=-${field}`)).toEqual(expected.toReversed())
    for (const sort of [field, `-${field}`]) {
      const read: string[] = []
      for (let cursor = ''; ;) {
        const page = (await customer.get(`/vms?sort=${sort}&limit=2${cursor}`)).body
        read.push(...(page.data as Listed[]).map(({ id }) => id))
        if (!page.nextCursor) break
        cursor = `&cursor=${page.nextCursor}`
      }
      expect(read).toEqual(sort === field ? expected : expected.toReversed())
    }
    await app.db.run(sql`update vms set status = 'RUNNING', region_id = ${region_id}`)
    await customer.delete(`/vms/${other}`)
    await app.settle()
  })

  test.each([
    ['region=nowhere', 'region must be a region'],
    ['plan=huge', 'plan must be a plan, or custom'],
    ['network=c12345678', 'network must be a private network of yours'],
    [`firewall=${strangers.id}`, 'firewall must be a firewall of yours'],
    ['address=10.0.0', 'address must be an address such as 198.51.100.7 or 2001:db8::7'],
    ['sort=price', expect.stringMatching(/^sort must be one of createdAt, -createdAt, name, .*, -plan$/)],
    ['status=up', expect.stringContaining('status must be one of')],
    [`name=${'x'.repeat(101)}`, expect.stringContaining('name must be')],
  ])('refuses %s', async (query, reason) => {
    const [status, error] = await list(query)
    expect([status, String(error).replace('Validation failed: ', '')]).toEqual([400, reason])
  })

  test.each(['name', '-name', 'createdAt', '-createdAt', 'nextRenewalAt', '-nextRenewalAt'])(
    'is read by cursor in the order of %s, although VMs are added and deleted meanwhile',
    async (sort) => {
      const doomed = await make('bravo 2')
      const expected = (await list(`sort=${sort}&limit=100`)) as string[]
      const read: string[] = []
      for (let query = `sort=${sort}&limit=1`; ;) {
        const { data, nextCursor } = (await customer.get(`/vms?${query}`)).body
        read.push(...(data as { id: string }[]).map((each) => each.id))
        if (!nextCursor) break
        if (read.at(-1) === doomed) {
          await customer.delete(`/vms/${doomed}`)
          await app.settle({ subjectId: doomed })
          await make('Aaron')
          await make('zulu')
        }
        query = `sort=${sort}&limit=1&cursor=${nextCursor}`
      }
      expect(read.filter((id) => expected.includes(id))).toEqual(expected)
      expect(new Set(read).size).toBe(read.length)
      const added = ((await list('limit=100')) as string[]).filter((id) => ![charlie, alpha, bravo, delta].includes(id))
      for (const id of added) await customer.delete(`/vms/${id}`)
      await app.settle()
    },
  )

  test('refuses the cursor of another sort', async () => {
    const { nextCursor } = (await customer.get('/vms?sort=name&limit=1')).body
    for (const sort of ['-name', '-createdAt', 'nextRenewalAt', 'priceMonthly', 'status'])
      expect((await customer.get(`/vms?sort=${sort}&limit=1&cursor=${nextCursor}`)).status).toBe(400)
  })
})
