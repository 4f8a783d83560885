// The networks of a region: what the product asks for, by its ids. Every call is idempotent, may be interrupted anywhere and made by several
// processes at once, and resolves when the hosts concerned have it in force.
import { DriverError } from '../errors.ts'
import type { NetworkDatabase } from './northbound.ts'
import { planRemoval } from './plan.ts'
import type { ReplicaIndex } from './replica.ts'
import {
  filterObject,
  filterRows,
  networkObject,
  networkRows,
  portName,
  portObject,
  portRows,
  PUBLIC,
  publicRows,
  type LogicalNetwork,
  type LogicalPort,
} from './topology.ts'

export interface NetworkController {
  /** What all networks need; `closed` are the ranges of the operator, which no guest reaches. */
  ensurePublic(closed: readonly string[], signal: AbortSignal): Promise<void>
  ensureNetwork(network: LogicalNetwork, signal: AbortSignal): Promise<void>
  /** `in_use` while it has ports. */
  ensureNoNetwork(networkId: string, signal: AbortSignal): Promise<void>
  /** Its network must exist. A changed filter or limit is in force when this resolves. */
  ensurePort(port: LogicalPort, signal: AbortSignal): Promise<void>
  ensureNoPort(mac: string, signal: AbortSignal): Promise<void>
  /** Resolves when the host has bound the port to a guest's interface. */
  portUp(mac: string, signal: AbortSignal): Promise<void>
  listNetworks(signal: AbortSignal): Promise<string[]>
  listPorts(signal: AbortSignal): Promise<string[]>
}

export function networkController(database: NetworkDatabase): NetworkController {
  const ensure = (object: string, rows: Parameters<NetworkDatabase['ensure']>[1], hosts: string[], signal: AbortSignal) =>
    database.ensure(object, rows, { hosts, signal })

  /** Of filters that no port uses any more. */
  const dropFilters = (objects: readonly string[], signal: AbortSignal): Promise<void> =>
    database.change('remove unused filters', (rows) => objects.flatMap((object) => planRemoval(rows, object, 'group', 'ports') ?? []), {
      hosts: [],
      signal,
    })
  const list = (kind: string, signal: AbortSignal): Promise<string[]> =>
    database.read(
      (rows) => [...rows.objectNames()].flatMap((name) => (name.startsWith(`${kind}/`) ? [name.slice(kind.length + 1)] : [])),
      signal,
    )

  return {
    ensurePublic: (closed, signal) => ensure(PUBLIC, publicRows(closed), [], signal),
    ensureNetwork: (network, signal) => ensure(networkObject(network.networkId), networkRows(network), [], signal),
    ensureNoNetwork: (networkId, signal) =>
      database.change(
        `remove network ${networkId}`,
        (rows) => {
          const operations = planRemoval(rows, networkObject(networkId), 'switch', 'ports')
          if (!operations) throw new DriverError('in_use', `Network ${networkId} has ports`)
          return operations
        },
        { hosts: [], signal },
      ),
    async ensurePort(port, signal) {
      const { mac, filter, host } = port
      const before = await database.read((rows) => filtersOf(rows, mac), signal)
      if (filter) await ensure(filterObject(filter), filterRows(filter), [], signal)
      const hasDhcp = await database.read(
        (rows) => port.networkId !== null && rows.find(networkObject(port.networkId), 'dhcp') !== undefined,
        signal,
      )
      await ensure(portObject(mac), portRows(port, hasDhcp), [host], signal)
      const after = filter ? filterObject(filter) : null
      await dropFilters(
        before.filter((object) => object !== after),
        signal,
      )
    },
    async ensureNoPort(mac, signal) {
      const before = await database.read((rows) => filtersOf(rows, mac), signal)
      await ensure(portObject(mac), [], [], signal)
      await dropFilters(before, signal)
    },
    portUp: (mac, signal) => database.portUp(portName(mac), signal),
    listNetworks: (signal) => list('network', signal),
    listPorts: (signal) => list('port', signal),
  }
}

/** The filters that contain the port. */
function filtersOf(rows: ReplicaIndex, mac: string): string[] {
  const port = rows.find(portObject(mac), 'port')
  const groups = port ? rows.placesOf(port.uuid).map(({ uuid }) => rows.objectOf(uuid)) : []
  return groups.filter((object) => object?.startsWith('filter/')) as string[]
}
