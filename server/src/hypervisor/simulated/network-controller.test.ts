import { expect, test } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import { manualClock } from '../../kernel/clock.ts'
import { describeNetworkController } from '../network-conformance.ts'
import { simulatedControl } from './control.ts'
import { instantPace } from './latency.ts'
import { simulatedNetworkControllers } from './network-controller.ts'
import { simulatedDatabase } from './test-fixture.ts'

const HOSTS: [string, string] = ['one', 'two']

describeNetworkController('simulated', async () => {
  const findHostId = async (_region: string, name: string) => HOSTS.find((each) => each === name)
  const open = simulatedNetworkControllers({ db: await simulatedDatabase(), clock: manualClock(), pace: instantPace, findHostId })
  const regionId = newId()
  return { controller: open(regionId), other: open(regionId), hosts: HOSTS, close: () => Promise.resolve() }
})

test('a host that is gone confirms nothing: its ports are known to the controller alone', async () => {
  const [db, clock, regionId, signal] = [await simulatedDatabase(), manualClock(), newId(), AbortSignal.timeout(10_000)]
  const controller = simulatedNetworkControllers({ db, clock, pace: instantPace })(regionId)
  const port = {
    vmId: newId(),
    mac: '52:54:00:00:00:01',
    networkId: null,
    addresses: [],
    ranges: [],
    host: 'one',
    limitMbps: null,
    filter: null,
  }
  const { faults } = simulatedControl(db, clock, 'two')
  await faults.loseHost()
  await controller.ensurePort(port, signal)
  const moving = { ...port, destination: 'two', version: 2 }
  await expect(controller.ensurePort(moving, signal)).rejects.toMatchObject({ kind: 'unreachable' })
  await controller.ensurePort(moving, signal, { unconfirmed: true })
  await faults.returnHost()
  await controller.ensurePort(moving, signal)
})
