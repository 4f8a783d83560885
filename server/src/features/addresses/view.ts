import { formatCents } from '../../kernel/money.ts'
import { toReverseFields } from '../reverse-names/service.ts'
import type { Address } from './schema.ts'
import type { ShownAddress } from './sql.ts'

export const toAddress = (row: ShownAddress): Address => ({
  id: row.id,
  name: row.name,
  labels: row.labels,
  address: row.address,
  region: { slug: row.region_slug, name: row.region_name },
  vmId: row.vm_id,
  guestState: row.guest_state,
  guestReason: row.guest_reason,
  currentAction: row.open_run && {
    id: row.open_run.id,
    action: row.open_run.label,
    status: row.open_run.status,
    progress: row.open_run.progress,
  },
  ...toReverseFields(row.reverse),
  billing: {
    nextRenewalAt: row.next_renewal_at.toISOString(),
    status: row.billing_status,
    priceMonthly: formatCents(row.renewal_price_cents),
  },
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})
