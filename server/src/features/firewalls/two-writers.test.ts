// The reconciler and workflows such as a start both write a VM's filter on its host. In every interleaving the newest filter must win.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import type { Driver, Filter } from '../../hypervisor/driver.ts'
import { addDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { applyFilters } from './apply.reconciler.ts'
import { filterForBoot, markFilterApplied } from './service.ts'

describe('a filter with two concurrent writers', async () => {
  const app = await testApp()
  const { deps, db, clock } = app
  await db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%'`)
  const customer = await app.given.customer({ credit: '1000.00' })
  const driver = await deps.hypervisors.get(app.host.id)
  const apply = () => applyFilters.runOnce(deps)
  const put = (vmId: string, filter: Filter) => driver.ensureFilter(vmId, filter, AbortSignal.timeout(5_000))

  /** A VM with port 22 open, not yet applied on its host. */
  const given = async () => {
    const { id } = await app.given.vm(customer)
    const firewall = `/firewalls/${(await customer.post('/firewalls', { name: 'web' })).body.data.id as string}`
    await customer.post(`${firewall}/bindings`, { vmId: id })
    await customer.put(`${firewall}/rules`, { rules: [{ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22' }] })
    const onHost = () => db.maybe<{ filter: Filter }>(sql`select filter from simulated.filters where vm_id = ${id}`)
    return {
      id,
      close: () => customer.put(`${firewall}/rules`, { rules: [] }),
      applied: async () => (await customer.get(firewall)).body.data.applied as boolean,
      ports: async () => (await onHost())?.filter.rules.map((rule) => rule.ports[0]!.from),
    }
  }
  type Given = Awaited<ReturnType<typeof given>>

  const expectClosed = async (vm: Given) => {
    await apply()
    expect([await vm.ports(), await vm.applied()]).toEqual([[], true])
  }

  /** The same steps as those of a workflow. */
  const act = async ({ id }: Given, beforeIt: () => Promise<unknown>, afterIt: () => Promise<unknown>) => {
    const { version, filter } = await filterForBoot(db, clock.now(), id)
    await beforeIt()
    await put(id, filter)
    await afterIt()
    await db.tx((tx) => markFilterApplied(tx, clock.now(), id, version))
  }
  const nothing = async () => {}

  /** A reconciler run, blocked before or right after its filter reaches the host until released. It applies only this filter. */
  const heldUp = async (where: 'before' | 'after' = 'before') => {
    const [isHeld, mayGo, stopping] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), new AbortController()]
    const ensureFilter: Driver['ensureFilter'] = async (...order) => {
      if (where === 'after') await driver.ensureFilter(...order)
      isHeld.resolve()
      await mayGo.promise
      if (where === 'before') await driver.ensureFilter(...order)
      stopping.abort()
    }
    const hypervisors = { ...deps.hypervisors, get: async () => ({ ...driver, ensureFilter }) }
    const pass = applyFilters.keyed!.runOnce({ ...deps, hypervisors }, app.host.id, stopping.signal)
    await isHeld.promise
    return async (): Promise<void> => {
      mayGo.resolve()
      await pass
    }
  }

  test('stays the newest when the reconciler writes after a start', async () => {
    const vm = await given()
    const land = await heldUp()
    await vm.close()
    for (const verb of ['stop', 'start']) {
      await customer.post(`/vms/${vm.id}/${verb}`)
      await app.settle({ subjectId: vm.id })
    }
    expect([await vm.ports(), await vm.applied()]).toEqual([[], false]) // the final filter is not known yet
    await apply()
    await land()
    await expectClosed(vm)
  })

  test('stays the newest when the reconciler writes and ends before the workflow does', async () => {
    const vm = await given()
    const land = await heldUp()
    await vm.close()
    await act(vm, nothing, land)
    await expectClosed(vm)
  })

  test('stays the newest when the workflow writes after the reconciler, which ends last', async () => {
    const vm = await given()
    let letGo = nothing
    const closeAndApply = async () => {
      await vm.close()
      letGo = await heldUp('after')
    }
    await act(vm, closeAndApply, nothing)
    expect(await vm.ports()).toEqual([22])
    await letGo()
    await expectClosed(vm)
  })

  test('stays the newest when a complete reconciler run happens during the workflow', async () => {
    const vm = await given()
    const closeAndApply = async () => {
      await vm.close()
      await apply()
    }
    await act(vm, closeAndApply, nothing)
    expect(await vm.ports()).toEqual([22])
    await expectClosed(vm)
  })

  test('stays the newest when the reconciler has crashed and its call still reaches the host', async () => {
    const vm = await given()
    const { filter } = await filterForBoot(db, clock.now(), vm.id)
    await db.run(sql`update vm_filters set claimed_until = ${addDuration(clock.now(), '30s')} where vm_id = ${vm.id}`)
    await vm.close()
    await act(vm, nothing, nothing)
    await apply()
    await put(vm.id, filter)
    expect(await vm.applied()).toBe(false)
    clock.advance('30s')
    await expectClosed(vm)
  })

  test('stays the newest when the reconciler writes after its claim expired and another process has claimed it', async () => {
    const vm = await given()
    const land = await heldUp()
    await vm.close()
    clock.advance('30s')
    await expectClosed(vm)
    await land()
    await expectClosed(vm)
  })
})
