import { expect, onTestFinished, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../../test/hosts.ts'
import { DriverError, type Driver } from '../../../hypervisor/driver.ts'
import { sql } from '../../../kernel/database/db.ts'
import { startReconcilers } from '../../../workflow/reconciler-loop.ts'
import { confirmPowerStates, recordPowerEvent, subscribeHostEvents } from './power-sync.reconciler.ts'

const app = await testApp()
const { hypervisors } = app.deps
await app.db.run(sql`update address_pools set host_id = null`)

test('subscribes to a host again after its address changed', async () => {
  const vm = await app.given.vm(await app.given.customer({ credit: '10.00' }))
  const seen = () => app.db.one(sql`select observed_power from vms where id = ${vm.id}`)
  await subscribeHostEvents.runOnce(app.deps)
  await app.db.run(sql`update hosts set uri = 'simulated:///?vcpu=32' where id = ${app.host.id}`)
  await hypervisors.get(app.host.id) // closes the old address's driver and its subscription
  await subscribeHostEvents.runOnce(app.deps)
  await controlOf(app, app.host.id).drift.stopMachine(vm.id, 'guest')
  await expect.poll(seen).toEqual({ observed_power: 'stopped' })
})

test('an unreachable host does not block subscriptions to the others', async () => {
  const later = await givenHost(app, 'zz')
  const heard: string[] = []
  let isAway = true
  const drivers = new Map<Driver, Driver>()
  const listening = (driver: Driver): Driver => {
    const subscribe: Driver['subscribe'] = (...given) => {
      heard.push(driver.hostId)
      return driver.subscribe(...given)
    }
    const known = drivers.get(driver) ?? { ...driver, subscribe }
    drivers.set(driver, known)
    return known
  }
  const get = async (hostId: string) => {
    if (isAway && hostId === app.host.id) throw new DriverError('unreachable', 'away')
    return listening(await hypervisors.get(hostId))
  }
  const deps = { ...app.deps, hypervisors: { ...hypervisors, get } }
  await subscribeHostEvents.runOnce(deps)
  expect(heard).toEqual([later.id])
  isAway = false
  await subscribeHostEvents.runOnce(deps)
  await subscribeHostEvents.runOnce(deps)
  expect(heard).toEqual([later.id, app.host.id])
})

test('a host whose events were missed is listed at the next look, once, and no other is', async () => {
  const other = await givenHost(app, 'other')
  const swept: string[] = []
  const get = async (hostId: string): Promise<Driver> => {
    const driver = await hypervisors.get(hostId)
    const listMachines: Driver['listMachines'] = (signal) => {
      swept.push(hostId)
      return driver.listMachines(signal)
    }
    return { ...driver, listMachines }
  }
  const deps = { ...app.deps, hypervisors: { ...hypervisors, get } }
  await subscribeHostEvents.runOnce(app.deps)
  for (let i = 0; i < 3; i++) await controlOf(app, other.id).faults.returnHost()
  await expect
    .poll(async () => {
      await confirmPowerStates.runOnce(deps)
      return swept
    })
    .toEqual([other.id])
  await confirmPowerStates.runOnce(deps)
  expect(swept).toEqual([other.id])
})

test('a host that does not say what its machines do keeps no other from being corrected', async () => {
  const [later, customer] = [await givenHost(app, 'later'), await app.given.customer({ credit: '100.00' })]
  const here = await placeOn(app, app.host.id, () => app.given.vm(customer))
  const vm = await placeOn(app, later.id, () => app.given.vm(customer))
  const [asked, silence] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const get = async (hostId: string): Promise<Driver> => {
    const driver = await hypervisors.get(hostId)
    const findMachine: Driver['findMachine'] = (...given) => {
      asked.resolve()
      return silence.promise.then(() => driver.findMachine(...given))
    }
    return hostId === app.host.id ? { ...driver, findMachine } : driver
  }
  const stop = async (hostId: string, { id }: typeof vm): Promise<void> => {
    await controlOf(app, hostId).drift.stopMachine(id, 'guest')
    await recordPowerEvent(app.db, app.clock.now(), id, 'stopped')
    app.clock.advance('11s')
  }
  await stop(app.host.id, here)
  const loops = startReconcilers({ ...app.deps, hypervisors: { ...hypervisors, get } }, [confirmPowerStates])
  onTestFinished(() => loops.stop())
  onTestFinished(() => silence.resolve())
  await asked.promise
  await stop(later.id, vm)
  await expect
    .poll(async () => {
      loops.trigger(confirmPowerStates.name)
      return (await customer.get(`/vms/${vm.id}`)).body.data.status
    })
    .toBe('STOPPED')
})
