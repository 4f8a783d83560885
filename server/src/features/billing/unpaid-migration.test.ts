// A suspension for debts does not wait for a migration, which may take hours: that is undone, also when workers die meanwhile, and one machine is left, off.
import { describe, expect, test } from 'vitest'
import { billingFixture } from '../../../test/billing-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { addDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { resumeRun } from '../../workflow/executor.ts'
import { AttemptLostError } from '../../workflow/run-store.ts'
import { startMigration } from '../vms/service.ts'

describe('a VM that is moved when the grace for its debts is over', async () => {
  const app = await testApp()
  const other = await givenHost(app, 'other')
  await app.db.run(sql`update address_pools set host_id = null`)
  const { vm, pass, turn, toRenewal, deposit, balance, renewalsOf } = await billingFixture(app)
  const powerOn = async (hostId: string, vmId: string) =>
    (await (await app.deps.hypervisors.get(hostId)).findMachine(vmId, AbortSignal.timeout(5_000)))?.power
  const place = async (vmId: string) => {
    const { host_id } = await app.db.one<{ host_id: string }>(sql`select host_id from vms where id = ${vmId}`)
    return [host_id, await powerOn(app.host.id, vmId), await powerOn(other.id, vmId)]
  }
  const used = () => app.db.many(sql`select vcpu_used, ram_used_mib, disk_used_gib from hosts order by id`)
  const start = (vmId: string) => app.db.tx((tx) => startMigration(tx, app.deps, vmId, { to: 'other' }))
  const killWorker = (actionId: string, at: string) => {
    const checkpoint = (where: string): void => {
      if (where === at) throw new AttemptLostError(`lost at ${at}`)
    }
    return expect(resumeRun({ ...testRunner(app.deps), checkpoint }, actionId)).rejects.toThrow(`lost at ${at}`)
  }
  /** The worker of its migration dies, and the grace is over. */
  const moving = async (at: string, { away, isOff = false }: { away?: string; isOff?: boolean } = {}) => {
    const customer = await app.given.customer({ credit: '6.00' })
    const { id } = await placeOn(app, app.host.id, () => app.given.vm(customer))
    await controlOf(app, app.host.id).drift.writeFile(id, 'proof', 'kept')
    if (isOff) await customer.post(`/vms/${id}/stop`)
    await app.settle()
    await toRenewal(customer, id)
    await turn()
    app.clock.advance('1439m')
    const before = await used()
    const { actionId } = await start(id)
    await killWorker(actionId, at)
    if (away !== undefined) await controlOf(app, away).faults.loseHost()
    app.clock.advance('2m')
    await pass()
    return { customer, id, actionId, before }
  }
  const end = async (customer: Awaited<ReturnType<typeof moving>>['customer'], id: string) => {
    await deposit(customer, '6.00')
    await turn()
    expect((await vm(customer, id)).status).toBe('RUNNING')
    await customer.delete(`/vms/${id}`)
    await app.rest()
    await app.checkInvariants()
  }

  test.each([
    ['filter saved', 'filter undone'],
    ['move begun', 'move undone'],
    ['move run', 'move undone'],
    ['move run', 'end, not committed'],
  ])('at "%s" stays where it is, and is suspended there; the next worker dies at "%s"', async (at, diesAt) => {
    const { customer, id, actionId, before } = await moving(at)
    await expect(start(id)).rejects.toThrow('VM is busy')
    await killWorker(actionId, diesAt)
    app.clock.advance('2m')
    await app.settle()
    expect((await customer.get(`/vms/${id}/actions/${actionId}`)).body.data).toMatchObject({
      status: 'CANCELLED',
      error: 'The VM is being suspended',
    })
    await expect(start(id)).rejects.toThrow('VM is being suspended') // a drain would begin it again
    await turn()
    expect([(await vm(customer, id)).status, await place(id)]).toEqual(['SUSPENDED', [app.host.id, 'stopped', undefined]])
    expect(await used()).toEqual(before)
    await app.rest()
    await app.checkInvariants()
    expect(await controlOf(app, app.host.id).drift.readFile(id, 'proof')).toBe('kept')
    await end(customer, id)
  })

  test('is not moved again before it is suspended where it is off', async () => {
    const { customer, id } = await moving('move begun', { isOff: true })
    await app.settle()
    expect((await vm(customer, id)).status).toBe('STOPPED')
    await expect(start(id)).rejects.toThrow('VM is being suspended')
    await turn()
    expect([(await vm(customer, id)).status, await place(id)]).toEqual(['SUSPENDED', [app.host.id, 'stopped', undefined]])
    await customer.delete(`/vms/${id}`)
    await app.rest()
    await app.checkInvariants()
  })

  test('is suspended on its new host where it is there already', async () => {
    const { customer, id } = await moving('move saved')
    await app.settle()
    await turn()
    expect([(await vm(customer, id)).status, await place(id)]).toEqual(['SUSPENDED', [other.id, undefined, 'stopped']])
    await end(customer, id)
  })

  test.each([
    ['move run', 'on its new host, where its old one is', () => app.host.id, () => [other.id, 'stopped']],
    ['move begun', 'where it is, where its new host is', () => other.id, () => [app.host.id, 'stopped']],
  ])('at "%s" is suspended at once %s away', async (at, _where, away, expected) => {
    const { customer, id, actionId } = await moving(at, { away: away() })
    await app.settle()
    expect((await customer.get(`/vms/${id}/actions/${actionId}`)).body.data).toMatchObject({ status: 'CANCELLED' })
    await turn()
    const hostId = expected()[0]!
    const { host_id } = await app.db.one<{ host_id: string }>(sql`select host_id from vms where id = ${id}`)
    expect([(await vm(customer, id)).status, host_id, await powerOn(hostId, id)]).toEqual(['SUSPENDED', ...expected()])
    await controlOf(app, away()).faults.returnHost()
    await app.rest()
    await app.checkInvariants()
    expect(await controlOf(app, hostId).drift.readFile(id, 'proof')).toBe('kept')
    expect([await powerOn(app.host.id, id), await powerOn(other.id, id)].filter((power) => power !== undefined)).toEqual(['stopped'])
    await end(customer, id)
  })

  test.each(['2h', '8h'])('is suspended when its host is back, which was away for %s, and costs nothing meanwhile', async (duration) => {
    const { customer, id, before } = await moving('move begun', { away: app.host.id })
    const paid = [await balance(customer), await renewalsOf(customer, id)]
    for (const until = addDuration(app.clock.now(), duration); app.clock.now() < until; app.clock.advance('10m')) {
      await app.settle({ rounds: 1 }).catch(() => undefined)
      await pass()
    }
    expect((await vm(customer, id)).billing.status).toBe('PAST_DUE')
    expect((await customer.post(`/vms/${id}/start`)).status).toBe(409)
    await controlOf(app, app.host.id).faults.returnHost()
    await app.settle()
    app.clock.advance('10m') // after which a suspension that failed is tried again
    await turn()
    expect([(await vm(customer, id)).status, (await place(id)).slice(0, 2)]).toEqual(['SUSPENDED', [app.host.id, 'stopped']])
    expect([await balance(customer), await renewalsOf(customer, id)]).toEqual(paid)
    await app.rest()
    await app.checkInvariants()
    expect([await used(), await place(id)]).toEqual([before, [app.host.id, 'stopped', undefined]])
    await end(customer, id)
    expect((await renewalsOf(customer, id)).length).toBe(1)
  })

  test('may be moved again when it was paid meanwhile', async () => {
    const { customer, id } = await moving('move begun')
    await app.settle()
    await deposit(customer, '6.00')
    await turn()
    expect((await vm(customer, id)).status).toBe('RUNNING')
    await start(id)
    await app.settle()
    expect(await place(id)).toEqual([other.id, undefined, 'running'])
    await customer.delete(`/vms/${id}`)
    await app.rest()
    await app.checkInvariants()
  })
})
