// The promises every driver keeps. A driver's own test file calls `describeDriver` with a rig that stands on that driver; the libvirt
// driver's guests are real, so no promise here is about how fast something is.
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { consolePromises } from './conformance/consoles.ts'
import { copyPromises } from './conformance/copies.ts'
import { crashPromises } from './conformance/crashes.ts'
import { diskPromises } from './conformance/disks.ts'
import { networkPromises } from './conformance/networks.ts'
import { powerPromises } from './conformance/power.ts'
import type { Rig } from './conformance/rig.ts'
import { watchingPromises } from './conformance/watching.ts'

export function describeDriver(name: string, makeRig: () => Promise<Rig>, timeoutMs = 30_000): void {
  describe(`the ${name} driver`, { timeout: timeoutMs }, () => {
    let made: Rig
    const rig = (): Rig => made
    beforeAll(async () => void (made = await makeRig()), timeoutMs)
    afterEach(() => made.tidy?.(), timeoutMs)
    afterAll(() => made.close())
    powerPromises(rig)
    diskPromises(rig)
    crashPromises(rig)
    networkPromises(rig)
    copyPromises(rig)
    watchingPromises(rig)
    consolePromises(rig)
  })
}
