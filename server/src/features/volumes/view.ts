import { volumeSerial } from '../../hypervisor/driver.ts'
import { formatCents } from '../../kernel/money.ts'
import type { Volume } from './schema.ts'
import type { ShownVolume } from './sql.ts'

export const toVolume = (row: ShownVolume): Volume => ({
  id: row.id,
  name: row.name,
  labels: row.labels,
  sizeGiB: row.size_gib,
  storage: row.storage,
  region: { slug: row.region_slug, name: row.region_name },
  status: row.status,
  vmId: row.vm_id,
  devicePath: `/dev/disk/by-id/virtio-${volumeSerial(row.id)}`,
  isProtected: row.is_protected,
  currentAction: row.open_run && {
    id: row.open_run.id,
    action: row.open_run.label,
    status: row.open_run.status,
    progress: row.open_run.progress,
  },
  billing: {
    nextRenewalAt: row.next_renewal_at.toISOString(),
    status: row.billing_status,
    priceMonthly: formatCents(row.renewal_price_cents),
  },
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})
