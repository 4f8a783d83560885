import { describeIf } from '../../libvirt/test/describe-if.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { TIMEOUT_MS } from './moving-guest.ts'
import { proveMigrations } from './real-migrations.ts'

describeIf(missingForLibvirtHost())('a guest on local disks', { timeout: 20 * TIMEOUT_MS }, () =>
  proveMigrations({ replicated: false, mostMs: 1_000 }),
)
