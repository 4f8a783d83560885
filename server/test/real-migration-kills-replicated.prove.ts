import { describeIf } from '../../libvirt/test/describe-if.ts'
import { missingForCeph } from './ceph.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { TIMEOUT_MS } from './moving-guest.ts'
import { proveMigrationKills } from './real-migration-kills.ts'

describeIf(missingForLibvirtHost() ?? missingForCeph())('a guest on Ceph that moves', { timeout: 5 * TIMEOUT_MS }, () =>
  proveMigrationKills({ replicated: true }),
)
