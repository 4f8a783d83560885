// All that is on the map: one request per network and per firewall, whose number the limits of an account keep small, and pages of VMs, which
// events renew.
import type { VmListItem } from '@berth/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { berth } from '../../../api/berth.ts'
import type { MapFirewall, MapNetwork, Topology } from './layout.ts'

interface Structure {
  networks: MapNetwork[]
  firewalls: MapFirewall[]
  addresses: { address: string; vmId: string | null }[]
}

const structureQuery = queryOptions({
  queryKey: ['network-map'],
  queryFn: async ({ signal }): Promise<Structure> => {
    const options = { signal }
    const [networks, firewalls, addresses] = await Promise.all([
      berth.networks.list({ limit: 100 }, options).all(),
      berth.firewalls.list({ limit: 100 }, options).all(),
      berth.addresses.list({ limit: 100 }, options).all(),
    ])
    const [details, bindings] = await Promise.all([
      Promise.all(
        networks.map(async ({ id }) => {
          const [attachments, routes, peerings] = await Promise.all([
            berth.networks.attachments(id, options),
            berth.networks.routes(id, options),
            berth.networks.peerings(id, options),
          ])
          return { attachments, routes, peers: peerings.map(({ networkId }) => networkId) }
        }),
      ),
      Promise.all(firewalls.map(async ({ id, bindingCount }) => (bindingCount === 0 ? [] : berth.firewalls.bindings(id, options)))),
    ])
    return {
      networks: networks.map(({ id, name, cidr, gateway, region, enableSnat }, index) => ({
        id,
        name,
        cidr,
        gateway,
        region: region.name,
        hasSnat: enableSnat,
        ...details[index]!,
      })),
      firewalls: firewalls.map(({ id, name }, index) => ({ id, name, vmIds: bindings[index]!.map(({ vmId }) => vmId) })),
      addresses: addresses.map(({ address, vmId }) => ({ address, vmId })),
    }
  },
  refetchInterval: 30_000,
})

const mapVmsQuery = queryOptions({
  queryKey: ['vms', 'map'],
  queryFn: ({ signal }) => berth.vms.list({ limit: 100 }, { signal }).all(),
  refetchInterval: 15_000,
})

/** Both queries as one. */
export function useTopology() {
  const structure = useQuery(structureQuery)
  const vms = useQuery(mapVmsQuery)
  const { error, errorUpdatedAt, refetch } = structure.data ? vms : structure
  const data = useMemo(() => structure.data && vms.data && toTopology(structure.data, vms.data), [structure.data, vms.data])
  return { data, error, errorUpdatedAt, refetch }
}

function toTopology({ networks, firewalls, addresses }: Structure, vms: VmListItem[]): Topology {
  return {
    networks,
    firewalls,
    vms: vms.map(({ id, name, status, shelvedAt, ipAddress, ipv6Address }) => ({
      id,
      name,
      status: shelvedAt === null ? status : 'SHELVED',
      publicAddress: ipAddress ?? ipv6Address,
      floating: addresses.flatMap(({ vmId, address }) => (vmId === id ? [address] : [])),
    })),
    unassigned: addresses.flatMap(({ vmId, address }) => (vmId === null ? [address] : [])),
  }
}
