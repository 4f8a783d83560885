// All that is on the map. One request per network and per firewall, whose number the limits of an account keep small, and pages of VMs.
import { useQuery } from '@tanstack/react-query'
import { berth } from '../../../api/berth.ts'
import type { Topology } from './layout.ts'

export const topologyQuery = {
  queryKey: ['networks', 'map'],
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Topology> => {
    const options = { signal }
    const [networks, vms, firewalls, addresses] = await Promise.all([
      berth.networks.list({ limit: 100 }, options).all(),
      berth.vms.list({ limit: 100 }, options).all(),
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
      Promise.all(firewalls.map(({ id, bindingCount }) => (bindingCount === 0 ? [] : berth.firewalls.bindings(id, options)))),
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
      vms: vms.map(({ id, name, status, shelvedAt, ipAddress, ipv6Address }) => ({
        id,
        name,
        status: shelvedAt === null ? status : 'SHELVED',
        publicAddress: ipAddress ?? ipv6Address,
        floating: addresses.flatMap(({ vmId, address }) => (vmId === id ? [address] : [])),
      })),
      firewalls: firewalls.map(({ id, name }, index) => ({ id, name, vmIds: bindings[index]!.map(({ vmId }) => vmId) })),
      unassigned: addresses.flatMap(({ vmId, address }) => (vmId === null ? [address] : [])),
    }
  },
  refetchInterval: 15_000,
}

export const useTopology = () => useQuery(topologyQuery)
