import { formatCents } from '../../kernel/money.ts'
import type { Image } from './schema.ts'
import type { ShownImage } from './sql.ts'

export const toImage = (row: ShownImage): Image => ({
  id: row.id,
  name: row.name,
  labels: row.labels,
  kind: row.kind,
  status: row.status,
  error: row.status === 'FAILED' ? row.reason : null,
  lockedUntil: row.locked_until?.toISOString() ?? null,
  isProtected: row.is_protected,
  source: {
    type: row.source_type,
    id: row.source_type === 'URL' ? null : row.source,
    url: row.source_type === 'URL' ? row.source : null,
    vmId: row.vm_id,
  },
  size: row.size_bytes.toString(),
  disk: row.disk_gib,
  arch: row.arch,
  defaultUser: row.default_user,
  checksum: row.checksum || null,
  consistency: row.consistency,
  billing: row.next_renewal_at && {
    nextRenewalAt: row.next_renewal_at.toISOString(),
    status: row.billing_status,
    priceMonthly: formatCents(row.renewal_price_cents),
  },
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})
