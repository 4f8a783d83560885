import { afterEach, describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenHost, givenRegion, placeOn } from '../../../test/hosts.ts'
import { addDuration, subtractDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { addPool, allocateFloatingAddress } from '../hosts/public-addresses.ts'
import { credit } from '../wallet/service.ts'
import { renewAddresses } from './renew.reconciler.ts'

const app = await testApp()
await app.db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%'`)
const customer = await app.given.customer({ credit: '10000.00' })
const stranger = await app.given.customer({ credit: '1000.00' })
const { regionId } = await app.given.vmInput()

const code = (answer: { status: number; headers: Record<string, string> }) => [answer.status, answer.headers['x-error-code']]
const reserve = async (input: object = {}, owner = customer) => (await owner.post('/addresses', { regionId, ...input })).body.data
const get = async (id: string) => (await customer.get(`/addresses/${id}`)).body.data
const assign = (id: string, vmId: string, more: object = {}) => customer.post(`/addresses/${id}/assignment`, { vmId, ...more })
const assigned = async (id: string, vmId: string) => {
  const answer = await assign(id, vmId)
  await app.settle({ subjectId: id })
  return answer
}
/** The VMs whose ports, and those whose guests, have the address. */
const holders = async (address: string) => ({
  ports: (await app.db.many<{ vm_id: string }>(sql`select vm_id from simulated.ports where ${address}::text = any(addresses)`)).map(
    (row) => row.vm_id,
  ),
  guests: (await app.db.many<{ machine: string }>(sql`select machine from simulated.nics where ${address}::text = any(floating)`)).map(
    (row) => row.machine,
  ),
})
const balance = async (owner = customer) => (await owner.get('/wallet')).body.data.balance as string

test('a region without addresses of its own has none to reserve, and a full pool neither', async () => {
  const small = await givenRegion(app, 'small')
  const refused = await customer.post('/addresses', { regionId: small.region_id })
  expect(code(refused)).toEqual([422, 'unavailable'])
  expect(refused.body.error).toBe('Region small has no addresses that can move between VMs: choose another region, or ask support')
  const withoutAny = app.db.tx(async (tx) => {
    await tx.run(sql`update address_pools set host_id = ${app.host.id}`)
    return allocateFloatingAddress(tx, app.clock.now(), { id: small.region_id, slug: 'small' })
  })
  await expect(withoutAny).rejects.toThrow('Region small has no addresses that can move between VMs: ask support')
  const pool = { regionId: small.region_id, hostId: null, cidr: '10.79.0.0/30', gateway: '10.79.0.1', dns: [] }
  await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))
  const before = await balance()
  expect((await customer.post('/addresses', { regionId: small.region_id })).body.data).toMatchObject({
    address: '10.79.0.2',
    name: '10.79.0.2',
  })
  expect(code(await customer.post('/addresses', { regionId: small.region_id }))).toEqual([503, 'no_capacity'])
  expect(await balance()).toBe((Number(before) - 2).toFixed(2))
})

describe('a floating address', async () => {
  const second = await givenHost(app, 'second')
  await app.db.run(sql`update address_pools set host_id = null where host_id is not null`)

  test('is reserved, listed, renamed and released; unused days are refunded', async () => {
    const before = await balance()
    const quote = await customer.post('/addresses?dryRun=true', { regionId, name: 'www' })
    expect(quote.body.data).toMatchObject({ charge: '2.00', monthly: '2.00' })
    const made = await reserve({ name: 'www' })
    expect(made).toMatchObject({ name: 'www', vmId: null, guestState: null, billing: { status: 'ACTIVE', priceMonthly: '2.00' } })
    expect(await balance()).toBe(quote.body.data.balanceAfter)
    expect((await customer.get('/addresses?limit=1')).body.data).toEqual([made])
    expect((await customer.get(`/addresses?vmId=${made.id}`)).body.data).toEqual([])
    expect((await customer.patch(`/addresses/${made.id}`, { name: 'api' })).body.data).toMatchObject({ id: made.id, name: 'api' })
    expect(code(await stranger.get(`/addresses/${made.id}`))).toEqual([404, 'not_found'])
    expect(code(await stranger.patch(`/addresses/${made.id}`, { name: 'mine' }))).toEqual([404, 'not_found'])
    expect(code(await stranger.delete(`/addresses/${made.id}`))).toEqual([404, 'not_found'])
    expect((await customer.delete(`/addresses/${made.id}`)).status).toBe(200)
    expect(code(await customer.get(`/addresses/${made.id}`))).toEqual([404, 'not_found'])
    expect(await balance()).toBe(before)
    const free = await app.db.one<{ rests: boolean }>(
      sql`select available_at > ${app.clock.now()} as rests from free_addresses where address = ${made.address}::inet`,
    )
    expect(free.rests).toBe(true)
  })

  test('moves: the port and the guest that had it lose it, those of the next VM get it', async () => {
    const [one, other] = [await app.given.vm(customer), await placeOn(app, second.id, () => app.given.vm(customer))]
    const { id, address } = await reserve()
    const answer = await assign(id, one.id, { expectedVmId: null })
    expect([answer.status, answer.headers['location']]).toEqual([
      202,
      expect.stringContaining(`/vms/${one.id}/actions/${answer.body.data.actionId}`),
    ])
    expect(await get(id)).toMatchObject({ vmId: one.id, guestState: 'PENDING', currentAction: { action: 'ADDRESS_ASSIGN' } })
    await app.settle({ subjectId: id })
    expect(await get(id)).toMatchObject({ vmId: one.id, guestState: 'CONFIGURED', guestReason: null, currentAction: null })
    expect(await holders(address)).toEqual({ ports: [one.id], guests: [one.id] })
    const action = await customer.get(`/vms/${one.id}/actions/${answer.body.data.actionId}`)
    expect(action.body.data).toMatchObject({ action: 'ADDRESS_ASSIGN', status: 'COMPLETED', vmId: one.id, addressId: id })
    expect(code(await stranger.get(`/vms/${one.id}/actions/${answer.body.data.actionId}`))).toEqual([404, 'not_found'])

    expect((await assigned(id, other.id)).status).toBe(202)
    expect(await holders(address)).toEqual({ ports: [other.id], guests: [other.id] })
    expect((await customer.get(`/addresses?vmId=${other.id}`)).body.data).toMatchObject([{ id }])

    expect(code(await customer.delete(`/addresses/${id}`))).toEqual([409, 'in_use'])
    expect(code(await customer.delete(`/addresses/${id}/assignment?expectedVmId=${one.id}`))).toEqual([409, 'invalid_state'])
    expect((await customer.delete(`/addresses/${id}/assignment`)).status).toBe(202)
    await app.settle({ subjectId: id })
    expect(await holders(address)).toEqual({ ports: [], guests: [] })
    expect(await get(id)).toMatchObject({ vmId: null, guestState: null })
    expect(code(await customer.delete(`/addresses/${id}/assignment`))).toEqual([409, 'invalid_state'])
  })

  test('refuses a VM that is not the expected one, of another account or region, and one that cannot have it', async () => {
    const [one, other] = [await app.given.vm(customer, { name: 'web-1' }), await app.given.vm(customer)]
    const foreign = await app.given.vm(stranger)
    const { id, address } = await reserve()
    await assigned(id, one.id)
    expect((await assign(id, other.id, { expectedVmId: null })).body.error).toBe(
      `The address ${address} is assigned to web-1 (${one.id}), not as expected: nothing was changed`,
    )
    for (const expectedVmId of [null, other.id]) expect(code(await assign(id, other.id, { expectedVmId }))).toEqual([409, 'invalid_state'])
    expect(code(await assign(id, foreign.id))).toEqual([404, 'not_found'])
    expect(code(await stranger.post(`/addresses/${id}/assignment`, { vmId: foreign.id }))).toEqual([404, 'not_found'])
    const elsewhere = await givenRegion(app, 'far1')
    const pool = { regionId: elsewhere.region_id, hostId: null, cidr: '10.80.0.0/24', gateway: '10.80.0.1', dns: [] }
    await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))
    const far = await reserve({ regionId: elsewhere.region_id })
    expect(code(await assign(far.id, one.id))).toEqual([422, 'region_mismatch'])
    const building = await app.given.vm(customer, {}, { settled: false })
    expect(code(await assign(id, building.id))).toEqual([409, 'invalid_state'])
    await app.settle()
    expect(await holders(address)).toEqual({ ports: [one.id], guests: [one.id] })
    expect((await assign(id, other.id, { expectedVmId: one.id })).status).toBe(202)
    expect(code(await assign(id, one.id))).toEqual([409, 'busy'])
    expect(code(await customer.delete(`/addresses/${id}`))).toEqual([409, 'busy'])
    await app.settle()
  })

  test('has one owner after 100 assignments at once', async () => {
    const vms = await Promise.all([1, 2, 3, 4].map(() => app.given.vm(customer)))
    const { id, address } = await reserve()
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => assign(id, vms[i % vms.length]!.id, i % 2 ? { expectedVmId: null } : {})),
    )
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(99)
    const owner = (await get(id)).vmId as string
    await app.settle({ subjectId: id })
    expect(await holders(address)).toEqual({ ports: [owner], guests: [owner] })
  })

  test('stays with its VM over stop, start, restart and rebuild', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id, address } = await reserve()
    await assigned(id, vmId)
    const { osTemplateId } = await app.given.vmInput()
    for (const [verb, body] of [['restart'], ['stop'], ['start'], ['rebuild', { osTemplateId }]] as const) {
      await customer.post(`/vms/${vmId}/${verb}`, body)
      await app.settle({ subjectId: vmId })
      await app.reconcile()
      expect([verb, await holders(address)]).toEqual([verb, { ports: [vmId], guests: verb === 'stop' ? [] : [vmId] }])
    }
    expect(await get(id)).toMatchObject({ vmId, guestState: 'CONFIGURED' })
  })

  test('waits for a VM that is off, and says so; an image without agent is left to its owner', async () => {
    const { id: vmId } = await app.given.vm(customer)
    await customer.post(`/vms/${vmId}/stop`)
    await app.settle({ subjectId: vmId })
    const { id, address } = await reserve()
    await assigned(id, vmId)
    expect(await get(id)).toMatchObject({ vmId, guestState: 'PENDING', guestReason: expect.stringContaining('not running') })
    await customer.post(`/vms/${vmId}/start`)
    await app.settle({ subjectId: vmId })
    await app.reconcile()
    expect([(await get(id)).guestState, await holders(address)]).toEqual(['CONFIGURED', { ports: [vmId], guests: [vmId] }])

    await app.db.run(sql`update os_templates set has_agent = false where slug = 'debian-12'`)
    await app.db.run(sql`update simulated.machines set has_agent = false where name = ${vmId}`)
    await assigned(id, vmId)
    expect(await get(id)).toMatchObject({ guestState: 'MANUAL', guestReason: expect.stringContaining(`add ${address}/32`) })
    await app.db.run(sql`update os_templates set has_agent = true where slug = 'debian-12'`)
    await app.db.run(sql`update simulated.machines set has_agent = true where name = ${vmId}`)
  })

  test('is told to a guest again whose agent was silent', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id, address } = await reserve()
    await app.simulated.faults.plant({ verb: 'ensureGuestAddress', kind: 'transient' })
    await assigned(id, vmId)
    expect(await get(id)).toMatchObject({ guestState: 'PENDING', guestReason: expect.stringContaining('agent does not answer') })
    app.clock.advance('11s')
    await app.reconcile()
    expect([(await get(id)).guestState, (await holders(address)).guests]).toEqual(['CONFIGURED', [vmId]])
  })

  test('is given back when its move fails, and its ports follow', async () => {
    const [one, other] = [await app.given.vm(customer), await app.given.vm(customer)]
    const { id, address } = await reserve()
    await assigned(id, one.id)
    await assign(id, other.id)
    await app.networkFaults.plant({ verb: 'ensurePort', kind: 'permanent', times: 2 })
    await app.settle({ subjectId: id })
    expect(await get(id)).toMatchObject({ currentAction: null, vmId: one.id })
    await app.rest()
    expect(await holders(address)).toEqual({ ports: [one.id], guests: [one.id] })
  })

  test('stays where it is when it is assigned there again and that fails', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id, address } = await reserve()
    await assigned(id, vmId)
    await assign(id, vmId)
    await app.networkFaults.plant({ verb: 'ensurePort', kind: 'permanent', times: 2 })
    await app.settle({ subjectId: id })
    expect(await get(id)).toMatchObject({ currentAction: null, vmId })
    await app.rest()
    expect(await holders(address)).toEqual({ ports: [vmId], guests: [vmId] })
  })

  test('outlives its VM', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id, address } = await reserve()
    await assigned(id, vmId)
    await customer.delete(`/vms/${vmId}`)
    await app.settle({ subjectId: vmId })
    expect(await get(id)).toMatchObject({ vmId: null, guestState: null })
    expect(await holders(address)).toEqual({ ports: [], guests: [] })
    expect((await customer.delete(`/addresses/${id}`)).status).toBe(200)
  })

  test('fails to reach a VM that is deleted meanwhile, and is nobody’s', async () => {
    const { id: vmId } = await app.given.vm(customer)
    const { id } = await reserve()
    const { body } = await assign(id, vmId)
    await customer.delete(`/vms/${vmId}`)
    await app.settle({ subjectId: vmId })
    await app.settle({ subjectId: id })
    expect((await customer.get(`/vms/${vmId}/actions/${body.data.actionId}`)).body.data).toMatchObject({ status: 'FAILED' })
    expect(await get(id)).toMatchObject({ vmId: null })
  })
})

describe('the bill of a floating address', async () => {
  const types = async (owner: typeof customer) =>
    ((await owner.get('/wallet/transactions?limit=100')).body.data as { type: string; amount: string }[])
      .filter(({ type }) => type.startsWith('ADDRESS'))
      .map(({ type, amount }) => `${type} ${amount}`)

  test('is charged every month, once, and is part of what is due', async () => {
    const owner = await app.given.customer({ credit: '100.00' })
    const { id } = (await owner.post('/addresses', { regionId })).body.data
    app.clock.advance('25d')
    expect((await owner.get('/wallet')).body.data.dueNext7Days).toBe('2.00')
    app.clock.advance('40d')
    await Promise.all([app.reconcile(), app.reconcile()])
    expect(await types(owner)).toEqual(['ADDRESS_RENEWAL -2.00', 'ADDRESS_RENEWAL -2.00', 'ADDRESS_CHARGE -2.00'])
    expect((await owner.delete(`/addresses/${id}`)).status).toBe(200)
  })

  test('unpaid: it is past due, unassigned a day later and released a week later; a deposit in between keeps it', async () => {
    const plan = (await customer.get('/plans')).body.data.find((each: { slug: string }) => each.slug === 'nano')
    const owner = await app.given.customer({ credit: (Number(plan.priceMonthly) + 4).toFixed(2) })
    const { id: vmId } = await app.given.vm(owner, { planId: plan.id })
    const made = [(await owner.post('/addresses', { regionId })).body.data, (await owner.post('/addresses', { regionId })).body.data]
    await owner.post(`/addresses/${made[0].id}/assignment`, { vmId })
    await app.settle()
    app.clock.advance('32d')
    await app.reconcile()
    const states = async () => Promise.all(made.map(async ({ id }) => (await owner.get(`/addresses/${id}`)).body.data?.billing.status))
    expect(await states()).toEqual(['PAST_DUE', 'PAST_DUE'])
    app.clock.advance('25h')
    await app.reconcile()
    await app.settle()
    expect(await states()).toEqual(['SUSPENDED', 'SUSPENDED'])
    expect(await holders(made[0].address)).toEqual({ ports: [], guests: [] })
    expect(code(await owner.post(`/addresses/${made[0].id}/assignment`, { vmId }))).toEqual([409, 'invalid_state'])
    const entry = { type: 'CREDIT', description: 'Test', referenceType: 'ADMIN', referenceId: owner.accountId, currency: 'EUR' } as const
    await app.db.tx((tx) => credit(tx, app.deps, owner.accountId, 200n, entry))
    await app.reconcile()
    expect(new Set(await states())).toEqual(new Set(['ACTIVE', 'SUSPENDED']))
    app.clock.advance('8d')
    await app.reconcile()
    expect(new Set(await states())).toEqual(new Set(['ACTIVE', undefined]))
  })
  /** The wallet covers the VM, but not the address. */
  const unpaid = async () => {
    const owner = await app.given.customer({ credit: '1000.00' })
    const { id: vmId } = await app.given.vm(owner)
    const { id, address } = (await owner.post('/addresses', { regionId })).body.data
    await owner.post(`/addresses/${id}/assignment`, { vmId })
    await app.settle()
    await app.db.run(sql`update catalog_values set value = 10000000 where name = 'price.address'`)
    app.clock.advance('32d')
    await renewAddresses.runOnce(app.deps)
    return { owner, vmId, id, address, billing: async () => (await owner.get(`/addresses/${id}`)).body.data?.billing.status }
  }
  afterEach(() => app.db.run(sql`update catalog_values set value = 200 where name = 'price.address'`))

  test('unpaid: it is unassigned again when that failed once', async () => {
    const { id, address, billing } = await unpaid()
    app.clock.advance('25h')
    await renewAddresses.runOnce(app.deps)
    await app.networkFaults.plant({ verb: 'ensurePort', kind: 'permanent', times: 2 })
    await app.settle({ subjectId: id })
    expect([await billing(), (await holders(address)).ports]).toEqual(['SUSPENDED', [expect.any(String)]])
    app.clock.advance('1m')
    await renewAddresses.runOnce(app.deps)
    await app.settle({ subjectId: id })
    expect([await billing(), (await holders(address)).ports]).toEqual(['SUSPENDED', []])
  })

  test('unpaid: it is unassigned less and less often while that fails', async () => {
    const { id, address } = await unpaid()
    const attempts = async () =>
      (
        await app.db.one<{ count: number }>(
          sql`select count(*)::int as count from workflow_runs where subject_id = ${id} and label = 'ADDRESS_UNASSIGN'`,
        )
      ).count
    await app.networkFaults.plant({ verb: 'ensurePort', kind: 'permanent', times: 1000 })
    app.clock.advance('25h')
    for (let i = 0; i < 20; i++) {
      await renewAddresses.runOnce(app.deps)
      await app.settle({ subjectId: id })
      app.clock.advance('30s')
    }
    // At once, after 30 s, 60 s, 120 s and 240 s.
    expect(await attempts()).toBe(5)
    await app.networkFaults.clear()
    app.clock.advance('1h')
    await renewAddresses.runOnce(app.deps)
    await app.settle({ subjectId: id })
    expect((await holders(address)).ports).toEqual([])
  })

  test('unpaid: no assignment holds up the end of its grace period', async () => {
    const { owner, vmId, id, billing } = await unpaid()
    app.clock.advance('24h')
    expect(code(await owner.post(`/addresses/${id}/assignment`, { vmId }))).toEqual([409, 'invalid_state'])
    await renewAddresses.runOnce(app.deps)
    expect(await billing()).toBe('SUSPENDED')
    await app.settle({ subjectId: id })
  })
})

test('a released address rests as long as the VM’s own when its VM was deleted on a lost host', async () => {
  const { id: vmId } = await app.given.vm(customer)
  const { id, address } = await reserve()
  await assigned(id, vmId)
  const { ipAddress, hostId } = await app.db.one<{ ipAddress: string; hostId: string }>(
    sql`select host(ip_address) as "ipAddress", host_id as "hostId" from vm_details where id = ${vmId}`,
  )
  await app.simulated.faults.loseHost()
  await app.db.run(sql`update hosts set unreachable_since = ${subtractDuration(app.clock.now(), '10m')} where id = ${hostId}`)
  await customer.delete(`/vms/${vmId}`)
  await app.settle({ subjectId: vmId })
  expect((await customer.delete(`/addresses/${id}`)).status).toBe(200)
  const rests = await app.db.many<{ available_at: Date }>(
    sql`select available_at from free_addresses where address in (${ipAddress}::inet, ${address}::inet)`,
  )
  expect(rests.map(({ available_at }) => available_at)).toEqual(Array(2).fill(addDuration(app.clock.now(), '24h')))
  await app.simulated.faults.returnHost()
})
