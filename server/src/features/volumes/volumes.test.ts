import { afterEach, describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost, givenRegion, placeOn } from '../../../test/hosts.ts'
import { settler } from '../../../test/run-workflows.ts'
import { withStubbornGuests } from '../../../test/stubborn-guests.ts'
import { subtractDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { sweepOrphanVolumes } from '../backups/orphan-volumes.reconciler.ts'
import { addSimulatedStorage, removeStorageBackend } from '../storage/service.ts'
import { sweepOrphanImages } from '../vms/reconcilers/orphan-images.reconciler.ts'
import { reconcileStaleMachines } from '../vms/reconcilers/stale-machines.reconciler.ts'
import { credit } from '../wallet/service.ts'
import { purgeVolumes } from './purge.reconciler.ts'
import { renewVolumes } from './renew.reconciler.ts'

const app = await testApp()
await app.db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%'`)
await app.db.run(sql`update address_pools set host_id = null`)
const second = await givenHost(app, 'second')
const customer = await app.given.customer({ credit: '100000.00' })
const stranger = await app.given.customer({ credit: '1000.00' })
const { regionId } = await app.given.vmInput()
const { drift } = controlOf(app, app.host.id)

type Answer = Awaited<ReturnType<typeof customer.post>>
const code = (answer: Answer) => [answer.status, answer.headers['x-error-code']]
const order = (input: object = {}) => ({ name: 'data', sizeGiB: 10, regionId, ...input })
const create = async (input: object = {}, owner = customer) => {
  const answer = await owner.post('/volumes', order(input))
  expect(answer.status, answer.body.error).toBe(201)
  return answer.body.data
}
const get = async (id: string, owner = customer) => (await owner.get(`/volumes/${id}`)).body.data
const vmOn = (hostId: string, owner = customer) => placeOn(app, hostId, () => app.given.vm(owner))
const [one, other, elsewhere] = [await vmOn(app.host.id), await vmOn(app.host.id), await vmOn(second.id)]
const act = async (id: string, verb: 'attach' | 'detach', body?: object, owner = customer) => {
  const answer = await owner.post(`/volumes/${id}/${verb}`, body)
  expect(answer.status, answer.body.error).toBe(202)
  await app.settle()
  return answer.body.data as { vmId: string; actionId: string }
}
/** The VMs whose machines have it. */
const holders = async (id: string) =>
  (await app.db.many<{ machine: string }>(sql`select machine from simulated.machine_volumes where volume_id = ${id}`)).map(
    (row) => row.machine,
  )
const booked = async (hostId = app.host.id) =>
  (await app.db.one<{ gib: number }>(sql`select disk_used_gib as gib from hosts where id = ${hostId}`)).gib
const dataOf = async (id: string) =>
  (
    await app.db.many<{ gib: number }>(
      sql`select (capacity_bytes >> 30)::int as gib from simulated.volumes where kind = 'volume' and id = ${id} and is_complete`,
    )
  ).map(({ gib }) => gib)
const balance = async (owner = customer) => (await owner.get('/wallet')).body.data.balance as string
const purge = () => purgeVolumes.runOnce(app.deps)

describe('a volume', () => {
  test('is created, listed, changed and deleted; unused days are refunded, and room and quota given back', async () => {
    const [money, room] = [await balance(), await booked()]
    const quote = await customer.post('/volumes?dryRun=true', order({ vmId: one.id }))
    expect(quote.body.data).toMatchObject({ charge: '0.50', monthly: '0.50' })
    const made = await placeOn(app, app.host.id, () => create({ labels: { team: 'core' } }))
    expect(made).toMatchObject({
      name: 'data',
      sizeGiB: 10,
      storage: 'LOCAL',
      status: 'AVAILABLE',
      vmId: null,
      isProtected: false,
      labels: { team: 'core' },
      devicePath: `/dev/disk/by-id/virtio-${made.id.slice(-20)}`,
      billing: { status: 'ACTIVE', priceMonthly: '0.50' },
    })
    expect([await balance(), await booked()]).toEqual([quote.body.data.balanceAfter, room + 10])
    expect((await customer.get('/volumes?limit=1')).body.data).toEqual([made])
    expect((await customer.get(`/volumes?vmId=${one.id}`)).body.data).toEqual([])
    const changed = await customer.patch(`/volumes/${made.id}`, { name: 'db', labels: {}, isProtected: true })
    expect(changed.body.data).toMatchObject({ name: 'db', labels: {}, isProtected: true, sizeGiB: 10 })
    for (const method of ['get', 'delete'] as const) expect(code(await stranger[method](`/volumes/${made.id}`))).toEqual([404, 'not_found'])
    expect(code(await stranger.patch(`/volumes/${made.id}`, { name: 'mine' }))).toEqual([404, 'not_found'])
    expect(code(await customer.delete(`/volumes/${made.id}`))).toEqual([409, 'protected'])
    await customer.patch(`/volumes/${made.id}`, { isProtected: false })
    expect((await customer.delete(`/volumes/${made.id}?dryRun=true`)).body.data).toMatchObject({ charge: '-0.50' })
    expect((await customer.delete(`/volumes/${made.id}`)).status).toBe(200)
    expect(code(await customer.get(`/volumes/${made.id}`))).toEqual([404, 'not_found'])
    expect([await balance(), await booked()]).toEqual([money, room])
  })

  test('refuses what is no label, no size, and too much', async () => {
    for (const input of [
      { sizeGiB: 0 },
      { sizeGiB: 16_385 },
      { sizeGiB: 1.5 },
      { labels: { 'Not a key': '' } },
      { labels: { a: 'x\ny' } },
      { name: '' },
    ])
      expect(code(await customer.post('/volumes', order(input))), JSON.stringify(input)).toEqual([400, 'validation_failed'])
    expect(code(await customer.post('/volumes', order({ sizeGiB: 16_000 })))).toEqual([503, 'no_capacity'])
    expect(code(await customer.post('/volumes', order({ storage: 'REPLICATED' })))).toEqual([422, 'unavailable'])
    const poor = await app.given.customer({ credit: '0.49' })
    expect(code(await poor.post('/volumes', order()))).toEqual([402, 'insufficient_funds'])
    await app.db
      .run(sql`insert into account_quotas (account_id, name, limit_override) values (${stranger.accountId}, 'volume_storage_gib', 9), (${stranger.accountId}, 'volumes', 0)
      on conflict (account_id, name) do update set limit_override = excluded.limit_override`)
    expect(code(await stranger.post('/volumes', order()))).toEqual([422, 'quota_exceeded'])
    await app.db.run(sql`update account_quotas set limit_override = null where account_id = ${stranger.accountId}`)
  })

  test('moves between VMs of its host with what was written, without a reboot', async () => {
    const { id } = await create({ vmId: one.id })
    expect(await get(id)).toMatchObject({ status: 'ATTACHING', vmId: one.id, currentAction: { action: 'VOLUME_ATTACH' } })
    expect(code(await customer.post(`/volumes/${id}/detach`))).toEqual([409, 'busy'])
    await app.settle()
    expect(await get(id)).toMatchObject({ status: 'ATTACHED', vmId: one.id, currentAction: null })
    expect([await holders(id), await dataOf(id)]).toEqual([[one.id], [10]])
    await drift.writeVolume(one.id, id, 'kept')
    const { name } = (await customer.get(`/vms/${one.id}`)).body.data
    for (const refused of [await customer.post(`/volumes/${id}/attach`, { vmId: other.id }), await customer.delete(`/volumes/${id}`)]) {
      expect(code(refused)).toEqual([409, 'in_use'])
      expect(refused.body.error).toContain(`is attached to VM ${name}: detach it first`)
    }
    const { vmId, actionId } = await act(id, 'detach')
    expect((await customer.get(`/vms/${vmId}/actions/${actionId}`)).body.data).toMatchObject({
      action: 'VOLUME_DETACH',
      status: 'COMPLETED',
      vmId: one.id,
      volumeId: id,
      addressId: null,
    })
    expect([await holders(id), (await get(id)).status]).toEqual([[], 'AVAILABLE'])
    expect(code(await customer.post(`/volumes/${id}/detach`))).toEqual([409, 'invalid_state'])
    await act(id, 'attach', { vmId: other.id })
    expect(await drift.readVolume(other.id, id)).toMatchObject({ text: 'kept' })
    expect((await customer.get(`/volumes?vmId=${other.id}`)).body.data).toMatchObject([{ id }])
    const events = (await customer.get('/events?limit=100')).body.data as { type: string; data: { volume?: { id: string } } }[]
    expect(events.filter(({ data }) => data.volume?.id === id).map(({ type }) => type)).toEqual([
      'volume.created',
      'volume.attached',
      'volume.detached',
      'volume.attached',
    ])
    await act(id, 'detach')
  })

  test('on local storage is refused to a VM of another host, in words that say so; nothing changes', async () => {
    const { id } = await create({ vmId: one.id })
    await app.settle()
    await act(id, 'detach')
    const refused = await customer.post(`/volumes/${id}/attach`, { vmId: elsewhere.id })
    expect([...code(refused), refused.body.error]).toEqual([
      422,
      'incompatible',
      expect.stringContaining('is on the local storage of one host, and VM'),
    ])
    expect(await get(id)).toMatchObject({ status: 'AVAILABLE', vmId: null })
  })

  test('is refused to VMs of another account or region, to busy ones, and beyond eight', async () => {
    const volume = await create({ vmId: one.id })
    await app.settle()
    await act(volume.id, 'detach')
    const foreign = await vmOn(app.host.id, stranger)
    expect(code(await customer.post(`/volumes/${volume.id}/attach`, { vmId: foreign.id }))).toEqual([404, 'not_found'])
    expect(code(await stranger.post(`/volumes/${volume.id}/attach`, { vmId: foreign.id }))).toEqual([404, 'not_found'])
    expect(code(await stranger.post(`/volumes/${volume.id}/detach`))).toEqual([404, 'not_found'])
    expect(code(await customer.post('/volumes', order({ vmId: foreign.id })))).toEqual([404, 'not_found'])
    const far = await givenRegion(app, 'far1')
    expect(code(await customer.post('/volumes', order({ regionId: far.region_id, vmId: one.id })))).toEqual([422, 'region_mismatch'])
    const distant = await create({ regionId: far.region_id })
    expect(code(await customer.post(`/volumes/${distant.id}/attach`, { vmId: one.id }))).toEqual([422, 'region_mismatch'])
    await customer.post(`/vms/${other.id}/stop`)
    expect(code(await customer.post(`/volumes/${volume.id}/attach`, { vmId: other.id }))).toEqual([409, 'busy'])
    expect(code(await customer.post('/volumes', order({ vmId: other.id })))).toEqual([409, 'busy'])
    await app.settle()
    for (let count = 0; count < 8; count++) {
      await create({ vmId: other.id, sizeGiB: 1 })
      await app.settle()
    }
    expect(code(await customer.post(`/volumes/${volume.id}/attach`, { vmId: other.id }))).toEqual([422, 'quota_exceeded'])
    await customer.post(`/vms/${other.id}/start`)
    await app.settle()
    const listed = (await customer.get(`/volumes?vmId=${other.id}`)).body.data as { id: string }[]
    for (const { id } of listed) {
      expect(await holders(id)).toEqual([other.id])
      await act(id, 'detach')
    }
  })

  test('is part of the machine again after stop and start, rebuild and crash', async () => {
    const { id } = await create({ vmId: one.id })
    await app.settle()
    await drift.writeVolume(one.id, id, 'kept')
    const { osTemplateId } = await app.given.vmInput()
    for (const [path, body] of [
      ['stop', undefined],
      ['start', undefined],
      ['rebuild', { osTemplateId }],
    ] as const) {
      expect((await customer.post(`/vms/${one.id}/${path}`, body)).status).toBe(202)
      await app.settle()
    }
    await drift.stopMachine(one.id, 'crash')
    await app.rest()
    expect(await drift.readVolume(one.id, id)).toMatchObject({ text: 'kept' })
    await act(id, 'detach')
  })

  test('grows: detached at once, attached by the host, never less; a failure gives room, quota and money back', async () => {
    const { id } = await placeOn(app, app.host.id, () => create())
    const grow = (sizeGiB: number, query = '') => customer.patch(`/volumes/${id}${query}`, { sizeGiB })
    const room = await booked()
    expect((await grow(20, '?dryRun=true')).body.data).toMatchObject({ charge: '0.50', monthly: '1.00' })
    expect((await grow(20)).body.data).toMatchObject({ sizeGiB: 20, currentAction: null, billing: { priceMonthly: '1.00' } })
    expect(code(await grow(19))).toEqual([400, 'validation_failed'])
    await act(id, 'attach', { vmId: one.id })
    expect([await dataOf(id), await booked()]).toEqual([[20], room + 10])
    expect((await grow(30)).body.data).toMatchObject({ sizeGiB: 30, currentAction: { action: 'VOLUME_GROW' } })
    expect(code(await grow(40))).toEqual([409, 'busy'])
    await app.settle()
    expect([await dataOf(id), await booked()]).toEqual([[30], room + 20])
    const money = await balance()
    await app.simulated.faults.plant({ verb: 'ensureVolumeSize', kind: 'permanent' })
    expect((await grow(50)).status).toBe(200)
    await app.settle()
    expect(await get(id)).toMatchObject({ sizeGiB: 30, currentAction: null, billing: { priceMonthly: '1.50' } })
    expect([await dataOf(id), await booked(), await balance()]).toEqual([[30], room + 20, money])
    expect(code(await grow(10_000))).toEqual([503, 'no_capacity'])
    const { status } = (await customer.get(`/vms/${one.id}`)).body.data
    await app.db.run(sql`update vms set status = 'ERROR' where id = ${one.id}`)
    expect((await grow(40)).body.error).toBe('VM must be RUNNING or STOPPED to grow its volume; it is ERROR')
    await app.db.run(sql`update vms set status = ${status} where id = ${one.id}`)
    await app.checkInvariants()
    await act(id, 'detach')
  })

  test('that cannot be attached or detached stays as it was', async () => {
    const { id } = await placeOn(app, app.host.id, () => create())
    await app.simulated.faults.plant({ verb: 'ensureVolumeAttached', kind: 'permanent' })
    await act(id, 'attach', { vmId: one.id })
    expect([await get(id), await holders(id), await dataOf(id)]).toMatchObject([{ status: 'AVAILABLE', vmId: null }, [], []])
    await act(id, 'attach', { vmId: one.id })
    await app.simulated.faults.plant({ verb: 'ensureVolumeDetached', kind: 'permanent' })
    await act(id, 'detach')
    expect([await get(id), await holders(id)]).toMatchObject([{ status: 'ATTACHED', vmId: one.id }, [one.id]])
    await app.checkInvariants()
    await act(id, 'detach')
  })

  test('has one VM after many requests at once', async () => {
    const { id } = await placeOn(app, app.host.id, () => create())
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => customer.post(`/volumes/${id}/attach`, { vmId: index % 2 === 0 ? one.id : other.id })),
    )
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    await app.settle()
    expect(await holders(id)).toEqual([(await get(id)).vmId])
    await act(id, 'detach')
  })

  test('outlives its VM', async () => {
    const vm = await vmOn(app.host.id)
    const { id } = await create({ vmId: vm.id })
    await app.settle()
    await drift.writeVolume(vm.id, id, 'kept')
    await customer.delete(`/vms/${vm.id}`)
    await app.settle()
    expect(await get(id)).toMatchObject({ status: 'AVAILABLE', vmId: null })
    await act(id, 'attach', { vmId: one.id })
    expect(await drift.readVolume(one.id, id)).toMatchObject({ text: 'kept' })
    await act(id, 'detach')
  })
})

describe('the data of a volume', () => {
  test('is removed after its deletion, however often that fails; only then is its room free', async () => {
    const { id } = await create({ vmId: one.id })
    await app.settle()
    await act(id, 'detach')
    const room = await booked()
    expect((await customer.delete(`/volumes/${id}`)).status).toBe(200)
    for (const kind of ['halfway', 'permanent', 'lost_answer'] as const) {
      await app.simulated.faults.plant({ verb: 'ensureNoVolume', kind })
      await purge()
      expect(await booked()).toBe(room)
    }
    await purge()
    expect([await dataOf(id), await booked()]).toEqual([[], room - 10])
    await app.checkInvariants()
  })

  test('is an orphan without a row, and goes after a day; that of a volume never does', async () => {
    const kept = await create({ vmId: one.id })
    const lost = await create({ vmId: other.id })
    await app.settle()
    await act(kept.id, 'detach')
    await act(lost.id, 'detach')
    await app.db.tx(async (tx) => {
      await tx.run(sql`delete from volumes where id = ${lost.id}`)
      await tx.run(sql`update hosts set disk_used_gib = disk_used_gib - 10 where id = ${app.host.id}`)
      await tx.run(sql`update account_quotas set used = used - case name when 'volumes' then 1 else 10 end
        where account_id = ${customer.accountId} and name in ('volumes', 'volume_storage_gib')`)
    })
    const sweep = () => sweepOrphanVolumes.runOnce(app.deps)
    await sweep()
    app.clock.advance('25h')
    await sweep()
    await sweep()
    expect([await dataOf(lost.id), await dataOf(kept.id)]).toEqual([[], [10]])
  })
})

describe('the bill of a volume', () => {
  const types = async (owner: typeof customer) =>
    ((await owner.get('/wallet/transactions?limit=100')).body.data as { type: string; amount: string }[])
      .filter(({ type }) => type.startsWith('VOLUME'))
      .map(({ type, amount }) => `${type} ${amount}`)
  afterEach(() => app.db.run(sql`update catalog_values set value = 5 where name = 'price.volume_gib'`))

  test('is charged every month, once, for its size then, and is part of what is due', async () => {
    const owner = await app.given.customer({ credit: '100.00' })
    const { id } = await create({}, owner)
    app.clock.advance('25d')
    expect((await owner.get('/wallet')).body.data.dueNext7Days).toBe('0.50')
    expect((await owner.patch(`/volumes/${id}`, { sizeGiB: 100 })).status).toBe(200)
    app.clock.advance('40d')
    await Promise.all([renewVolumes.runOnce(app.deps), renewVolumes.runOnce(app.deps)])
    expect(await types(owner)).toEqual([
      'VOLUME_RENEWAL -5.00',
      'VOLUME_RENEWAL -5.00',
      expect.stringMatching(/^VOLUME_UPGRADE -0\.\d\d$/),
      'VOLUME_CHARGE -0.50',
    ])
    expect((await owner.delete(`/volumes/${id}`)).status).toBe(200)
  })

  test('unpaid: it is past due, detached a day later and deleted a week later; a deposit in between keeps it', async () => {
    const owner = await app.given.customer({ credit: '1000.00' })
    const vm = await vmOn(app.host.id, owner)
    const made = [await create({ vmId: vm.id, isProtected: true }, owner), await placeOn(app, app.host.id, () => create({}, owner))]
    await app.settle()
    await app.db.run(sql`update catalog_values set value = 1000000 where name = 'price.volume_gib'`)
    app.clock.advance('32d')
    await renewVolumes.runOnce(app.deps)
    const states = async () => Promise.all(made.map(async ({ id }) => (await get(id, owner))?.billing.status))
    expect(await states()).toEqual(['PAST_DUE', 'PAST_DUE'])
    expect(code(await owner.patch(`/volumes/${made[0].id}`, { sizeGiB: 11 }))).toEqual([409, 'invalid_state'])
    app.clock.advance('25h')
    await renewVolumes.runOnce(app.deps)
    await app.settle()
    expect([await states(), await holders(made[0].id)]).toEqual([['SUSPENDED', 'SUSPENDED'], []])
    expect(code(await owner.post(`/volumes/${made[0].id}/attach`, { vmId: vm.id }))).toEqual([409, 'invalid_state'])
    const entry = { type: 'CREDIT', description: 'Test', referenceType: 'ADMIN', referenceId: owner.accountId, currency: 'EUR' } as const
    await app.db.tx((tx) => credit(tx, app.deps, owner.accountId, 10_000_000n, entry))
    await renewVolumes.runOnce(app.deps)
    expect(new Set(await states())).toEqual(new Set(['ACTIVE', 'SUSPENDED']))
    app.clock.advance('8d')
    await renewVolumes.runOnce(app.deps)
    expect(new Set(await states())).toEqual(new Set(['ACTIVE', undefined]))
    await purge()
  })

  const PRICE = sql`update catalog_values set value = 1000000 where name = 'price.volume_gib'`
  /** Of a VM whose guest releases no volume. */
  const stubborn = async () => {
    const owner = await app.given.customer({ credit: '1000.00' })
    const vm = await vmOn(app.host.id, owner)
    const { id } = await create({ vmId: vm.id }, owner)
    await app.settle()
    const deps = withStubbornGuests(app.deps)
    const events = async () =>
      app.db.many<{ type: string; reason: string | null }>(
        sql`select type, data ->> 'reason' as reason from events where subject_id = ${id} order by number`,
      )
    return { owner, vm, id, deps, settle: settler(deps, app.clock), events }
  }

  test('unpaid: a guest that does not release it loses it by a restart', async () => {
    const { owner, vm, id, deps, settle, events } = await stubborn()
    await app.db.run(PRICE)
    app.clock.advance('32d')
    await renewVolumes.runOnce(deps)
    expect(await get(id, owner)).toMatchObject({ billing: { status: 'PAST_DUE' }, vmId: vm.id })
    await owner.post(`/volumes/${id}/detach`)
    await settle()
    expect([await get(id, owner), await holders(id)]).toMatchObject([{ status: 'ATTACHED' }, [vm.id]])
    app.clock.advance('25h')
    await renewVolumes.runOnce(deps)
    await settle()
    expect([await get(id, owner), await holders(id)]).toMatchObject([{ status: 'AVAILABLE', vmId: null }, []])
    expect((await events()).at(-1)).toEqual({ type: 'volume.detached', reason: expect.stringMatching(/the VM was restarted without it$/) })
    expect((await owner.get(`/vms/${vm.id}`)).body.data.status).toBe('RUNNING')
    expect(await (await app.deps.hypervisors.get(app.host.id)).findMachine(vm.id, AbortSignal.timeout(5_000))).toMatchObject({
      power: 'running',
      volumes: [],
    })
    app.clock.advance('8d')
    await renewVolumes.runOnce(app.deps)
    expect(await get(id, owner)).toBeUndefined()
    await purge()
  })

  test('unpaid: a VM that is in ERROR keeps none', async () => {
    const owner = await app.given.customer({ credit: '1000.00' })
    const vm = await vmOn(app.host.id, owner)
    const { id } = await create({ vmId: vm.id }, owner)
    await app.settle()
    await drift.stopMachine(vm.id, 'user')
    await app.db.run(sql`update vms set status = 'ERROR' where id = ${vm.id}`)
    await app.db.run(PRICE)
    app.clock.advance('32d')
    await renewVolumes.runOnce(app.deps)
    app.clock.advance('25h')
    await renewVolumes.runOnce(app.deps)
    await app.settle()
    expect([await get(id, owner), await holders(id)]).toMatchObject([{ status: 'AVAILABLE', billing: { status: 'SUSPENDED' } }, []])
  })

  test('is not put off by one action after another', async () => {
    const { owner, vm, id, deps, settle } = await stubborn()
    app.clock.advance('32d')
    expect((await owner.post(`/volumes/${id}/detach`)).status).toBe(202)
    await renewVolumes.runOnce(deps)
    expect(await types(owner)).toEqual(['VOLUME_RENEWAL -0.50', 'VOLUME_CHARGE -0.50'])
    await settle()
    await app.db.run(PRICE)
    app.clock.advance('31d')
    for (const [status, wait] of [
      ['PAST_DUE', '25h'],
      ['SUSPENDED', '1m'],
    ] as const) {
      expect((await owner.post(`/volumes/${id}/detach`)).status).toBe(202)
      await renewVolumes.runOnce(deps)
      expect(await get(id, owner)).toMatchObject({ status: 'DETACHING', vmId: vm.id, billing: { status } })
      await settle()
      app.clock.advance(wait)
    }
    await renewVolumes.runOnce(deps)
    await settle()
    expect(await get(id, owner)).toMatchObject({ status: 'AVAILABLE' })
  })

  test('of others is not delayed by any number of volumes that cannot be taken from their VMs', async () => {
    const vm = await vmOn(app.host.id, stranger)
    const { id: stuck } = await create({ vmId: vm.id }, stranger)
    await app.settle()
    const { id } = await create({}, customer)
    app.clock.advance('32d')
    await app.db
      .run(sql`insert into volumes (id, account_id, region_id, name, is_protected, size_gib, storage, host_id, status, vm_id, vm_host_id, billing_status,
        renewal_day, period_started_at, period_price_cents, next_renewal_at, past_due_at, created_at, updated_at)
      select 'stuck' || n, account_id, region_id, name, false, 10000000, storage, host_id, status, vm_id, vm_host_id, 'SUSPENDED', renewal_day,
        period_started_at, 0, created_at, created_at, created_at, updated_at from volumes, generate_series(1, 500) n where id = ${stuck}`)
    await app.db.run(sql`update vms set status = 'UNMANAGED' where id = ${vm.id}`)
    await renewVolumes.runOnce(app.deps)
    expect((await get(id)).billing.nextRenewalAt > app.clock.now().toISOString()).toBe(true)
    await app.db.run(sql`delete from volumes where id like 'stuck%'`)
    await app.db.run(sql`update vms set status = 'RUNNING' where id = ${vm.id}`)
  })
})

describe('on a lost host', () => {
  const lose = async () => {
    await app.simulated.faults.loseHost()
    await app.db.run(sql`update hosts set unreachable_since = ${subtractDuration(app.clock.now(), '10m')} where id = ${app.host.id}`)
  }
  const comeBack = async () => {
    await app.simulated.faults.returnHost()
    await app.db.run(
      sql`update hosts set unreachable_since = null, reachable_since = ${subtractDuration(app.clock.now(), '10m')} where id = ${app.host.id}`,
    )
  }

  test('a volume of a deleted VM is attached to no other VM before the old machine is gone', async () => {
    const region = (await customer.get('/regions')).body.data[0].slug as string
    await app.db.tx((tx) => addSimulatedStorage(tx, app.clock.now(), { name: 'pool', region, sizeGiB: 100, reservePercent: 10 }))
    const vm = await vmOn(app.host.id)
    const { id, storage } = await create({ vmId: vm.id, name: 'shared' })
    expect(storage).toBe('REPLICATED')
    await app.settle()
    await drift.writeVolume(vm.id, id, 'kept')
    await lose()
    await customer.delete(`/vms/${vm.id}`)
    await app.settle()
    expect(await get(id)).toMatchObject({ status: 'AVAILABLE', vmId: null })
    expect(code(await customer.post(`/volumes/${id}/attach`, { vmId: elsewhere.id }))).toEqual([409, 'busy'])
    await comeBack()
    await reconcileStaleMachines.runOnce(app.deps)
    await act(id, 'attach', { vmId: elsewhere.id })
    expect(await controlOf(app, second.id).drift.readVolume(elsewhere.id, id)).toMatchObject({ text: 'kept' })
    await expect(app.db.tx((tx) => removeStorageBackend(tx, 'pool'))).rejects.toMatchObject({ code: 'in_use' })
    await act(id, 'detach')
    await act(id, 'attach', { vmId: one.id })
    await act(id, 'detach')
    expect((await customer.delete(`/volumes/${id}`)).status).toBe(200)
    await purge()
    expect(await dataOf(id)).toEqual([])
  })

  test('a volume without a row is an orphan of its storage backend', async () => {
    const { id } = await create({ vmId: one.id, name: 'shared' })
    await app.settle()
    await act(id, 'detach')
    const sweep = () => sweepOrphanImages.runOnce(app.deps)
    await sweep()
    app.clock.advance('25h')
    await sweep()
    expect(await dataOf(id)).toEqual([10])
    await app.db.tx(async (tx) => {
      await tx.run(sql`delete from volumes where id = ${id}`)
      await tx.run(sql`update storage_backends set used_gib = used_gib - 10`)
      await tx.run(sql`update account_quotas set used = used - case name when 'volumes' then 1 else 10 end
        where account_id = ${customer.accountId} and name in ('volumes', 'volume_storage_gib')`)
    })
    await sweep()
    app.clock.advance('25h')
    await sweep()
    expect(await dataOf(id)).toEqual([])
  })

  test('a VM that is restored elsewhere loses its volumes, which wait for the host', async () => {
    const { id } = await create({ vmId: one.id, storage: 'LOCAL' })
    await app.settle()
    await drift.writeVolume(one.id, id, 'kept')
    const { backup } = (await customer.post(`/vms/${one.id}/backups`, { name: 'b' })).body.data
    await app.settle()
    await lose()
    const restored = await customer.post(`/vms/${one.id}/backups/${backup.id}/restore`)
    expect(restored.status, restored.body.error).toBe(202)
    expect(await get(id)).toMatchObject({ status: 'ATTACHED', vmId: one.id })
    await app.settle()
    expect(await get(id)).toMatchObject({ status: 'AVAILABLE', vmId: null })
    expect(await app.db.many(sql`select from vms where id = ${one.id} and host_id = ${second.id} and status = 'RUNNING'`)).toHaveLength(1)
    await comeBack()
    await reconcileStaleMachines.runOnce(app.deps)
    await act(id, 'attach', { vmId: other.id })
    expect(await drift.readVolume(other.id, id)).toMatchObject({ text: 'kept' })
    await act(id, 'detach')
    await app.rest()
  })
})
