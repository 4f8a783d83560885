import { newId } from '../../kernel/ids.ts'
import { manualClock } from '../../kernel/clock.ts'
import { describeNetworkController } from '../network-conformance.ts'
import { instantPace } from './latency.ts'
import { simulatedNetworkControllers } from './network-controller.ts'
import { simulatedDatabase } from './test-fixture.ts'

describeNetworkController('simulated', async () => {
  const open = simulatedNetworkControllers({ db: await simulatedDatabase(), clock: manualClock(), pace: instantPace })
  const regionId = newId()
  return { controller: open(regionId), other: open(regionId), hosts: ['one', 'two'], close: () => Promise.resolve() }
})
