import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenHost } from '../../../test/hosts.ts'
import { DriverError } from '../../hypervisor/driver.ts'
import { powerHints } from './hints.reconciler.ts'

test('a host that does not answer keeps nobody from hearing the others', async () => {
  const app = await testApp()
  const later = await givenHost(app, 'zz')
  const { hypervisors } = app.deps
  const heard: string[] = []
  let isAway = true
  const get = async (hostId: string) => {
    if (isAway && hostId === app.host.id) throw new DriverError('unreachable', 'away')
    heard.push(hostId)
    return hypervisors.get(hostId)
  }
  const deps = { ...app.deps, hypervisors: { ...hypervisors, get } }
  await powerHints.pass(deps)
  expect(heard).toEqual([later.id])
  isAway = false
  await powerHints.pass(deps)
  await powerHints.pass(deps)
  expect(heard).toEqual([later.id, app.host.id])
})
