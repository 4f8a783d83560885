// The contract of every driver. A driver's own test file calls `describeDriver` with a rig for that driver. Guests of the libvirt driver are
// real, so no test here is about speed.
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { consoleContract } from './conformance/consoles.ts'
import { snapshotBackupContract } from './conformance/copies.ts'
import { crashContract } from './conformance/crashes.ts'
import { diskContract } from './conformance/disks.ts'
import { networkContract } from './conformance/networks.ts'
import { powerContract } from './conformance/power.ts'
import type { Rig } from './conformance/fixture.ts'
import { monitoringContract } from './conformance/monitoring.ts'

export function describeDriver(name: string, makeRig: () => Promise<Rig>, timeoutMs = 30_000): void {
  describe(`the ${name} driver`, { timeout: timeoutMs }, () => {
    let made: Rig
    const rig = (): Rig => made
    beforeAll(async () => void (made = await makeRig()), timeoutMs)
    afterEach(() => made.tidy?.(), timeoutMs)
    afterAll(() => made.close())
    powerContract(rig)
    diskContract(rig)
    crashContract(rig)
    networkContract(rig)
    snapshotBackupContract(rig)
    monitoringContract(rig)
    consoleContract(rig)
  })
}
