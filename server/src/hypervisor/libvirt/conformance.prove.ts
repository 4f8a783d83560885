// The promises every driver keeps, kept by real guests: each test boots its own. Takes half an hour where guests are emulated.
import { missingCommands } from '../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { missingForLibvirtHost } from '../../../test/libvirt-host.ts'
import { libvirtDriverFixture } from '../../../test/libvirt-driver-fixture.ts'
import { nativeArch } from '../../kernel/arch.ts'
import { describeDriver } from '../conformance.ts'

describeIf(missingForLibvirtHost() ?? missingCommands(`qemu-system-${nativeArch()}`))('on a real host', () => {
  describeDriver('libvirt', libvirtDriverFixture, { timeoutMs: 900_000 })
})
