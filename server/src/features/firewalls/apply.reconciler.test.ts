import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost } from '../../../test/hosts.ts'
import type { Filter } from '../../hypervisor/driver.ts'
import { addDuration, stopwatch } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { newId } from '../../kernel/ids.ts'
import { applyFilters } from './apply.reconciler.ts'
import { watchFilters } from './drift.reconciler.ts'
import { filterOf } from './filter-state.ts'
import { bindFirewall, filterForBoot, forgetFilter, markFilterApplied, quiesceFilter, createFilterState } from './service.ts'

const port = (number: number) => ({ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: String(number) })

describe('packet filters on hosts', async () => {
  // These tests use VM ids without VM rows.
  const app = await testApp({ breaks: ['firewalls.owner', 'firewalls.tracked', 'filters.known'] })
  const { deps, db, clock } = app
  const soon = () => AbortSignal.timeout(5_000)
  const apply = () => applyFilters.runOnce(deps)
  const onHost = async (hostId: string, vmId: string): Promise<Filter | undefined> =>
    (await db.maybe<{ filter: Filter }>(sql`select filter from simulated.filters where host_id = ${hostId} and vm_id = ${vmId}`))?.filter
  const portsOnHost = async (hostId: string, vmId: string) => (await onHost(hostId, vmId))?.rules.map((rule) => rule.ports[0]!.from)
  /** Number of `ensureFilter` calls that the host has received, counted by a fault that never fires. */
  const countCalls = async (hostId: string) => {
    await controlOf(app, hostId).faults.plant({ verb: 'ensureFilter', kind: 'transient', atCall: 1_000 })
    return async () => (await db.one<{ calls: number }>(sql`select calls from simulated.faults where host_id = ${hostId}`)).calls
  }

  let hosts = 0
  /** A VM with its first filter applied on its own host, and a firewall bound to it. */
  const given = async () => {
    const host = await givenHost(app, `filter-${++hosts}`)
    const customer = await app.given.customer()
    const vmId = newId()
    const { id } = (await customer.post('/firewalls', { name: 'web' })).body.data
    await db.tx(async (tx) => {
      await createFilterState(tx, vmId, host.id, customer.accountId)
      await bindFirewall(tx, clock.now(), customer.accountId, id, vmId)
    })
    const build = async (): Promise<void> => {
      const { version, filter } = await filterForBoot(db, clock.now(), vmId)
      await (await deps.hypervisors.get(host.id)).ensureFilter(vmId, filter, soon())
      await db.tx((tx) => markFilterApplied(tx, clock.now(), vmId, version))
    }
    const addRule = (number: number) => customer.post(`/firewalls/${id}/rules`, port(number))
    const state = async () => (await customer.get(`/firewalls/${id}/bindings`)).body.data[0]
    return { host, customer, vmId, firewallId: id as string, build, addRule, state, control: controlOf(app, host.id) }
  }
  const givenBuilt = async () => {
    const built = await given()
    await built.build()
    return built
  }

  test('are left to the create workflow until it has applied the first one', async () => {
    const { host, vmId, build, addRule, state } = await given()
    await addRule(22)
    await apply()
    expect(await onHost(host.id, vmId)).toBeUndefined()
    await build()
    expect(await state()).toMatchObject({ applied: true, state: 'APPLIED', appliedAt: clock.now().toISOString(), error: null })
    expect(await portsOnHost(host.id, vmId)).toEqual([22])
  })

  test('follow a rule change', async () => {
    const { host, vmId, addRule, state, customer, firewallId } = await givenBuilt()
    await addRule(22)
    expect(await state()).toMatchObject({ applied: false, state: 'PENDING' })
    expect((await customer.get(`/firewalls/${firewallId}`)).body.data.applied).toBe(false)
    await apply()
    expect(await portsOnHost(host.id, vmId)).toEqual([22])
    expect(await state()).toMatchObject({ applied: true })
    expect((await customer.get(`/firewalls/${firewallId}`)).body.data.applied).toBe(true)
  })

  test('are applied once for a burst of changes', async () => {
    const { host, vmId, addRule } = await givenBuilt()
    const calls = await countCalls(host.id)
    for (let number = 1; number <= 10; number++) await addRule(number)
    await apply()
    expect(await portsOnHost(host.id, vmId)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(await calls()).toBe(1)
  })

  test('are debounced until changes stop', async () => {
    const { host, addRule } = await givenBuilt()
    const calls = await countCalls(host.id)
    // Counts only rounds whose changes were fast enough to be one burst, since the machine may be busy.
    const oneRound = async () => {
      await addRule(1)
      const before = await calls()
      const elapsed = stopwatch()
      const applying = apply()
      await addRule(2)
      const isBurst = elapsed() < 100
      await applying
      return { isBurst, applied: (await calls()) - before }
    }
    let round = await oneRound()
    for (let tries = 1; tries < 20 && !round.isBurst; tries++) round = await oneRound()
    expect(round).toEqual({ isBurst: true, applied: 1 })
  })

  test('alternate between accounts, so that one VM does not wait for all VMs of another account', async () => {
    const host = await givenHost(app, 'filter-turns')
    const [many, one] = [await app.given.customer(), await app.given.customer()]
    const vmOf = async ({ accountId }: typeof one, firewallId: string): Promise<string> => {
      const vmId = newId()
      await db.tx(async (tx) => {
        await createFilterState(tx, vmId, host.id, accountId)
        await markFilterApplied(tx, clock.now(), vmId, 1)
        await bindFirewall(tx, clock.now(), accountId, firewallId, vmId)
      })
      return vmId
    }
    const firewallOf = async (customer: typeof one): Promise<string> => (await customer.post('/firewalls', { name: 'web' })).body.data.id
    const theirs = await firewallOf(many)
    for (let vms = 0; vms < 4; vms++) await vmOf(many, theirs)
    const single = await vmOf(one, await firewallOf(one))
    await apply()
    const done = await db.many<{ vm_id: string }>(
      sql`select vm_id from simulated.filters where host_id = ${host.id} order by xmin::text::bigint`,
    )
    expect(done.map((row) => row.vm_id).indexOf(single)).toBe(1)
    expect(done).toHaveLength(5)
  })

  test('wait for an unreachable host and report the error', async () => {
    const { host, vmId, addRule, state, control } = await givenBuilt()
    await control.faults.loseHost()
    expect((await addRule(22)).status).toBe(201)
    await apply()
    expect(await state()).toEqual({
      firewallId: expect.any(String),
      vmId,
      applied: false,
      state: 'FAILED',
      appliedAt: expect.any(String),
      error: 'The host of this VM is unreachable.',
      nextTryAt: addDuration(clock.now(), '10s').toISOString(),
    })
    await control.faults.returnHost()
    await apply()
    expect(await state()).toMatchObject({ applied: false })
    clock.advance('10s')
    await apply()
    expect(await portsOnHost(host.id, vmId)).toEqual([22])
    expect(await state()).toMatchObject({ applied: true, error: null })
  })

  test.each(['transient', 'halfway', 'lost_answer', 'permanent'] as const)('are applied after a %s failure', async (kind) => {
    const { host, vmId, addRule, state, control } = await givenBuilt()
    await control.faults.plant({ verb: 'ensureFilter', kind })
    await addRule(22)
    await apply()
    clock.advance('60s')
    await apply()
    expect(await portsOnHost(host.id, vmId)).toEqual([22])
    expect(await state()).toMatchObject({ applied: true, error: null })
  })

  test('on a hanging host do not block other hosts', async () => {
    const [hanging, fine] = [await givenBuilt(), await givenBuilt()]
    await hanging.control.faults.plant({ verb: 'ensureFilter', kind: 'hang' })
    await hanging.addRule(22)
    await fine.addRule(22)
    const stopping = new AbortController()
    const lanes = applyFilters.keyed!
    const stuck = lanes.runOnce(deps, hanging.host.id, stopping.signal)
    await lanes.runOnce(deps, fine.host.id, stopping.signal)
    expect(await portsOnHost(fine.host.id, fine.vmId)).toEqual([22])
    await expect.poll(() => db.maybe(sql`select from simulated.faults where host_id = ${hanging.host.id}`)).toBeUndefined() // the call hangs
    stopping.abort()
    await stuck
    expect(await hanging.state()).toMatchObject({ applied: false, error: null })
    await apply()
    expect(await portsOnHost(hanging.host.id, hanging.vmId)).toEqual([22])
  })

  test('are up to date after a workflow and the reconciler wrote concurrently', async () => {
    const { vmId, addRule, build, state } = await givenBuilt()
    await addRule(22)
    const applying = apply()
    await build()
    await addRule(23)
    await applying
    await apply()
    expect(await state()).toMatchObject({ applied: true })
    const row = await db.one<{ desired_version: number; applied_version: number }>(
      sql`select desired_version, applied_version from vm_filters where vm_id = ${vmId}`,
    )
    expect(row.applied_version).toBe(row.desired_version)
  })

  test('of an older version are applied again', async () => {
    const { host, vmId, addRule } = await givenBuilt()
    const old = await filterOf(db, vmId)
    await addRule(22)
    await apply()
    await (await deps.hypervisors.get(host.id)).ensureFilter(vmId, old.filter, soon())
    await db.tx((tx) => markFilterApplied(tx, clock.now(), vmId, old.version))
    await apply()
    expect(await portsOnHost(host.id, vmId)).toEqual([22])
  })

  test('are claimed from a crashed process after its claim expires', async () => {
    const { host, vmId, addRule } = await givenBuilt()
    await addRule(22)
    await db.run(sql`update vm_filters set claimed_until = ${new Date(clock.now().getTime() + 30_000)} where vm_id = ${vmId}`)
    await apply()
    expect(await portsOnHost(host.id, vmId)).toEqual([])
    clock.advance('30s')
    await apply()
    expect(await portsOnHost(host.id, vmId)).toEqual([22])
  })

  test('are never applied again after quiesceFilter', async () => {
    const { host, vmId, addRule } = await givenBuilt()
    await addRule(22)
    const applying = apply()
    await quiesceFilter(deps, vmId, soon())
    await (await deps.hypervisors.get(host.id)).ensurePurged(vmId, soon())
    await applying
    await addRule(23)
    await watchFilters.runOnce(deps)
    await apply()
    expect(await onHost(host.id, vmId)).toBeUndefined()
    await db.tx((tx) => forgetFilter(tx, vmId))
    expect((await filterOf(db, vmId)).version).toBe(0)
  })

  test('are reapplied after manual removal', async () => {
    const { host, vmId, addRule } = await givenBuilt()
    await addRule(22)
    await apply()
    await db.run(sql`delete from simulated.filters where host_id = ${host.id} and vm_id = ${vmId}`)
    await watchFilters.runOnce(deps)
    await apply()
    expect(await portsOnHost(host.id, vmId)).toEqual([22])
  })

  test('are left to the workflow on the new host of a VM until it has applied the first one', async () => {
    const { vmId, customer, addRule, state } = await givenBuilt()
    const other = await givenHost(app, `filter-${++hosts}`)
    await db.tx((tx) => createFilterState(tx, vmId, other.id, customer.accountId))
    expect(await state()).toMatchObject({ applied: false })
    await apply()
    expect(await onHost(other.id, vmId)).toBeUndefined()
    const { version } = await filterOf(db, vmId)
    await addRule(22)
    await db.tx((tx) => markFilterApplied(tx, clock.now(), vmId, version))
    await apply()
    expect(await portsOnHost(other.id, vmId)).toEqual([22])
  })
})
