import { describeIf } from '../../libvirt/test/describe-if.ts'
import { missingForCeph } from './ceph.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { TIMEOUT_MS } from './moving-guest.ts'
import { proveMigrations } from './real-migrations.ts'

describeIf(missingForLibvirtHost() ?? missingForCeph())('a guest on Ceph', { timeout: 20 * TIMEOUT_MS }, () =>
  proveMigrations({ replicated: true, mostMs: 500 }),
)
