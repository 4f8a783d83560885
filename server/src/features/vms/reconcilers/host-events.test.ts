import { expect, test } from 'vitest'
import { testApp } from '../../../../test/harness.ts'
import { controlOf, givenHost } from '../../../../test/hosts.ts'
import { DriverError, type Driver } from '../../../hypervisor/driver.ts'
import { sql } from '../../../kernel/database/db.ts'
import { subscribeHostEvents } from './power-sync.reconciler.ts'

const app = await testApp()
const { hypervisors } = app.deps

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
