import type { Network } from './schema.ts'
import type { CountedRow } from './sql.ts'

type Place = Network['region']

export const toNetwork = (row: CountedRow, { name, country, flag }: Place): Network => ({
  id: row.id,
  name: row.name,
  cidr: row.cidr,
  gateway: row.gateway,
  enableSnat: row.enable_snat,
  enableDhcp: row.enable_dhcp,
  region: { name, country, flag },
  attachmentCount: row.attachment_count,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})
