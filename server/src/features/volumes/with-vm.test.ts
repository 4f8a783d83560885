import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost, givenRegion, placeOn } from '../../../test/hosts.ts'
import { subtractDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { parseCents } from '../../kernel/money.ts'
import { addPool } from '../hosts/public-addresses.ts'
import { addSimulatedStorage } from '../storage/service.ts'
import { purgeVolumes } from './purge.reconciler.ts'

const app = await testApp()
await app.db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%'`)
await app.db.run(sql`update address_pools set host_id = null`)
const second = await givenHost(app, 'second')
const customer = await app.given.customer({ credit: '100000.00' })
const stranger = await app.given.customer({ credit: '1000.00' })
const input = await app.given.vmInput()
const { regionId } = input
const { faults } = controlOf(app, app.host.id)

type Answer = Awaited<ReturnType<typeof customer.post>>
const code = (answer: Answer) => [answer.status, answer.headers['x-error-code']]
const data = { name: 'data', sizeGiB: 10 }
const create = (volumes: object[], more: object = {}, by: Pick<typeof customer, 'post'> = customer, query = '') =>
  by.post(`/vms${query}`, { ...input, hostname: 'web', ...more, volumes })
const volume = async (more: object = {}, by = customer) => {
  const answer = await by.post('/volumes', { ...data, regionId, ...more })
  expect(answer.status, answer.body.error).toBe(201)
  return answer.body.data as { id: string; name: string }
}
const volumesOf = async (vmId: string) =>
  ((await customer.get(`/volumes?vmId=${vmId}&sort=name`)).body.data as { name: string; status: string; sizeGiB: number }[]).map(
    ({ name, status, sizeGiB }) => `${name} ${sizeGiB} ${status}`,
  )
const balance = async (by = customer) => parseCents((await by.get('/wallet')).body.data.balance)
const limits = async () =>
  Object.fromEntries(
    ((await customer.get('/account/limits')).body.data as { name: string; used: number }[]).map(({ name, used }) => [name, used]),
  )
const events = async (type: string) =>
  (
    await app.db.many<{ name: string }>(
      sql`select data -> 'volume' ->> 'name' as name from events where type = ${type} and account_id = ${customer.accountId} order by number`,
    )
  ).map(({ name }) => name)
const booked = async () => (await app.db.one<{ gib: number }>(sql`select sum(disk_used_gib)::int as gib from hosts`)).gib
const machineHas = async (vmId: string) =>
  (await app.db.many<{ id: string }>(sql`select volume_id as id from simulated.machine_volumes where machine = ${vmId} order by 1`)).length

describe('POST /vms with volumes', () => {
  test('makes new ones, takes free ones, and charges both together', async () => {
    const free = await volume({ name: 'kept', sizeGiB: 20 })
    const [money, before] = [await balance(), await limits()]
    const wanted = [{ ...data, labels: { env: 'prod' }, isProtected: true }, { name: 'log', sizeGiB: 5 }, { volumeId: free.id }]
    const quote = (await create(wanted, {}, customer, '?dryRun=true')).body.data
    expect(await balance()).toBe(money)
    const plain = (await create([], {}, customer, '?dryRun=true')).body.data
    expect(plain).not.toHaveProperty('volumesMonthly')
    expect(parseCents(quote.charge) - parseCents(plain.charge)).toBe(parseCents(quote.volumesMonthly))
    const { status, body } = await create(wanted)
    expect(status, body.error).toBe(202)
    const { vm, actionId } = body.data
    expect(await volumesOf(vm.id)).toEqual(['data 10 ATTACHING', 'kept 20 ATTACHING', 'log 5 ATTACHING'])
    expect((await customer.get(`/volumes/${free.id}`)).body.data.currentAction).toMatchObject({ id: actionId, action: 'CREATE' })
    expect(money - (await balance())).toBe(parseCents(quote.charge))
    expect(quote.balanceAfter).toBe((await customer.get('/wallet')).body.data.balance)
    await app.settle()
    expect((await customer.get(`/vms/${vm.id}`)).body.data.status).toBe('RUNNING')
    expect(await volumesOf(vm.id)).toEqual(['data 10 ATTACHED', 'kept 20 ATTACHED', 'log 5 ATTACHED'])
    expect(await machineHas(vm.id)).toBe(3)
    const after = await limits()
    expect([after['volumes']! - before['volumes']!, after['volumeStorage']! - before['volumeStorage']!]).toEqual([2, 15])
    const [made] = (await customer.get(`/volumes?vmId=${vm.id}&name=data`)).body.data
    expect(made).toMatchObject({ labels: { env: 'prod' }, isProtected: true, currentAction: null })
    expect((await events('volume.attached')).slice(-3).toSorted()).toEqual(['data', 'kept', 'log'])
    await app.checkInvariants()
  })

  test('gives each VM of a count its own, with its number', async () => {
    const { status, body } = await create(
      [
        { name: 'disk-{n}', sizeGiB: 3 },
        { name: 'log', sizeGiB: 2 },
      ],
      { hostname: 'app', count: 2 },
    )
    expect(status, body.error).toBe(202)
    await app.settle()
    const ids = (body.data.vms as { id: string }[]).map(({ id }) => id)
    expect(await Promise.all(ids.map(volumesOf))).toEqual([
      ['disk-1 3 ATTACHED', 'log-1 2 ATTACHED'],
      ['disk-2 3 ATTACHED', 'log-2 2 ATTACHED'],
    ])
    await app.checkInvariants()
  })

  test('places the VM on the host of a volume on local storage', async () => {
    for (const host of [second, app.host]) {
      const { id } = await placeOn(app, host.id, () => app.given.vm(customer))
      const local = (await customer.post('/volumes', { ...data, regionId, vmId: id, storage: 'LOCAL' })).body.data
      await app.settle()
      await customer.post(`/volumes/${local.id}/detach`)
      await app.settle()
      const { body } = await create([{ volumeId: local.id }])
      await app.settle()
      const { host_id } = await app.db.one<{ host_id: string }>(sql`select host_id from vms where id = ${body.data.vm.id}`)
      expect(host_id).toBe(host.id)
      expect(await volumesOf(body.data.vm.id)).toEqual(['data 10 ATTACHED'])
    }
  })

  test('tries an alternative where there is no room for a volume', async () => {
    const large = [{ name: 'large', sizeGiB: 16_384 }]
    expect(code(await create(large))).toEqual([503, 'no_capacity'])
    const { region_id } = await givenRegion(app, 'far1')
    const pool = { regionId: region_id, hostId: null, cidr: '10.251.0.0/24', gateway: '10.251.0.1', dns: [] }
    await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))
    await app.db.tx((tx) => addSimulatedStorage(tx, app.clock.now(), { name: 'pool', region: 'far1', sizeGiB: 100, reservePercent: 10 }))
    const replicated = [{ ...data, storage: 'REPLICATED' }]
    expect(code(await create(replicated))).toEqual([422, 'unavailable'])
    const { status, body } = await create(replicated, { alternatives: [{ regionId: region_id }] })
    expect([status, body.data?.alternative], body.error).toEqual([202, 0])
    await app.settle()
    expect(await volumesOf(body.data.vm.id)).toEqual(['data 10 ATTACHED'])
    const { id } = await volume()
    expect(code(await create([{ volumeId: id }], { regionId: region_id }))).toEqual([422, 'region_mismatch'])
    expect(code(await create([{ volumeId: id }], { alternatives: [{ regionId: region_id }] }))).toEqual([422, 'region_mismatch'])
    await app.checkInvariants()
  })

  test.each([
    [{}, 'volumes.0 must have a volumeId, or name and sizeGiB of a new volume'],
    [{ name: 'x' }, 'volumes.0 must have a volumeId, or name and sizeGiB of a new volume'],
    [{ volumeId: 'c12345678', name: 'x' }, 'volumes.0 must have a volumeId alone, or nothing but what a new volume has'],
    [{ name: 'x', sizeGiB: 0 }, 'volumes.0.sizeGiB must be 1-16384 GiB'],
  ])('refuses %j', async (wanted, reason) => {
    const { status, body } = await create([wanted])
    expect([status, body.error]).toEqual([400, `Validation failed: ${reason}`])
  })

  test('refuses what is not free, not there, twice there, or for one VM only, and changes nothing', async () => {
    const on = (hostId: string) => placeOn(app, hostId, () => volume({ storage: 'LOCAL' }))
    const [free, local, elsewhere, used] = [await volume(), await on(app.host.id), await on(second.id), await on(app.host.id)]
    const vm = await placeOn(app, app.host.id, () => app.given.vm(customer))
    expect((await customer.post(`/volumes/${used.id}/attach`, { vmId: vm.id })).status).toBe(202)
    expect(code(await create([{ volumeId: used.id }]))).toEqual([409, 'busy'])
    await app.settle()
    const money = await balance()
    expect(code(await create([{ volumeId: used.id }]))).toEqual([409, 'in_use'])
    expect(code(await create([{ volumeId: (await volume({}, stranger)).id }]))).toEqual([404, 'not_found'])
    expect(code(await create([{ volumeId: free.id }, { volumeId: free.id }]))).toEqual([400, 'validation_failed'])
    expect(code(await create([{ volumeId: free.id }], { count: 2 }))).toEqual([400, 'validation_failed'])
    expect(code(await create([{ volumeId: local.id }, { volumeId: elsewhere.id }]))).toEqual([422, 'incompatible'])
    expect(code(await create(Array.from({ length: 9 }, (_, index) => ({ name: `v${index}`, sizeGiB: 1 }))))).toEqual([
      400,
      'validation_failed',
    ])
    const reader = await app.given.token(customer.accountId, { scopes: ['vms:create'] })
    expect(code(await create([data], {}, reader))).toEqual([403, 'missing_scope'])
    expect(code(await create([{ volumeId: free.id }], {}, reader))).toEqual([403, 'missing_scope'])
    const dueSince = subtractDuration(app.clock.now(), '3d')
    await app.db.run(sql`update volumes set billing_status = 'SUSPENDED', past_due_at = ${dueSince} where id = ${free.id}`)
    expect(code(await create([{ volumeId: free.id }]))).toEqual([409, 'invalid_state'])
    await app.db.run(sql`update volumes set billing_status = 'ACTIVE', past_due_at = null where id = ${free.id}`)
    const poor = await app.given.customer({ credit: '5.00' })
    expect(code(await create([{ name: 'x', sizeGiB: 5_000 }], {}, poor))).toEqual([402, 'insufficient_funds'])
    expect(await balance()).toBe(money)
  })

  test('where the VM cannot be built, deletes and refunds new ones and frees the others', async () => {
    const free = await placeOn(app, app.host.id, () => volume({ name: 'kept' }))
    const [money, room, used] = [await balance(), await booked(), await limits()]
    await faults.plant({ verb: 'ensureRunning', kind: 'permanent' })
    const { body } = await placeOn(app, app.host.id, () => create([data, { volumeId: free.id }]))
    const { vm } = body.data
    await app.settle()
    await faults.clear()
    expect((await customer.get(`/vms/${vm.id}`)).body.data.status).toBe('ERROR')
    expect(await volumesOf(vm.id)).toEqual([])
    expect((await customer.get(`/volumes/${free.id}`)).body.data).toMatchObject({ status: 'AVAILABLE', currentAction: null })
    expect(await balance()).toBe(money)
    await purgeVolumes.runOnce(app.deps)
    expect(await booked()).toBe(room)
    const now = await limits()
    expect([now['volumes'], now['volumeStorage']]).toEqual([used['volumes'], used['volumeStorage']])
    expect(await events('volume.attach_failed')).toEqual(['kept'])
    expect(await events('volume.deleted')).toEqual(['data'])
    await app.checkInvariants()
  })
})
