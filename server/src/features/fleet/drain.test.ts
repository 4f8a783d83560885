import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { givenIso } from '../../../test/iso-image.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { allowManyVms } from '../../../test/snapshot-backup-fixture.ts'
import { checkInvariants, formatFailures } from '../../invariants/check.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { AttemptLostError } from '../../workflow/run-store.ts'
import { changeHost, getHost, type HostRow } from '../hosts/service.ts'
import { cancelMigration, startMigration } from '../vms/service.ts'
import { applyPorts } from '../vms/reconcilers/apply-ports.reconciler.ts'
import { reconcileStaleMachines } from '../vms/reconcilers/stale-machines.reconciler.ts'
import { carryOutDrains } from './drain.reconciler.ts'
import { cancelDrain, findDrainStatus, previewBalance, previewDrain, startBalance, startDrain } from './service.ts'
import { getRegion } from '../catalog/service.ts'

const ORDER = { concurrency: 2, stopsOthers: false, isPartial: false }

describe('operator drains a host', async () => {
  const app = await testApp()
  await allowManyVms(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  const customer = await app.given.customer({ credit: '10000.00' })
  const start = (host: HostRow, order: typeof ORDER) => app.db.tx((tx) => startDrain(tx, app.deps, host, order))
  const cancel = (host: HostRow) => app.db.tx((tx) => cancelDrain(tx, app.deps, host))
  let count = 0
  const vmsOn = (host: HostRow, vms: number): Promise<string[]> =>
    placeOn(app, host.id, async () => {
      const ids: string[] = []
      for (let i = 0; i < vms; i++) ids.push((await app.given.vm(customer)).id)
      return ids
    })
  /** A host with VMs, and as many others as named; whatever there was before takes nothing. */
  const given = async (vms: number, others: number) => {
    await app.db.run(sql`update hosts set maintenance = true`)
    const source = await givenHost(app, `source${++count}`)
    const ids = await vmsOn(source, vms)
    await app.db.run(sql`update hosts set maintenance = true`)
    const targets: HostRow[] = []
    for (let i = 0; i < others; i++) targets.push(await givenHost(app, `target${count}-${i}`))
    await app.db.run(sql`update hosts set maintenance = false where id = any(${[source.id, ...targets.map(({ id }) => id)]})`)
    return { source: await getHost(app.db, source.id), ids, targets }
  }
  const hostsOf = async (ids: string[]) =>
    (await app.db.many<{ host_id: string }>(sql`select host_id from vms where id = any(${ids}) order by id`)).map(({ host_id }) => host_id)
  const machines = async (ids: string[]) =>
    app.db.many<{ booted_at: Date; power: string; host_id: string }>(
      sql`select booted_at, power, host_id from simulated.machines where vm_id = any(${ids}) order by vm_id`,
    )
  const open = () =>
    app.db.many<{ id: string; source: string; destination: string }>(sql`
      select id, input ->> 'sourceId' as source, input ->> 'destinationId' as destination from workflow_runs
      where name = 'vm.migrate' and status in ('PENDING', 'RUNNING') order by id`)
  const statusOf = async (host: HostRow) => (await findDrainStatus(app.db, host))!
  const carryOut = async (host: HostRow) => {
    for (let rounds = 0; rounds < 20 && (await statusOf(host)).status === 'RUNNING'; rounds++) {
      await carryOutDrains.runOnce(app.deps)
      await app.settle()
    }
    return statusOf(host)
  }
  const broken = async () => {
    await applyPorts.runOnce(app.deps)
    await reconcileStaleMachines.runOnce(app.deps)
    return formatFailures(await checkInvariants(app.deps))
  }

  test('whose six VMs move two at a time, and none is stopped', async () => {
    const { source, ids, targets } = await given(6, 2)
    const before = await machines(ids)
    const preview = await previewDrain(app.deps, source)
    expect(preview.moves.map(({ vmId }) => vmId).toSorted()).toEqual(ids.toSorted())
    expect(preview).toMatchObject({ stays: [], factor: 1, backups: 0 })
    expect(preview.seconds).toBeGreaterThan(30)
    await start(source, ORDER)
    await expect(start(source, ORDER)).rejects.toThrow('is being drained already')
    await expect(app.db.tx((tx) => changeHost(tx, source, { maintenance: false }))).rejects.toThrow('is being drained')
    let most = 0
    for (let rounds = 0; rounds < 10 && (await statusOf(source)).status === 'RUNNING'; rounds++) {
      await Promise.all([carryOutDrains.runOnce(app.deps), carryOutDrains.runOnce(app.deps)]) // of two workers
      most = Math.max(most, (await open()).length)
      await app.settle()
    }
    expect(most).toBe(2)
    const status = await statusOf(source)
    expect(status).toMatchObject({ status: 'COMPLETED', vms: 6, moving: [], remaining: [] })
    expect(status.moved.map(({ vmId }) => vmId).toSorted()).toEqual(ids.toSorted())
    const after = await machines(ids)
    expect(after.map(({ booted_at, power }) => [booted_at, power])).toEqual(before.map(({ booted_at }) => [booted_at, 'running']))
    expect(new Set(await hostsOf(ids))).toEqual(new Set(targets.map(({ id }) => id)))
    expect((await getHost(app.db, source.id)).maintenance).toBe(true)
    const events = await app.db.many<{ type: string }>(sql`select distinct type from events where subject_id = any(${ids}) order by type`)
    expect(events.map(({ type }) => type)).toEqual(['vm.created', 'vm.migrated', 'vm.provisioning', 'vm.started'])
    await app.db.tx((tx) => changeHost(tx, source, { maintenance: false }))
    expect(await broken()).toBe('')
  })

  test('that has no room elsewhere: it is refused, and nothing is changed', async () => {
    const { source, ids, targets } = await given(2, 1)
    await app.db.run(sql`update hosts set ram_total_mib = 1 where id = ${targets[0]!.id}`)
    const preview = await previewDrain(app.deps, source)
    expect(preview).toMatchObject({ moves: [], stays: [{ isTemporary: false }, { isTemporary: false }] })
    expect(preview.stays[0]!.reason).toMatch(/^No other host can take it: .*1 full/)
    await expect(start(source, ORDER)).rejects.toThrow(`2 of 2 VMs of ${source.name} cannot move, so nothing was changed`)
    expect([await getHost(app.db, source.id), await findDrainStatus(app.db, source)]).toMatchObject([{ maintenance: false }, undefined])
    expect(await hostsOf(ids)).toEqual([source.id, source.id])
  })

  test('whose VM has an ISO image goes where there is room for that too', async () => {
    const { source, ids, targets } = await given(1, 2)
    const [id, imageId] = [ids[0]!, await givenIso(app, customer)]
    await customer.put(`/vms/${id}/iso`, { imageId })
    await app.settle()
    const [tight, other] = targets as [HostRow, HostRow]
    const { disk_gib, ram_mib } = await app.db.one<{ disk_gib: number; ram_mib: number }>(
      sql`select disk_gib, ram_mib from vms where id = ${id}`,
    )
    await app.db.run(sql`update hosts set disk_total_gib = ${disk_gib * 2}, disk_reserve_percent = 50 where id = ${tight.id}`)
    await app.db.run(sql`update hosts set ram_total_mib = ${ram_mib + 100} where id = ${other.id}`) // the fuller of the two
    expect((await previewDrain(app.deps, source)).moves).toMatchObject([{ to: other.name }])
    await app.db.run(sql`update hosts set maintenance = true where id = ${other.id}`)
    expect((await previewDrain(app.deps, source)).stays).toMatchObject([{ reason: expect.stringMatching(/1 full \(disk\)/) }])
    const migrate = (to?: string) => app.db.tx((tx) => startMigration(tx, app.deps, id, { to }))
    await expect(migrate(tight.id)).rejects.toThrow(/ and \d+ GiB disk with 1 GiB of images: 1 host checked, 1 full \(disk\)/)
    await app.db.run(sql`update hosts set maintenance = false where id = ${other.id}`)
    expect(await migrate()).toMatchObject({ to: other.name })
    await app.settle()
    expect(await hostsOf(ids)).toEqual([other.id])
    await app.db.run(sql`update hosts set disk_total_gib = 4000, disk_reserve_percent = 5 where id = ${tight.id}`)
    await app.db.run(sql`update hosts set ram_total_mib = 131072 where id = ${other.id}`)
    expect(await broken()).toBe('')
  })

  test('ends a rescue where VMs may be stopped, and says how to end one otherwise', async () => {
    const { source, ids } = await given(1, 1)
    const id = ids[0]!
    await customer.post(`/vms/${id}/rescue`, { password: 'correct horse battery' })
    await app.settle()
    const advice = `It is in rescue. npx berthd vm unrescue ${id} restarts it from its own disk, as does a drain with --stop-others`
    expect((await previewDrain(app.deps, source)).stays).toMatchObject([{ reason: advice, isTemporary: false }])
    await expect(start(source, ORDER)).rejects.toThrow(advice)
    const reason = 'It is in rescue, which is ended first'
    expect((await previewDrain(app.deps, source, true)).stays).toMatchObject([{ reason, isTemporary: true }])
    for (const atCall of [1, 3])
      // the call between them undoes what the first has begun
      await controlOf(app, source.id).faults.plant({ verb: 'ensureStopped', kind: 'permanent', atCall })
    await start(source, { ...ORDER, stopsOthers: true })
    const stuck = await carryOut(source)
    expect(stuck).toMatchObject({
      status: 'INCOMPLETE',
      remaining: [{ reason: expect.stringContaining('which could not be ended 2 times') }],
    })
    app.clock.advance('1m')
    await start(source, { ...ORDER, stopsOthers: true })
    expect(await carryOut(source)).toMatchObject({ status: 'COMPLETED', moved: [{ vmId: id }], remaining: [] })
    expect((await customer.get(`/vms/${id}`)).body.data).toMatchObject({ status: 'RUNNING', rescue: null })
    expect(await broken()).toBe('')
  })

  test('in part: what cannot move is named with its reason, and a busy VM is waited for', async () => {
    const { source, ids } = await given(3, 1)
    const [snapshotted, busy] = ids as [string, string]
    await customer.post(`/vms/${snapshotted}/snapshots`, { name: 'x' })
    await app.settle()
    const { actionId } = (await customer.post(`/vms/${busy}/restart`)).body.data
    await start(source, { ...ORDER, isPartial: true })
    await carryOutDrains.runOnce(app.deps)
    expect((await statusOf(source)).remaining).toEqual([
      expect.objectContaining({ vmId: snapshotted, reason: expect.stringContaining('VM has a snapshot') }),
      expect.objectContaining({ vmId: busy, reason: `Its action RESTART (${actionId}) has to end first` }),
    ])
    const { status, moved, remaining } = await carryOut(source)
    expect([status, moved.map(({ vmId }) => vmId).toSorted()]).toEqual(['INCOMPLETE', ids.slice(1).toSorted()])
    expect(remaining).toEqual([expect.objectContaining({ vmId: snapshotted, reason: expect.stringContaining('does not move') })])
    expect(await broken()).toBe('')
  })

  test('and waits for a VM that always has an action half an hour, also if each ends', async () => {
    const { source, ids } = await given(1, 1)
    const restart = async () => (await customer.post(`/vms/${ids[0]}/restart`)).body.data.actionId
    await restart()
    await start(source, ORDER)
    await carryOutDrains.runOnce(app.deps)
    app.clock.advance('31m')
    await carryOutDrains.runOnce(app.deps)
    expect(await statusOf(source)).toMatchObject({ status: 'RUNNING', remaining: [{ isTemporary: true }] })
    await app.settle()
    const actionId = await restart()
    await carryOutDrains.runOnce(app.deps)
    const reason = `Its action RESTART (${actionId}) has to end first: it began when the drain had waited long enough, so drain the host again`
    expect(await statusOf(source)).toMatchObject({ status: 'INCOMPLETE', remaining: [{ vmId: ids[0], reason }] })
    await app.settle()
    await start(source, ORDER)
    expect(await carryOut(source)).toMatchObject({ status: 'COMPLETED' })
  })

  test('and a worker that dies at any point is replaced', async () => {
    const { source, ids, targets } = await given(6, 2)
    const before = await machines(ids)
    await start(source, { ...ORDER, concurrency: 3 })
    for (const at of ['move begun', 'move run', 'move saved']) {
      await carryOutDrains.runOnce(app.deps)
      const checkpoint = (where: string): void => {
        if (where === at) throw new AttemptLostError(`lost at ${at}`)
      }
      for (const { id } of await open()) await resumeRun({ ...testRunner(app.deps), checkpoint }, id).catch(() => {})
      app.clock.advance('16s')
    }
    expect(await carryOut(source)).toMatchObject({ status: 'COMPLETED', remaining: [] })
    expect((await machines(ids)).map(({ booted_at }) => booted_at)).toEqual(before.map(({ booted_at }) => booted_at))
    expect((await hostsOf(ids)).every((id) => targets.some((target) => target.id === id))).toBe(true)
    expect(await broken()).toBe('')
  })

  test('and the drain ends when its last migration has', async () => {
    const { source, ids, targets } = await given(1, 1)
    await start(source, ORDER)
    await carryOutDrains.runOnce(app.deps)
    const checkpoint = (where: string): void => {
      if (where === 'move saved') throw new AttemptLostError('lost')
    }
    for (const { id } of await open()) await resumeRun({ ...testRunner(app.deps), checkpoint }, id).catch(() => {})
    expect(await hostsOf(ids)).toEqual([targets[0]!.id])
    await carryOutDrains.runOnce(app.deps)
    expect(await statusOf(source)).toMatchObject({ status: 'RUNNING', moving: [{ vmId: ids[0] }] })
    app.clock.advance('16s')
    expect(await carryOut(source)).toMatchObject({ status: 'COMPLETED', moved: [{ vmId: ids[0] }] })
  })

  test('and cancels that: what is under way ends, and no further VM moves', async () => {
    const { source, ids } = await given(4, 1)
    await start(source, { ...ORDER, concurrency: 1 })
    await carryOutDrains.runOnce(app.deps)
    expect(await open()).toHaveLength(1)
    const cancelled = await cancel(source)
    expect([cancelled.status, cancelled.moving.length, cancelled.remaining.length]).toEqual(['CANCELLED', 1, 3])
    await carryOutDrains.runOnce(app.deps)
    await app.settle()
    await carryOutDrains.runOnce(app.deps)
    expect(await open()).toEqual([])
    expect((await hostsOf(ids)).filter((id) => id === source.id)).toHaveLength(3)
    expect(await statusOf(source)).toMatchObject({ status: 'CANCELLED', moving: [], moved: [{}] })
    await expect(cancel(source)).rejects.toThrow('is not being drained')
    await app.db.tx((tx) => changeHost(tx, source, { maintenance: false }))
  })

  test('whose VM fails to move: it is tried again, and left there unless it may be stopped', async () => {
    const fail = (source: HostRow) => controlOf(app, source.id).faults.plant({ verb: 'ensureMigrated', kind: 'permanent', times: 2 })
    const { source, ids } = await given(1, 1)
    const before = await machines(ids)
    await fail(source)
    await start(source, ORDER)
    const { status, remaining } = await carryOut(source)
    expect([status, remaining]).toEqual([
      'INCOMPLETE',
      [expect.objectContaining({ reason: expect.stringMatching(/failed 2 times.*With --stop-others/) })],
    ])
    expect(await machines(ids)).toEqual(before)
    await fail(source)
    await start(source, { ...ORDER, stopsOthers: true })
    expect(await carryOut(source)).toMatchObject({ status: 'COMPLETED', moved: [{ vmId: ids[0], restarted: true }] })
    expect(await machines(ids)).toMatchObject([{ power: 'running' }])
    expect((await customer.get(`/vms/${ids[0]}`)).body.data.status).toBe('RUNNING')
    expect(await broken()).toBe('')
  })

  test('and a migration that the operator cancels is not begun again', async () => {
    const { source, ids } = await given(1, 1)
    await start(source, ORDER)
    await carryOutDrains.runOnce(app.deps)
    await app.db.tx((tx) => cancelMigration(tx, app.deps, ids[0]!))
    expect(await carryOut(source)).toMatchObject({ status: 'INCOMPLETE', remaining: [{ reason: 'Its migration was cancelled' }] })
    expect(await hostsOf(ids)).toEqual([source.id])
  })

  test('and levels the load of a region, to a point from which nothing more moves', async () => {
    const { source, targets } = await given(6, 2)
    await app.db.run(sql`update hosts set ram_total_mib = 16384 where id = any(${[source.id, ...targets.map(({ id }) => id)]})`)
    const region = await getRegion(app.db, 'fra1')
    const plan = await previewBalance(app.db, region, 10)
    expect(plan.moves.length).toBeGreaterThan(0)
    const loads = plan.hosts.map(({ before }) => before)
    expect(Math.max(...plan.hosts.map(({ after }) => after))).toBeLessThan(Math.max(...loads))
    expect((await previewBalance(app.db, region, 1)).moves).toHaveLength(1)
    const { started, refused } = await startBalance(app.deps, region, 10)
    expect([started.length, refused]).toEqual([plan.moves.length, []])
    await app.settle()
    expect((await previewBalance(app.db, region, 10)).moves).toEqual([])
    expect(await broken()).toBe('')
  })
})
