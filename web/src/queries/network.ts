import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Query } from '@berth/sdk'
import { berth } from '../api/berth.ts'

export const networksQuery = (query: Query<'listNetworks'> = { limit: 100 }) =>
  queryOptions({
    queryKey: ['networks', query],
    queryFn: ({ signal }) => berth.networks.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
  })

export const networkQuery = (id: string) =>
  queryOptions({ queryKey: ['networks', 'one', id], queryFn: ({ signal }) => berth.networks.get(id, { signal }) })

export const routesQuery = (id: string) =>
  queryOptions({ queryKey: ['networks', 'routes', id], queryFn: ({ signal }) => berth.networks.routes(id, { signal }) })

/** The address of a VM in the network. It stays while the VM is attached, so it is not asked for again with every change of the VM. */
export const networkAddressQuery = (networkId: string, vmId: string) =>
  queryOptions({
    queryKey: ['network-address', networkId, vmId],
    queryFn: async ({ signal }) => {
      const { privateNetworks } = await berth.vms.get(vmId, { signal })
      return privateNetworks.find(({ id }) => id === networkId)?.ipAddress ?? null
    },
    staleTime: 60_000,
  })

export const peeringsQuery = (id: string) =>
  queryOptions({ queryKey: ['networks', 'peerings', id], queryFn: ({ signal }) => berth.networks.peerings(id, { signal }) })

/** While one moves it is asked for again: what its guest has follows the action. */
export const addressesQuery = (query: Query<'listAddresses'>) =>
  queryOptions({
    queryKey: ['addresses', query],
    queryFn: ({ signal }) => berth.addresses.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some(({ currentAction }) => currentAction) ? 1_000 : false),
  })

export const firewallsQuery = (query: Query<'listFirewalls'> = { limit: 100 }) =>
  queryOptions({
    queryKey: ['firewalls', query],
    queryFn: ({ signal }) => berth.firewalls.list(query, { signal }).page(),
    placeholderData: keepPreviousData,
  })

export const firewallQuery = (id: string) =>
  queryOptions({
    queryKey: ['firewalls', 'one', id],
    queryFn: ({ signal }) => berth.firewalls.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.confirmBy && state.data.pendingCount > 0 ? 1_000 : 5_000),
  })

/** What an undo restores, and the rules now. It is read first: if those are newer, the undo is refused. It stays as it was looked at. */
export const undoQuery = (id: string) =>
  queryOptions({
    queryKey: ['firewall-undo', id],
    queryFn: async ({ signal }) => ({
      ...(await berth.firewalls.undoPreview(id, { signal })),
      current: await berth.firewalls.rules(id, { signal }),
    }),
    gcTime: 0,
    staleTime: Infinity,
  })

/** With their version. It is read first: rules that are newer than it can only be refused when they are replaced, never overwrite others. */
export const appliedRulesQuery = (id: string) =>
  queryOptions({
    queryKey: ['firewalls', 'rules', id],
    queryFn: async ({ signal }) => {
      const { rulesVersion: version } = await berth.firewalls.get(id, { signal })
      return { version, rules: await berth.firewalls.rules(id, { signal }) }
    },
    refetchInterval: 10_000,
  })

export const bindingsQuery = (id: string) =>
  queryOptions({
    queryKey: ['firewalls', 'bindings', id],
    queryFn: ({ signal }) => berth.firewalls.bindings(id, { signal }),
    refetchInterval: 5_000,
  })
