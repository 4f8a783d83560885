// The promises every driver keeps, kept by real guests: each test boots its own. Takes half an hour where guests are emulated.
import { describe } from 'vitest'
import { canBox, hasCommands } from '../../../../libvirt/test/command.ts'
import { libvirtRig } from '../../../test/libvirt-rig.ts'
import { nativeArch } from '../../images/arch.ts'
import { describeDriver } from '../conformance.ts'

describe.runIf(canBox() && hasCommands(`qemu-system-${nativeArch()}`))('on a real host', () => {
  describeDriver('libvirt', libvirtRig, 900_000)
})
