import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf, placeOn } from '../../../test/hosts.ts'
import { sql } from '../../kernel/database/db.ts'
import { setQuotaLimit } from '../accounts/service.ts'
import { sweepOrphanVolumes } from '../backups/orphan-volumes.reconciler.ts'
import { renewals } from '../billing/renew.reconciler.ts'
import { addSimulatedStorage } from '../storage/service.ts'
import { adjustByOperator } from '../wallet/adjustments.ts'
import { purgeVolumes } from '../volumes/purge.reconciler.ts'
import { renewVolumes } from '../volumes/renew.reconciler.ts'

const app = await testApp()
await app.db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%' and position('_per_' in name) = 0`)
const customer = await app.given.customer({ credit: '10000.00' })
const stranger = await app.given.customer({ credit: '1000.00' })
const { regionId } = await app.given.vmInput()
const { drift } = controlOf(app, app.host.id)
const { id: vmId } = await app.given.vm(customer)

type Answer = Awaited<ReturnType<typeof customer.post>>
const code = (answer: Answer) => [answer.status, answer.headers['x-error-code']]
const order = (input: object = {}) => ({ name: 'data', sizeGiB: 10, regionId, storage: 'LOCAL', ...input })
const act = async (path: string, body?: object) => {
  const answer = await customer.post(`/volumes/${path}`, body)
  expect(answer.status, answer.body.error).toBe(202)
  await app.settle()
  return answer
}
/** Attached, with something on it. */
const attached = async (input: object = {}): Promise<string> => {
  const { id } = (await customer.post('/volumes', order({ vmId, ...input }))).body.data
  await app.settle()
  await drift.writeVolume(vmId, id, 'before')
  return id
}
const detached = async (input: object = {}): Promise<string> => {
  const id = await attached(input)
  await act(`${id}/detach`)
  return id
}
const take = async (id: string): Promise<string> => (await act(`${id}/snapshots`, { name: 'monday' })).body.data.snapshot.id
const get = async (path: string) => (await customer.get(`/volumes/${path}`)).body.data
const remove = async (id: string) => {
  if ((await get(id)).vmId !== null) await act(`${id}/detach`)
  expect((await customer.delete(`/volumes/${id}`)).status).toBe(200)
  await purgeVolumes.runOnce(app.deps)
}
const booked = async () => (await app.db.one<{ gib: number }>(sql`select disk_used_gib as gib from hosts where id = ${app.host.id}`)).gib
const copies = async () =>
  (await customer.get('/account/limits')).body.data.find((each: { name: string }) => each.name === 'copies').used as number
const balance = async () => Number((await customer.get('/wallet')).body.data.balance)
const price = (cents: bigint) => app.db.run(sql`update catalog_values set value = ${cents} where name = 'price.copies_gib'`)
/** All data of the volume, wherever it is. */
const dataOf = async (id: string) =>
  (
    await app.db.many<{ what: string }>(sql`
      select kind || coalesce(' ' || generation, '') || case when is_complete then '' else ' half made' end as what
      from simulated.volumes where coalesce(vm_id, id) = ${id} order by what`)
  ).map(({ what }) => what)

describe('a snapshot of a volume', () => {
  test('is taken of an attached one, listed, and deleted; it counts as the volume until then', async () => {
    const id = await attached()
    const before = [await booked(), await copies()]
    const answer = await customer.post(`/volumes/${id}/snapshots`, { name: 'monday', description: 'before the upgrade' })
    expect(answer.status).toBe(202)
    const { snapshot, actionId } = answer.body.data
    expect(answer.headers['location']).toMatch(new RegExp(`/vms/${vmId}/actions/${actionId}$`))
    expect(snapshot).toMatchObject({ volumeId: id, name: 'monday', description: 'before the upgrade', status: 'CREATING', size: '0' })
    expect(await get(id)).toMatchObject({ currentAction: { id: actionId, action: 'VOLUME_SNAPSHOT_CREATE' } })
    for (const path of ['snapshots', 'detach']) expect(code(await customer.post(`/volumes/${id}/${path}`, { name: 'x' }))[0]).not.toBe(202)
    await app.settle()
    const made = { ...snapshot, status: 'AVAILABLE', size: String(2 ** 30), sizeRefreshedAt: app.clock.now().toISOString() }
    expect(await get(`${id}/snapshots/${snapshot.id}`)).toEqual(made)
    expect(await get(`${id}/snapshots`)).toEqual([made])
    expect((await customer.get(`/vms/${vmId}/actions/${actionId}`)).body.data).toMatchObject({ status: 'COMPLETED', vmId, volumeId: id })
    expect([await booked(), await copies()]).toEqual([before[0]! + 10, before[1]! + 10])
    await app.checkInvariants()
    const gone = await customer.delete(`/volumes/${id}/snapshots/${snapshot.id}`)
    expect(gone.status).toBe(202)
    await app.settle()
    expect(code(await customer.get(`/volumes/${id}/snapshots/${snapshot.id}`))).toEqual([404, 'not_found'])
    expect([await booked(), await copies(), await dataOf(id)]).toEqual([...before, ['volume 0']])
    const events = (await customer.get('/events?limit=100')).body.data as { type: string; data: { snapshot?: { id: string } } }[]
    expect(events.filter(({ data }) => data.snapshot?.id === snapshot.id).map(({ type }) => type)).toEqual([
      'volume.snapshot_created',
      'volume.snapshot_deleted',
    ])
    await remove(id)
  })

  test.each(['LOCAL', 'REPLICATED'])('on %s storage is restored while the volume is detached, more than once', async (storage) => {
    if (storage === 'REPLICATED') await addPool()
    const id = await attached({ storage })
    const snapshot = await take(id)
    await drift.writeVolume(vmId, id, 'after')
    const refused = await customer.post(`/volumes/${id}/snapshots/${snapshot}/restore`)
    expect([...code(refused), refused.body.error]).toEqual([
      409,
      'in_use',
      expect.stringContaining('detach it, restore it, and attach it again'),
    ])
    await act(`${id}/detach`)
    for (let round = 1; round <= 2; round++) {
      const { actionId } = (await act(`${id}/snapshots/${snapshot}/restore`)).body.data
      const actions = (await customer.get('/actions?limit=5')).body.data as { id: string }[]
      expect(actions.find((each) => each.id === actionId)).toMatchObject({
        action: 'VOLUME_RESTORE',
        status: 'COMPLETED',
        vmId: '',
        volumeId: id,
      })
      expect(await dataOf(id)).toEqual(['snapshot', `volume ${round}`])
      await act(`${id}/attach`, { vmId })
      expect(await drift.readVolume(vmId, id)).toMatchObject({ text: 'before' })
      await drift.writeVolume(vmId, id, 'after')
      await act(`${id}/detach`)
    }
    expect(await get(`${id}/snapshots/${snapshot}`)).toMatchObject({ status: 'AVAILABLE' })
    await app.checkInvariants()
    await remove(id)
    expect(await dataOf(id)).toEqual([])
  })

  test('is taken of a detached one too, and of one that has grown is restored in its new size', async () => {
    const id = await detached()
    const answer = await customer.post(`/volumes/${id}/snapshots`, { name: 'small' })
    const { snapshot } = answer.body.data
    expect(answer.headers['location']).toMatch(new RegExp(`/volumes/${id}/snapshots/${snapshot.id}$`))
    expect(code(await customer.post(`/volumes/${id}/attach`, { vmId }))).toEqual([409, 'busy'])
    expect(code(await customer.delete(`/volumes/${id}`))).toEqual([409, 'busy'])
    await app.settle()
    expect((await customer.patch(`/volumes/${id}`, { sizeGiB: 20 })).status).toBe(200)
    await act(`${id}/snapshots/${snapshot.id}/restore`)
    await act(`${id}/attach`, { vmId })
    expect(await drift.readVolume(vmId, id)).toEqual({ text: 'before', bytes: 20 * 2 ** 30 })
    await remove(id)
  })

  test("of somebody else's volume is not found, and refusals change nothing", async () => {
    const id = await detached()
    const snapshot = await take(id)
    const path = `/volumes/${id}/snapshots`
    for (const answer of [
      await stranger.get(path),
      await stranger.post(path, { name: 'x' }),
      await stranger.get(`${path}/${snapshot}`),
      await stranger.post(`${path}/${snapshot}/restore`),
      await stranger.delete(`${path}/${snapshot}`),
      await stranger.post('/volumes', order({ snapshotId: snapshot })),
      await customer.get(`${path}/${id}`),
      await customer.post(`${path}/${id}/restore`),
      await customer.delete(`${path}/${id}`),
    ])
      expect(code(answer)).toEqual([404, 'not_found'])
    expect(code(await customer.post(path, { name: '' }))).toEqual([400, 'validation_failed'])
    expect(code(await customer.post(path, { name: 'x', description: 'y'.repeat(501) }))).toEqual([400, 'validation_failed'])
    await customer.patch(`/volumes/${id}`, { isProtected: true })
    expect(code(await customer.post(`${path}/${snapshot}/restore`))).toEqual([409, 'protected'])
    await customer.patch(`/volumes/${id}`, { isProtected: false })
    const fresh = (await customer.post('/volumes', order())).body.data.id
    expect(code(await customer.post(`/volumes/${fresh}/snapshots`, { name: 'x' }))).toEqual([409, 'invalid_state'])
    await app.db.run(sql`update accounts set suspended_at = now() where id = ${customer.accountId}`)
    expect(code(await customer.post(`${path}/${snapshot}/restore`))).toEqual([409, 'invalid_state'])
    expect(code(await customer.post(path, { name: 'x' }))).toEqual([409, 'invalid_state'])
    await app.db.run(sql`update accounts set suspended_at = null where id = ${customer.accountId}`)
    await app.db.run(sql`update hosts set removed_at = now() where id = ${app.host.id}`)
    expect(code(await customer.delete(`${path}/${snapshot}`))).toEqual([409, 'invalid_state'])
    await app.db.run(sql`update hosts set removed_at = null where id = ${app.host.id}`)
    expect(await dataOf(id)).toEqual(['snapshot', 'volume 0'])
    await remove(fresh)
    await remove(id)
  })

  test('counts: by number, against the quota of copies, and on the host', async () => {
    const id = await detached()
    for (let count = 0; count < 5; count++) await take(id)
    const more = () => customer.post(`/volumes/${id}/snapshots`, { name: 'x' })
    expect((await more()).body.error).toBe('Quota exceeded: this volume has 5 of 5 snapshots. Delete one, or ask support for more')
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'snapshots_per_volume', 6n))
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'copies_gib', 59n))
    expect(code(await more())).toEqual([422, 'quota_exceeded'])
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'copies_gib', null))
    const { disk_total_gib } = await app.db.one<{ disk_total_gib: number }>(sql`select disk_total_gib from hosts where id = ${app.host.id}`)
    await app.db.run(sql`update hosts set disk_total_gib = disk_used_gib + 9 where id = ${app.host.id}`)
    expect(code(await more())).toEqual([503, 'no_capacity'])
    await app.db.run(sql`update hosts set disk_total_gib = ${disk_total_gib} where id = ${app.host.id}`)
    expect((await more()).status).toBe(202)
    await app.settle()
    await app.checkInvariants()
    await app.db.tx((tx) => setQuotaLimit(tx, customer.accountId, 'snapshots_per_volume', null))
    await remove(id)
    expect(await copies()).toBe(0)
  })

  test('that cannot be taken, deleted or restored says so, and gives back what it took', async () => {
    const id = await attached()
    const before = [await booked(), await copies()]
    const faults = (verb: 'ensureVolumeSnapshot' | 'ensureNoVolumeSnapshot' | 'ensureVolume') =>
      app.simulated.faults.plant({ verb, kind: 'permanent' })
    await faults('ensureVolumeSnapshot')
    const failed = await take(id)
    expect(await get(`${id}/snapshots/${failed}`)).toMatchObject({ status: 'FAILED', size: '0' })
    expect([await booked(), await copies(), await dataOf(id)]).toEqual([...before, ['volume 0']])
    expect(code(await customer.post('/volumes', order({ snapshotId: failed })))).toEqual([409, 'invalid_state'])
    await customer.delete(`/volumes/${id}/snapshots/${failed}`)
    await app.settle()
    const snapshot = await take(id)
    await drift.writeVolume(vmId, id, 'after')
    await act(`${id}/detach`)
    await faults('ensureVolume')
    await act(`${id}/snapshots/${snapshot}/restore`)
    expect([await dataOf(id), await get(`${id}/snapshots/${snapshot}`)]).toMatchObject([['snapshot', 'volume 0'], { status: 'AVAILABLE' }])
    expect(code(await customer.post(`/volumes/${id}/snapshots/${failed}/restore`))).toEqual([404, 'not_found'])
    await faults('ensureNoVolumeSnapshot')
    await customer.delete(`/volumes/${id}/snapshots/${snapshot}`)
    await app.settle()
    expect([await get(`${id}/snapshots/${snapshot}`), await booked(), await copies()]).toMatchObject([{ status: 'FAILED' }, ...before])
    // Its data is an orphan now, and goes after a day.
    await sweepOrphanVolumes.runOnce(app.deps)
    await app.checkInvariants()
    app.clock.advance('25h')
    await sweepOrphanVolumes.runOnce(app.deps)
    expect(await dataOf(id)).toEqual(['volume 0'])
    await remove(id)
  })

  test('whose data is missing on the host fails, and counts no longer', async () => {
    const id = await detached()
    const snapshot = await take(id)
    const before = [await booked(), await copies()]
    await app.db.run(sql`delete from simulated.volumes where id = ${snapshot}`)
    await sweepOrphanVolumes.runOnce(app.deps)
    expect(await get(`${id}/snapshots/${snapshot}`)).toMatchObject({ status: 'AVAILABLE' })
    app.clock.advance('11s')
    await sweepOrphanVolumes.runOnce(app.deps)
    expect(await get(`${id}/snapshots/${snapshot}`)).toMatchObject({ status: 'FAILED', size: '0' })
    expect([await booked(), await copies()]).toEqual([before[0]! - 10, before[1]! - 10])
    await remove(id)
  })

  test('goes with its volume; its room is free once the data is gone', async () => {
    const before = [await booked(), await copies()]
    const id = await detached()
    await take(id)
    expect((await customer.delete(`/volumes/${id}`)).status).toBe(200)
    expect([await booked(), await copies()]).toEqual([before[0]! + 20, before[1]])
    await app.simulated.faults.plant({ verb: 'ensureNoVolume', kind: 'permanent' })
    await purgeVolumes.runOnce(app.deps)
    await app.checkInvariants()
    await purgeVolumes.runOnce(app.deps)
    expect([await booked(), await copies(), await dataOf(id)]).toEqual([...before, []])
    await app.checkInvariants()
  })

  test('costs what a copy costs: with the volume each month, for the rest of it at first, and its unused days are refunded', async () => {
    await price(10n)
    const id = await attached()
    const money = await balance()
    const path = `/volumes/${id}/snapshots`
    expect((await customer.post(`${path}?dryRun=true`, { name: 'x' })).body.data).toMatchObject({ charge: '1.00', monthly: '1.50' })
    const snapshot = await take(id)
    expect([await balance(), (await get(id)).billing.priceMonthly]).toEqual([money - 1, '1.50'])
    expect((await customer.patch(`/volumes/${id}?dryRun=true`, { sizeGiB: 20 })).body.data).toMatchObject({
      charge: '0.50',
      monthly: '2.00',
    })
    app.clock.advance('32d')
    await renewals.runOnce(app.deps)
    const renewed = await balance()
    await renewVolumes.runOnce(app.deps)
    expect(await balance()).toBeCloseTo(renewed - 1.5, 2)
    const unrefunded = await balance()
    await customer.delete(`${path}/${snapshot}`)
    await app.settle()
    expect(await balance()).toBeGreaterThan(unrefunded + 0.8)
    expect((await get(id)).billing.priceMonthly).toBe('0.50')
    await app.checkInvariants()
    await price(0n)
    await remove(id)
  })
})

test('a snapshot fails, and costs nothing, where the money was spent while it was taken', async () => {
  await price(10n)
  const poor = await app.given.customer({ credit: '100.00' })
  const vm = await app.given.vm(poor)
  const { id } = (await poor.post('/volumes', order({ vmId: vm.id }))).body.data
  await app.settle()
  const before = await booked()
  expect((await poor.post(`/volumes/${id}/snapshots`, { name: 'x' })).status).toBe(202)
  const left = (await poor.get('/wallet')).body.data.balance as string
  const debit = { accountId: poor.accountId, amount: -BigInt(left.replace('.', '')), reason: 'spent', currency: 'USD' }
  await app.db.tx((tx) => adjustByOperator(tx, app.deps, debit))
  await app.settle()
  const [snapshot] = (await poor.get(`/volumes/${id}/snapshots`)).body.data
  expect([snapshot.status, await dataOf(id), await booked()]).toEqual(['FAILED', ['volume 0'], before])
  expect((await poor.get(`/volumes/${id}`)).body.data.billing.priceMonthly).toBe('0.50')
  await app.checkInvariants()
  await price(0n)
})

describe('POST /volumes with snapshotId', () => {
  test.each(['LOCAL', 'REPLICATED'])('makes an independent volume on %s storage', async (storage) => {
    const id = await attached({ storage })
    const snapshot = await take(id)
    await drift.writeVolume(vmId, id, 'after')
    const create = (input: object) => customer.post('/volumes', { name: 'copy', sizeGiB: 20, regionId, snapshotId: snapshot, ...input })
    expect(code(await create({ sizeGiB: 9 }))).toEqual([400, 'validation_failed'])
    expect(code(await create({ vmId }))).toEqual([400, 'validation_failed'])
    expect(code(await create({ storage: storage === 'LOCAL' ? 'REPLICATED' : 'LOCAL' }))).toEqual([422, 'incompatible'])
    const answer = await create({})
    expect([answer.status, answer.body.data]).toMatchObject([
      201,
      { storage, status: 'AVAILABLE', currentAction: { action: 'VOLUME_CREATE' } },
    ])
    const made = answer.body.data.id as string
    expect(code(await customer.post(`/volumes/${made}/attach`, { vmId }))).toEqual([409, 'busy'])
    await app.settle()
    await remove(id)
    await act(`${made}/attach`, { vmId })
    expect(await drift.readVolume(vmId, made)).toEqual({ text: 'before', bytes: 20 * 2 ** 30 })
    await app.checkInvariants()
    await remove(made)
  })

  test('that fails leaves no volume and costs nothing', async () => {
    const id = await detached()
    const snapshot = await take(id)
    const before = [await booked(), await balance()]
    await placeOn(app, app.host.id, () => app.simulated.faults.plant({ verb: 'ensureVolume', kind: 'permanent' }))
    const made = (await customer.post('/volumes', order({ snapshotId: snapshot }))).body.data.id
    await app.settle()
    expect(code(await customer.get(`/volumes/${made}`))).toEqual([404, 'not_found'])
    await purgeVolumes.runOnce(app.deps)
    expect([await booked(), await balance(), await dataOf(made)]).toEqual([...before, []])
    await app.checkInvariants()
    await remove(id)
  })
})

let hasPool = false
async function addPool(): Promise<void> {
  if (hasPool) return
  hasPool = true
  const { slug } = await app.db.one<{ slug: string }>(sql`select slug from regions where id = ${regionId}`)
  await app.db.tx((tx) => addSimulatedStorage(tx, app.clock.now(), { name: 'pool', region: slug, sizeGiB: 100_000, reservePercent: 10 }))
}
