// The contract of every driver. A driver's own test file calls `describeDriver` with a fixture for that driver. Guests of the libvirt driver are
// real, so no test here is about speed.
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { consoleContract } from './conformance/consoles.ts'
import { backendContract, backupContract, hostContract, snapshotContract } from './conformance/copies.ts'
import { cpuContract } from './conformance/cpus.ts'
import { crashContract } from './conformance/crashes.ts'
import { diskContract } from './conformance/disks.ts'
import { initializationContract } from './conformance/initialization.ts'
import { isoContract } from './conformance/isos.ts'
import { interfaceContract } from './conformance/interfaces.ts'
import { liveSizeContract } from './conformance/live-size.ts'
import { powerContract } from './conformance/power.ts'
import { rescueContract } from './conformance/rescue.ts'
import { volumeContract } from './conformance/volumes.ts'
import type { DriverFixture } from './conformance/fixture.ts'
import { monitoringContract } from './conformance/monitoring.ts'

/** `storage`: where the fixture's disks are. */
export function describeDriver(
  name: string,
  makeFixture: () => Promise<DriverFixture>,
  { timeoutMs = 30_000, storage = 'host' }: { timeoutMs?: number; storage?: 'host' | 'backend' } = {},
): void {
  describe(`the ${name} driver`, { timeout: timeoutMs }, () => {
    let made: DriverFixture
    const fixture = (): DriverFixture => made
    beforeAll(async () => void (made = await makeFixture()), timeoutMs)
    afterEach(() => made.tidy?.(), timeoutMs)
    afterAll(() => made.close())
    powerContract(fixture)
    cpuContract(fixture)
    initializationContract(fixture)
    liveSizeContract(fixture)
    diskContract(fixture)
    crashContract(fixture)
    rescueContract(fixture)
    isoContract(fixture)
    interfaceContract(fixture)
    volumeContract(fixture)
    snapshotContract(fixture)
    backupContract(fixture)
    if (storage === 'host') hostContract(fixture)
    else backendContract(fixture)
    monitoringContract(fixture)
    consoleContract(fixture)
  })
}
