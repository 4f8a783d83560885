// The reconciler and workflows such as a start both apply a VM's ports. In every interleaving the newest filter must win.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import type { NetworkController, PortSpec } from '../../../hypervisor/network-controller.ts'
import { addDuration } from '../../../kernel/clock.ts'
import { sql } from '../../../kernel/database/db.ts'
import { markPortsApplied, versionForBoot } from '../../ports/service.ts'
import { getVmRow } from '../model/machine-spec.ts'
import { portSpecs } from '../model/ports.ts'
import { applyPorts } from './apply-ports.reconciler.ts'

describe('ports with two concurrent writers', async () => {
  const app = await testApp()
  const { deps, db, clock } = app
  await db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%'`)
  const customer = await app.given.customer({ credit: '1000.00' })
  const controller = await deps.networkControllers.get(app.host.region_id)
  const apply = () => applyPorts.runOnce(deps)
  const specsOf = async (vmId: string) => portSpecs(db, await getVmRow(db, vmId))
  const put = async (ports: PortSpec[]) => {
    for (const port of ports) await controller.ensurePort(port, AbortSignal.timeout(5_000))
  }

  /** A VM with port 22 open, not yet applied. */
  const given = async () => {
    const { id } = await app.given.vm(customer)
    const firewall = `/firewalls/${(await customer.post('/firewalls', { name: 'web' })).body.data.id as string}`
    await customer.post(`${firewall}/bindings`, { vmId: id })
    await customer.put(`${firewall}/rules`, { rules: [{ direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22' }] })
    const applied = () => db.maybe<Pick<PortSpec, 'filter'>>(sql`select filter from simulated.ports where vm_id = ${id}`)
    return {
      id,
      close: () => customer.put(`${firewall}/rules`, { rules: [] }),
      applied: async () => (await customer.get(firewall)).body.data.applied as boolean,
      ports: async () => (await applied())?.filter?.rules.map((rule) => rule.ports[0]!.from),
    }
  }
  type Given = Awaited<ReturnType<typeof given>>

  const expectClosed = async (vm: Given) => {
    await apply()
    expect([await vm.ports(), await vm.applied()]).toEqual([[], true])
  }

  /** The same steps as those of a workflow. */
  const act = async ({ id }: Given, beforeIt: () => Promise<unknown>, afterIt: () => Promise<unknown>) => {
    const [version, ports] = [await versionForBoot(db, clock.now(), id), await specsOf(id)]
    await beforeIt()
    await put(ports)
    await afterIt()
    await db.tx((tx) => markPortsApplied(tx, clock.now(), id, version))
  }
  const nothing = async () => {}

  /** A reconciler run, blocked before or right after its ports are applied until released. It applies only these. */
  const heldUp = async (where: 'before' | 'after' = 'before') => {
    const [isHeld, mayGo, stopping] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), new AbortController()]
    const ensurePort: NetworkController['ensurePort'] = async (...order) => {
      if (where === 'after') await controller.ensurePort(...order)
      isHeld.resolve()
      await mayGo.promise
      if (where === 'before') await controller.ensurePort(...order)
      stopping.abort()
    }
    const networkControllers = { ...deps.networkControllers, get: async () => ({ ...controller, ensurePort }) }
    const pass = applyPorts.keyed!.runOnce({ ...deps, networkControllers }, app.host.id, stopping.signal)
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

  test('stays the newest when the reconciler has crashed and its call still reaches the controller', async () => {
    const vm = await given()
    const ports = await specsOf(vm.id)
    await db.run(sql`update vm_ports set claimed_until = ${addDuration(clock.now(), '30s')} where vm_id = ${vm.id}`)
    await vm.close()
    await act(vm, nothing, nothing)
    await apply()
    await put(ports)
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
