import type { Network, NetworkPeering, NetworkRoute } from './schema.ts'
import type { CountedRow, PeerRow, RouteRow } from './sql.ts'

type Place = Network['region']

export const toNetwork = (row: CountedRow, { name, country, flag }: Place): Network => ({
  id: row.id,
  name: row.name,
  labels: row.labels,
  cidr: row.cidr,
  gateway: row.gateway,
  enableSnat: row.enable_snat,
  enableDhcp: row.enable_dhcp,
  region: { name, country, flag },
  attachmentCount: row.attachment_count,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

export const toRoute = ({ id, destination, next_hop, created_at }: RouteRow): NetworkRoute => ({
  id,
  destination,
  nextHop: next_hop,
  createdAt: created_at.toISOString(),
})

export const toPeering = ({ id, network_id, name, cidr, created_at }: PeerRow): NetworkPeering => ({
  id,
  networkId: network_id,
  name,
  cidr,
  createdAt: created_at.toISOString(),
})
