// Guests that sleep, and stops that nobody saw succeed.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { missingCommands, run } from '../../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../../libvirt/test/describe-if.ts'
import { eventually } from '../../../../../libvirt/test/eventually.ts'
import { blankGuests, imageIn, soon } from '../../../../test/blank-guests.ts'
import { missingForLibvirtHost, losePower, returnPower } from '../../../../test/libvirt-host.ts'
import { nativeArch } from '../../../kernel/arch.ts'
import { expectKind } from '../../conformance/fixture.ts'
import type { Driver, MachineSpec } from '../../driver.ts'
import type { Image } from '../../image-source.ts'

describeIf(missingForLibvirtHost() ?? missingCommands(`qemu-system-${nativeArch()}`))('the power of a machine', () => {
  const guests = blankGuests()
  const { open, blank, start } = guests

  test('wakes a guest that has suspended itself', async () => {
    const made = blank(false)
    const spec = { ...made, template: { ...made.template, id: 'sleeper', arch: 'x86_64' } } as const
    const driver = open({ image: await sleepyImage(guests.host.sandbox.folder) })
    const becomes = (power: string) =>
      eventually(`the guest to be ${power}`, async () => (await driver.findMachine(spec.vmId, soon()))?.power === power, 60_000)
    await start(driver, spec)
    await becomes('paused')
    await driver.ensureRunning(spec, soon())
    expect(await becomes('running')).toBe(true)
  })

  describe('when a stop was aborted', () => {
    const giveUp = async (driver: Driver): Promise<MachineSpec> => {
      const spec = blank(false)
      await start(driver, spec)
      const cut = new AbortController()
      const stopping = expectKind(driver.ensureStopped(spec.vmId, { graceMs: 120_000 }, cut.signal), 'aborted')
      await eventually('the order', async () =>
        (await guests.host.sandbox.virsh('dumpxml', `berth-${spec.vmId}`)).includes('stop="ordered"'),
      )
      cut.abort()
      await stopping
      return spec
    }
    const whyOff = async (driver: Driver, { vmId }: MachineSpec) => (await driver.findMachine(vmId, soon()))?.stopReason

    test('and takes effect all the same, it was a stop; unless the VM was started since', async () => {
      const driver = open()
      const spec = await giveUp(driver)
      await guests.host.sandbox.virsh('destroy', `berth-${spec.vmId}`)
      expect(await whyOff(driver, spec)).toBe('user')
      const other = await giveUp(driver)
      await driver.ensureRunning(other, soon())
      await guests.host.sandbox.virsh('destroy', `berth-${other.vmId}`)
      expect(await whyOff(driver, other)).toBe('host')
    })

    test('and the host loses its power, it was the power loss; a VM that was stopped, or is stopped again, stays stopped', async () => {
      const driver = open()
      const stopped = blank(false)
      await start(driver, stopped)
      await driver.ensureStopped(stopped.vmId, { graceMs: 0 }, soon())
      const [left, repeated] = [await giveUp(driver), await giveUp(driver)]
      await losePower(guests.host.sandbox)
      await returnPower(guests.host.sandbox)
      expect(await driver.ensureStopped(repeated.vmId, { graceMs: 0 }, soon())).toEqual({ how: 'already' })
      expect(await Promise.all([stopped, left, repeated].map((spec) => whyOff(driver, spec)))).toEqual(['user', 'host', 'user'])
    })
  })
})

/** A boot sector for q35 which asks the power management for S3, once: it leaves a note in the memory of the clock. */
const SLEEP_ONCE = 'b060e670e4713c5a740f b060e670b05ae671 ba0406b80024ef faf4ebfd'

async function sleepyImage(folder: string): Promise<Image> {
  const [raw, path] = [join(folder, 'sleepy.raw'), join(folder, 'sleepy.qcow2')]
  const sector = Buffer.from(SLEEP_ONCE.replaceAll(' ', '').padEnd(1020, '0') + '55aa', 'hex')
  await writeFile(raw, Buffer.concat([sector], 2 ** 20))
  await run('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', raw, path)
  return imageIn(path, 'x86_64', 2 ** 20)
}
