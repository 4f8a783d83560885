import { describeIf } from '../../libvirt/test/describe-if.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { TIMEOUT_MS } from './moving-guest.ts'
import { proveMigrationKills } from './real-migration-kills.ts'

describeIf(missingForLibvirtHost())('a guest on local disks that moves', { timeout: 5 * TIMEOUT_MS }, () =>
  proveMigrationKills({ replicated: false }),
)
