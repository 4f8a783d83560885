// A VM of a lost host that another could not start is tried again: after longer and longer pauses, first where it is, then elsewhere.
import { follow, givenLostHosts, leaveOpen, look, lose, placeOf, powerOn, SILENCE } from '../../../test/lost-hosts.ts'
import { describe, expect, test } from 'vitest'
import { givenBrowser } from '../../../test/browser.ts'
import { controlOf } from '../../../test/hosts.ts'
import { sql } from '../../kernel/database/db.ts'
import type { HostRow } from '../hosts/service.ts'
import { suspendByOperator } from '../vms/service.ts'
import { retryRecoveries } from './retries.reconciler.ts'

const MINUTE = 60_000

describe('a VM of a lost host that another cannot start', async () => {
  const { app, customer, hostToLose, vmOn, vmOf } = await givenLostHosts()
  const failedOf = (vmId: string) =>
    app.db.maybe<{ failures: number; next_attempt_at: Date }>(
      sql`select failures, next_attempt_at from failed_recoveries where vm_id = ${vmId}`,
    )
  const pauseOf = async (vmId: string): Promise<number> => (await failedOf(vmId))!.next_attempt_at.getTime() - app.clock.now().getTime()
  const openRuns = (vmId: string) =>
    app.db.many<{ name: string }>(
      sql`select name from workflow_runs where subject_id = ${vmId} and (status in ('PENDING', 'RUNNING') or compensating)`,
    )
  const failOn = (host: HostRow, verb: 'ensureRunning' | 'ensureDefined' | 'ensureReady' | 'ensureStopped', times = 1) =>
    controlOf(app, host.id).faults.plant({ verb, kind: 'permanent', times })
  /** Until the first start has ended. */
  const moved = async (): Promise<void> => {
    for (let pass = 0; pass < 3; pass++) {
      await look(app)
      await app.settle()
    }
  }
  const again = async (): Promise<void> => {
    for (let pass = 0; pass < 2; pass++) await Promise.all([1, 2].map(() => retryRecoveries.runOnce(app.deps)))
    await app.settle()
  }
  const clean = async (): Promise<void> => {
    await controlOf(app, app.host.id).faults.clear()
    await app.db.run(sql`update hosts set maintenance = false`)
    await app.rest()
    await app.checkInvariants()
  }

  test('says why, pages, and is started where it is when the pause is over', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    const before = await placeOf(app, id)
    await lose(app, host)
    await failOn(app.host, 'ensureRunning')
    await moved()
    expect(await vmOf(id)).toMatchObject({
      status: 'ERROR',
      statusReason: expect.stringMatching(/^Its host failed\. It is tried again by itself, because another could not start it: ./),
      allowedActions: expect.arrayContaining(['start', 'delete']),
    })
    expect(await failedOf(id)).toMatchObject({ failures: 1 })
    expect(await pauseOf(id)).toBe(MINUTE)
    await retryRecoveries.runOnce(app.deps)
    expect([await openRuns(id), await app.deps.metrics.registry.metrics()]).toEqual([
      [],
      expect.stringContaining('berth_recoveries_failed 1'),
    ])
    app.clock.advance('60s')
    await Promise.all([1, 2, 3].map(() => retryRecoveries.runOnce(app.deps)))
    expect(await openRuns(id)).toEqual([{ name: 'vm.recover' }])
    await app.settle()
    expect([await placeOf(app, id), (await vmOf(id)).status]).toEqual([{ ...before, host_id: app.host.id }, 'RUNNING'])
    await retryRecoveries.runOnce(app.deps)
    expect([await failedOf(id), await app.deps.metrics.registry.metrics()]).toEqual([
      undefined,
      expect.stringContaining('berth_recoveries_failed 0'),
    ])
    const actions = (await customer.get(`/vms/${id}/actions`)).body.data as { action: string; status: string }[]
    expect(actions.slice(0, 2)).toMatchObject([
      { action: 'RECOVER', status: 'COMPLETED' },
      { action: 'RECOVER', status: 'FAILED' },
    ])
    await clean()
  })

  test('is shown to operators until it has been started, also when its old host was removed', async () => {
    const operator = await givenBrowser(app, { isOperator: true })
    const shown = async () => (await operator.get('/operator/recoveries')).body.data
    const host = await hostToLose()
    const { id } = await vmOn(host)
    const { name } = await vmOf(id)
    await lose(app, host)
    await failOn(app.host, 'ensureRunning', 2)
    await moved()
    const [last] = (await customer.get(`/vms/${id}/actions`)).body.data as { id: string; error: string }[]
    const waiting = {
      vmId: id,
      name,
      from: host.name,
      host: app.host.name,
      failures: 1,
      isUnderWay: false,
      step: 'boot',
      problem: last!.error,
    }
    expect(last!.error.length).toBeGreaterThan(0)
    expect(await shown()).toEqual([
      { ...waiting, actionId: last!.id, nextAttemptAt: new Date(app.clock.now().getTime() + MINUTE).toISOString() },
    ])
    expect((await operator.get('/operator/health')).body.data.counts).toContainEqual({ name: 'failedRecoveries', count: 1, isAlert: true })
    app.clock.advance('60s')
    await retryRecoveries.runOnce(app.deps)
    expect(await shown()).toMatchObject([{ ...waiting, isUnderWay: true }])
    await app.settle()
    await app.db.run(sql`update failed_recoveries set source_id = 'removed'`)
    expect(await shown()).toMatchObject([{ ...waiting, from: 'removed', failures: 2 }])
    await customer.post(`/vms/${id}/start`)
    await app.settle()
    expect(await shown()).toEqual([])
    await clean()
  })

  test('is not started on yet another host while a start that failed may have left its machine', async () => {
    const [host, other] = [await hostToLose(), await hostToLose()]
    const { id } = await vmOn(host)
    await lose(app, host)
    await failOn(app.host, 'ensureRunning', 2)
    await moved()
    app.clock.advance('60s')
    await again()
    expect(await failedOf(id)).toMatchObject({ failures: 2 })
    await failOn(app.host, 'ensureReady')
    await failOn(app.host, 'ensureStopped', 100)
    await customer.post(`/vms/${id}/start`)
    await app.settle({ rounds: 3 }).catch(() => undefined)
    expect(await openRuns(id)).toEqual([{ name: 'vm.start' }])
    app.clock.advance('26m')
    await app.settle()
    await controlOf(app, app.host.id).faults.clear()
    expect([(await vmOf(id)).status, await powerOn(app, app.host.id, id)]).toEqual(['ERROR', 'running'])
    await leaveOpen(app, app.host, other)
    await again()
    expect([(await placeOf(app, id)).host_id, await powerOn(app, other.id, id), (await vmOf(id)).status]).toEqual([
      app.host.id,
      undefined,
      'RUNNING',
    ])
    await clean()
  })

  test('waits longer after each failure, and is started on yet another host: one machine is left', async () => {
    const [host, other] = [await hostToLose(), await hostToLose()]
    const { id } = await vmOn(host)
    await lose(app, host)
    await failOn(app.host, 'ensureRunning', 2)
    await moved()
    app.clock.advance('60s')
    await again()
    expect([await pauseOf(id), (await failedOf(id))!.failures]).toEqual([2 * MINUTE, 2])
    const events = (await customer.get('/events?limit=100')).body.data as { type: string; data: { vm?: { id: string } } }[]
    expect(events.filter(({ type, data }) => type === 'vm.error' && data.vm?.id === id)).toHaveLength(1)
    app.clock.advance('119s')
    await again()
    expect((await placeOf(app, id)).host_id).toBe(app.host.id)
    await leaveOpen(app, app.host, other)
    app.clock.advance('1s')
    await again()
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([other.id, 'RUNNING'])
    await clean()
    expect(await powerOn(app, app.host.id, id)).toBeUndefined()
    expect(await powerOn(app, other.id, id)).toBe('running')
    await customer.delete(`/vms/${id}`)
    await app.settle()
  })

  test('stays where it is while there is no room elsewhere, and while its machine there may run', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    await lose(app, host)
    await leaveOpen(app, app.host)
    await failOn(app.host, 'ensureRunning', 3)
    await moved()
    for (const pause of ['60s', '120s']) {
      app.clock.advance(pause)
      await again()
    }
    expect([(await placeOf(app, id)).host_id, await pauseOf(id)]).toEqual([app.host.id, 4 * MINUTE])
    await app.db.run(sql`update hosts set maintenance = false where id <> ${host.id}`)
    await app.db.run(sql`insert into stale_machines (host_id, vm_id, next_attempt_at) values (${app.host.id}, ${id}, ${app.clock.now()})`)
    app.clock.advance('240s')
    await again()
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([app.host.id, 'RUNNING'])
    await clean()
  })

  test('is left alone when its owner has started it, and goes on when that failed', async () => {
    const host = await hostToLose()
    const [first, second] = [await vmOn(host), await vmOn(host)]
    await lose(app, host)
    await failOn(app.host, 'ensureRunning', 2)
    await moved()
    for (const { id } of [first, second]) expect(await vmOf(id)).toMatchObject({ status: 'ERROR' })
    await customer.post(`/vms/${first.id}/start`)
    await app.settle()
    expect([(await vmOf(first.id)).status, await failedOf(first.id)]).toEqual(['RUNNING', undefined])
    await customer.post(`/vms/${first.id}/stop`, { force: true })
    await failOn(app.host, 'ensureRunning')
    await customer.post(`/vms/${second.id}/start`)
    await app.settle()
    expect([(await vmOf(second.id)).status, (await failedOf(second.id))!.failures]).toEqual(['ERROR', 1])
    app.clock.advance('60s')
    await again()
    expect([(await vmOf(first.id)).status, (await vmOf(second.id)).status]).toEqual(['STOPPED', 'RUNNING'])
    await clean()
  })

  test('stays off or suspended where it was, and its row goes with it', async () => {
    const host = await hostToLose()
    const [off, held, gone] = [await vmOn(host), await vmOn(host), await vmOn(host)]
    await customer.post(`/vms/${off.id}/stop`, { force: true })
    await suspendByOperator(app.deps, held.id)
    await app.settle()
    const { statusReason } = await vmOf(held.id)
    await lose(app, host)
    await failOn(app.host, 'ensureDefined', 3)
    await moved()
    expect([(await vmOf(off.id)).status, (await vmOf(held.id)).status]).toEqual(['ERROR', 'SUSPENDED'])
    await customer.delete(`/vms/${gone.id}`)
    await app.settle()
    expect(await failedOf(gone.id)).toBeUndefined()
    app.clock.advance('60s')
    await again()
    expect([await vmOf(off.id), await vmOf(held.id)]).toMatchObject([{ status: 'STOPPED' }, { status: 'SUSPENDED', statusReason }])
    expect([await failedOf(off.id), await failedOf(held.id)]).toEqual([undefined, undefined])
    expect([await powerOn(app, app.host.id, off.id), await powerOn(app, app.host.id, held.id)]).toEqual(['stopped', 'stopped'])
    await clean()
  })

  test('goes with the next host that is lost, and is started once', async () => {
    const [host, next] = [await hostToLose(), await hostToLose()]
    const { id } = await vmOn(host)
    await vmOn(next) // by which the storage backend knows it
    await lose(app, host)
    await leaveOpen(app, next)
    await failOn(next, 'ensureReady')
    await moved()
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status]).toEqual([next.id, 'ERROR'])
    await leaveOpen(app, app.host)
    await controlOf(app, next.id).faults.loseHost()
    await look(app)
    app.clock.advance(SILENCE)
    await again()
    expect([await openRuns(id), (await placeOf(app, id)).host_id]).toEqual([[], next.id])
    await follow(app)
    expect([(await placeOf(app, id)).host_id, (await vmOf(id)).status, await failedOf(id)]).toEqual([app.host.id, 'RUNNING', undefined])
    await clean()
  })

  test('whose guest switches itself off has been started: its owner is told', async () => {
    const host = await hostToLose()
    const { id } = await vmOn(host)
    await lose(app, host)
    await app.db.raw(`
      create function switch_off() returns trigger language plpgsql as $$
      begin update simulated.machines set power = 'stopped', stop_reason = 'guest' where host_id = new.host_id and name = new.name; return null; end $$;
      create trigger switch_off after insert or update of power on simulated.machines for each row when (new.power = 'running') execute function switch_off();`)
    await moved()
    await app.db.raw('drop trigger switch_off on simulated.machines')
    expect(await vmOf(id)).toMatchObject({ statusReason: expect.stringContaining('switched itself off') })
    expect(await failedOf(id)).toBeUndefined()
    await clean()
    expect((await vmOf(id)).status).toBe('STOPPED')
  })
})
