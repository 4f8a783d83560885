// UEFI, secure boot and a TPM: what the host keeps for them follows the machine, and nothing of it stays behind.
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { missingCommands } from '../../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../../libvirt/test/describe-if.ts'
import { blankGuests, soon } from '../../../../test/blank-guests.ts'
import { bootableIso, STARTED_FROM_ISO } from '../../../../test/bootable-iso.ts'
import { debianImage } from '../../../../test/debian-image.ts'
import { GuestShell } from '../../../../test/guest-shell.ts'
import { missingForLibvirtHost } from '../../../../test/libvirt-host.ts'
import { newId } from '../../../kernel/ids.ts'
import type { MachineSpec, TemplateRef } from '../../driver.ts'

const TIMEOUT = { timeout: 300_000 }

describeIf(missingForLibvirtHost() ?? missingCommands('qemu-system-x86_64', 'qemu-system-aarch64', 'swtpm', 'swtpm_setup'))(
  'the firmware of a machine',
  () => {
    const guests = blankGuests()
    const inside = (script: string): Promise<string> => guests.host.sandbox.inside('sh', '-c', script)
    /** Of the machine: the variables of its firmware, and the state of its TPM. */
    const stateOf = async ({ vmId, uuid }: MachineSpec) => ({
      variables: (await inside(`ls /var/lib/libvirt/qemu/nvram | grep -c ${vmId} || true`)).trim() === '1',
      tpm: (await inside(`ls /var/lib/libvirt/swtpm/${uuid}/tpm2 2> /dev/null | wc -l`)).trim() !== '0',
    })
    const withFirmware = (change: Partial<TemplateRef>): MachineSpec => {
      const made = guests.blank(false)
      return { ...made, template: { ...made.template, arch: 'x86_64', id: `f${change.firmware}`.replace('-', ''), ...change } }
    }
    const driverOf = () => guests.open({ image: { ...guests.image, arch: 'x86_64' } })
    const definition = ({ vmId }: MachineSpec): Promise<string> => guests.host.sandbox.virsh('dumpxml', `berth-${vmId}`)

    test('is offered by a host that has its files', async () => {
      const { guestTypes } = await driverOf().facts(soon())
      expect(guestTypes).toEqual(expect.arrayContaining(['x86_64', 'x86_64:uefi', 'x86_64:secure-boot', 'x86_64:tpm']))
    })

    test('is BIOS, UEFI, or UEFI with secure boot', TIMEOUT, async () => {
      const driver = driverOf()
      const loaders: boolean[][] = []
      for (const firmware of ['bios', 'uefi', 'secure-boot'] as const) {
        const spec = withFirmware({ firmware })
        await guests.start(driver, spec)
        const xml = await definition(spec)
        loaders.push([xml.includes("type='pflash'"), /<loader [^>]*secure='yes'/.test(xml)])
        expect(await stateOf(spec)).toEqual({ variables: firmware !== 'bios', tpm: false })
        await driver.ensurePurged(spec.vmId, soon())
        expect(await stateOf(spec)).toEqual({ variables: false, tpm: false })
      }
      expect(loaders).toEqual([
        [false, false],
        [true, false],
        [true, true],
      ])
    })

    test.each([
      ['x86_64', 'bios'],
      ['x86_64', 'uefi'],
      ['aarch64', 'uefi'],
    ] as const)('of %s starts an ISO image by %s, until that is taken out', { timeout: 600_000 }, async (arch, firmware) => {
      const path = join(guests.host.sandbox.folder, `bootable-${arch}-${firmware}.iso`)
      const bytes = bootableIso()
      await writeFile(path, bytes)
      const driver = guests.open({ image: { ...guests.image, arch }, isoPath: path })
      const iso = { imageId: newId(), checksum: `sha256:${createHash('sha256').update(bytes).digest('hex')}`, sizeBytes: bytes.length }
      const made = withFirmware({ id: `${arch.slice(0, 3)}${firmware}`, arch, firmware: arch === 'x86_64' ? firmware : null })
      const spec: MachineSpec = { ...made, iso }
      await guests.start(driver, spec)
      expect((await definition(spec)).includes("type='pflash'")).toBe(firmware === 'uefi')
      const terminal = await driver.openConsole(spec.vmId, 'serial', soon())
      let text = ''
      terminal.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
      await expect.poll(() => text, { timeout: 300_000 }).toContain(STARTED_FROM_ISO)
      await driver.ensureInDrive(spec.vmId, null, soon())
      terminal.destroy()
      await driver.ensureStopped(spec.vmId, { graceMs: 0 }, soon())
      await driver.ensureNoIso(iso.imageId, soon())
      await driver.ensurePurged(spec.vmId, soon())
      expect(await stateOf(spec)).toEqual({ variables: false, tpm: false })
    })

    test('boots Debian by its signatures, with a TPM that the guest sees', { timeout: 1_800_000 }, async () => {
      const image = await debianImage('x86_64')
      const driver = guests.open({ image })
      const made = withFirmware({ id: 'debian', checksum: image.checksum, hasAgent: true, firmware: 'secure-boot', tpm: true })
      const spec = { ...made, ramMiB: 512, diskGiB: 4 }
      await guests.start(driver, spec)
      expect(await driver.ensureReady(spec.vmId, { timeoutMs: 1_500_000 }, AbortSignal.timeout(1_500_000))).toMatchObject({
        readiness: 'reachable',
      })
      const shell = new GuestShell(guests.host.sandboxes.unix(guests.host.sandbox), 120_000)
      onTestFinished(() => shell.close())
      const variable = '/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c'
      const { output } = await shell.run(spec.vmId, `od -An -tu1 -j4 ${variable}; cat /sys/class/tpm/tpm0/tpm_version_major`)
      expect(output.split(/\s+/).filter(Boolean)).toEqual(['1', '2'])
      await driver.ensurePurged(spec.vmId, soon())
      expect(await stateOf(spec)).toEqual({ variables: false, tpm: false })
    })

    test('keeps its variables and its TPM over a stop, and begins anew with another system', TIMEOUT, async () => {
      const driver = driverOf()
      const spec = withFirmware({ firmware: 'secure-boot', tpm: true })
      await guests.start(driver, spec)
      expect(await stateOf(spec)).toEqual({ variables: true, tpm: true })
      const endorsement = () => inside(`sha256sum < /var/lib/libvirt/swtpm/${spec.uuid}/tpm2/tpm2-00.permall`)
      const first = await endorsement()
      await driver.ensureStopped(spec.vmId, { graceMs: 0 }, soon())
      expect(await stateOf(spec)).toEqual({ variables: true, tpm: true })
      await driver.ensureDefined(spec, soon())
      expect(await endorsement()).toBe(first)

      const rebuilt: MachineSpec = { ...spec, generation: 2, template: { ...spec.template, id: 'other', firmware: 'bios', tpm: false } }
      await guests.start(driver, rebuilt)
      expect(await stateOf(spec)).toEqual({ variables: false, tpm: false })
      await driver.ensurePurged(spec.vmId, soon())
    })

    test('keeps its variables and its TPM through a rescue from BIOS, and is purged in one with both', TIMEOUT, async () => {
      const driver = driverOf()
      const spec = withFirmware({ firmware: 'secure-boot', tpm: true })
      const rescued: MachineSpec = {
        ...spec,
        rescue: { generation: 7, template: { ...spec.template, id: 'small', firmware: 'bios', tpm: false } },
      }
      const variables = () => inside(`sha256sum /var/lib/libvirt/qemu/nvram/*${spec.vmId}*`)
      const changeTo = async (to: MachineSpec): Promise<string> => {
        await driver.ensureStopped(spec.vmId, { graceMs: 0 }, soon())
        const before = await variables()
        await driver.ensureRunning(to, soon())
        expect(await stateOf(spec)).toEqual({ variables: true, tpm: true })
        return before
      }
      await guests.start(driver, spec)
      await driver.ensureDisk({ ...spec, generation: 7, template: rescued.rescue!.template }, { from: 'template' }, soon())
      const before = await changeTo(rescued)
      expect(await definition(spec)).not.toContain("type='pflash'")
      expect(await changeTo(spec)).toBe(before)
      expect(await definition(spec)).toContain("type='pflash'")
      await changeTo(rescued)
      await driver.ensurePurged(spec.vmId, soon())
      expect(await stateOf(spec)).toEqual({ variables: false, tpm: false })
    })

    test(
      'is removed of a machine that has moved away, and what a guest wrote into it names no file that the daemon opens',
      TIMEOUT,
      async () => {
        const [folder, { vmId }, other] = ['/var/lib/libvirt/qemu/nvram', withFirmware({}), withFirmware({})]
        const [own, kept] = [vmId, other.vmId].map((id) => `${folder}/berth-${id}_VARS.fd`)
        await inside(
          `mkdir -p ${folder}; touch /var/tmp/named-by-guest ${own}; qemu-img create -q -u -f qcow2 -F raw -b /var/tmp/named-by-guest ${kept} 1M`,
        )
        await driverOf().ensurePurged(vmId, soon())
        expect(await inside(`ls ${folder}`)).toBe(`berth-${other.vmId}_VARS.fd\n`)
        const pools = (await guests.host.sandbox.virsh('pool-list', '--all', '--name')).split(/\s+/).filter(Boolean)
        const paths = await Promise.all(pools.map((name) => guests.host.sandbox.virsh('pool-dumpxml', name)))
        expect(paths.filter((xml) => xml.includes(folder))).toEqual([])
        expect((await guests.host.sandbox.virsh('list', '--all', '--name')).trim()).toBe('')
      },
    )
  },
)
