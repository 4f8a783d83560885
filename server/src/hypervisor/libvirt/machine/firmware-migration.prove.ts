// The variables of UEFI and the TPM of a machine go with it to another host, whether it runs or not, and nothing of them stays behind.
import { expect, onTestFinished, test } from 'vitest'
import { missingCommands } from '../../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../../libvirt/test/describe-if.ts'
import type { Sandbox } from '../../../../../libvirt/test/sandboxed-libvirtd.ts'
import { missingForLibvirtHost } from '../../../../test/libvirt-host.ts'
import { libvirtMigrationFixture } from '../../../../test/migration-fixture.ts'
import type { MachineSpec } from '../../driver.ts'
import { migrateMachine, type Move } from '../../migrate.ts'

const soon = (): AbortSignal => AbortSignal.timeout(300_000)

describeIf(missingForLibvirtHost() ?? missingCommands('qemu-system-x86_64', 'swtpm', 'swtpm_setup'))('on two real hosts', () => {
  test('a machine with secure boot and a TPM moves there and back', { timeout: 900_000 }, async () => {
    const made = await libvirtMigrationFixture()
    onTestFinished(() => made.close())
    const blank = made.here.spec()
    // Its image has no loader for UEFI: the firmware alone is all the life that this needs.
    const spec: MachineSpec = { ...blank, template: { ...blank.template, firmware: 'secure-boot', tpm: true, hasAgent: false } }
    const stateOn = async (sandbox: Sandbox) =>
      (
        await sandbox.inside(
          'sh',
          '-c',
          `ls /var/lib/libvirt/qemu/nvram | grep ${spec.vmId}; ls /var/lib/libvirt/swtpm | grep ${spec.uuid}; true`,
        )
      )
        .split('\n')
        .filter(Boolean).length
    const states = async () => [await stateOn(made.sandboxes.here), await stateOn(made.sandboxes.there)]
    const move = (changes: Partial<Move>): Move => ({
      spec,
      from: made.here.driver,
      to: made.there.driver,
      uri: made.uris.there,
      isOn: true,
      cpus: null,
      downtimeMs: 500,
      miBPerSecond: null,
      ...changes,
    })
    await made.here.driver.ensureDisk(spec, { from: 'template' }, soon())
    await made.here.driver.ensureRunning(spec, soon())
    expect(await states()).toEqual([2, 0])
    await migrateMachine(move({}), soon())
    await made.here.driver.ensurePurgedKeepBackups(spec.vmId, soon())
    expect(await states()).toEqual([0, 2])

    await made.there.driver.ensureStopped(spec.vmId, { graceMs: 0 }, soon())
    const backwards = { from: made.there.driver, to: made.here.driver, uri: made.uris.here }
    await migrateMachine(move({ ...backwards, isOn: false }), soon())
    await made.there.driver.ensurePurgedKeepBackups(spec.vmId, soon())
    expect(await states()).toEqual([2, 0])
    await made.here.driver.ensurePurged(spec.vmId, soon())
    expect(await states()).toEqual([0, 0])
  })
})
