import type { BandwidthUsage } from './schema.ts'
import type { UsageRow } from './sql.ts'

export const toUsage = (row: UsageRow): BandwidthUsage => ({
  vmId: row.id,
  vmName: row.name,
  status: row.status,
  nextRenewalAt: row.next_renewal_at.toISOString(),
  throttled: row.throttled_at !== null,
  throttledAt: row.throttled_at?.toISOString() ?? null,
  usedBytes: Number(row.bandwidth_used_bytes),
  packBytes: row.bandwidth_pack_bytes.toString(),
  capBytes: row.cap_bytes?.toString() ?? null,
})
