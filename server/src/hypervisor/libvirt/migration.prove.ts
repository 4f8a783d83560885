// Real guests move between two hosts that reach each other over TLS.
import { missingCommands } from '../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { missingForCeph } from '../../../test/ceph.ts'
import { missingForLibvirtHost } from '../../../test/libvirt-host.ts'
import { libvirtMigrationFixture } from '../../../test/migration-fixture.ts'
import { nativeArch } from '../../kernel/arch.ts'
import { describeMigration } from '../conformance/migration.ts'

const missing = missingForLibvirtHost() ?? missingCommands(`qemu-system-${nativeArch()}`)

describeIf(missing)('on two real hosts', () => {
  describeMigration('libvirt', () => libvirtMigrationFixture(), 900_000)
})

describeIf(missing ?? missingForCeph())('on two real hosts, with disks in Ceph', () => {
  describeMigration('libvirt', () => libvirtMigrationFixture('ceph'), 900_000)
})
