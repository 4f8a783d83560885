// What a QEMU that died leaves in a disk that was backed up before.
import { expect, test } from 'vitest'
import { missingCommands } from '../../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../../libvirt/test/describe-if.ts'
import { missingForLibvirtHost } from '../../../../test/libvirt-host.ts'
import { eventually } from '../../../../../libvirt/test/eventually.ts'
import { blankGuests, soon } from '../../../../test/blank-guests.ts'
import { nativeArch } from '../../../kernel/arch.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Driver, MachineSpec } from '../../driver.ts'

describeIf(missingForLibvirtHost() ?? missingCommands(`qemu-system-${nativeArch()}`))(
  'a disk whose dirty bitmap a crash left inconsistent',
  () => {
    const guests = blankGuests()
    const { open, blank, start, qemu } = guests
    const GROWN = { diskGiB: 2 }
    /** Two backups, and a QEMU that was killed while it had the disk with their bitmaps open. */
    const crash = async (driver: Driver, spec: MachineSpec): Promise<string> => {
      const [full, next] = [newId(), newId()]
      await driver.ensureBackup(spec.vmId, { backupId: full, parentId: null }, soon())
      await driver.ensureBackup(spec.vmId, { backupId: next, parentId: full }, soon())
      await driver.ensureStopped(spec.vmId, { graceMs: 0 }, soon())
      await driver.ensureRunning(spec, soon())
      await guests.host.sandbox.inside('kill', '-9', (await qemu(spec.vmId)).trim())
      await eventually('the end', async () => (await driver.findMachine(spec.vmId, soon()))?.power === 'stopped')
      expect((await records(spec)).filter(({ flags }) => flags.includes('in-use'))).toHaveLength(2)
      return next
    }
    const records = async ({ vmId }: MachineSpec): Promise<{ name: string; flags: string[] }[]> => {
      const said = await guests.host.sandbox.inside(
        'qemu-img',
        'info',
        '-U',
        '--output=json',
        `/var/lib/libvirt/images/berth/vm-${vmId}-1.qcow2`,
      )
      return (JSON.parse(said) as { 'format-specific': { data: { bitmaps?: [] } } })['format-specific'].data.bitmaps ?? []
    }

    test('grows offline, and no helper domain stays', async () => {
      const driver = open()
      const spec = blank(false)
      await start(driver, spec)
      await crash(driver, spec)
      expect(await driver.ensureDefined({ ...spec, ...GROWN }, soon())).toEqual(GROWN)
      expect((await guests.host.sandbox.virsh('list', '--all', '--name')).trim()).toBe(`berth-${spec.vmId}`)
      expect(await records(spec)).toEqual([])
      await driver.ensureRunning({ ...spec, ...GROWN }, soon())
      expect(await driver.findMachine(spec.vmId, soon())).toMatchObject({ power: 'running' })
    })

    test('grows live, and the next backup is full', async () => {
      const driver = open()
      const spec = blank(false)
      await start(driver, spec)
      const parentId = await crash(driver, spec)
      await driver.ensureRunning(spec, soon())
      expect(await driver.ensureDefined({ ...spec, ...GROWN }, soon())).toEqual(GROWN)
      const backup = await driver.ensureBackup(spec.vmId, { backupId: newId(), parentId }, soon())
      expect(backup).toMatchObject({ parentId: null })
    })
  },
)
