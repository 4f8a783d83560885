// The networks of a region: what the product asks for, by its ids. Every call is idempotent, may be interrupted anywhere and made by several
// processes at once, and resolves when the hosts concerned have it in force.
import type { Log } from '../../kernel/log.ts'
import { DriverError } from '../errors.ts'
import type { LocalAccess } from '../local-access.ts'
import { hostsOf, type NetworkController, type Port, type PublicNetworkSpec } from '../network-controller.ts'
import { endpointsOf } from './endpoints.ts'
import { openNetworkDatabase, type NetworkDatabase } from './northbound.ts'
import { planChange, planRemoval } from './plan.ts'
import type { OwnRow, ReplicaIndex } from './replica.ts'
import { filterObject, filterRows, portObject, portRows } from './port-rows.ts'
import { networkRows, UNLIMITED_RANGES } from './network-rows.ts'
import { publicRows } from './public-rows.ts'
import { networkObject, PUBLIC, versionIn } from './rows.ts'

export interface OvnOptions {
  log: Log
  access: LocalAccess
}

/** `uri` as in endpoints.ts. */
export function openOvn(uri: string, { log, access }: OvnOptions): NetworkController {
  return networkController(openNetworkDatabase({ ...endpointsOf(uri, access), log }))
}

/** Nothing is open until the region says what is. */
const ALL_CLOSED = { ranges: [], allowed: [], gateways: [] }

export function networkController(database: NetworkDatabase): NetworkController {
  const ensure = (object: string, rows: Parameters<NetworkDatabase['ensure']>[1], hosts: string[], signal: AbortSignal) =>
    database.ensure(object, rows, { hosts, signal })

  /** Of filters that no port uses any more. */
  const dropFilters = (objects: readonly string[], signal: AbortSignal): Promise<void> =>
    database.change('remove unused filters', (rows) => objects.flatMap((object) => planRemoval(rows, object, 'group', ['ports']) ?? []), {
      hosts: [],
      signal,
    })
  const list = async (kind: string, signal: AbortSignal): Promise<string[]> => {
    await database.catchUp(signal)
    return database.read(
      (rows) => [...rows.objectNames()].flatMap((name) => (name.startsWith(`${kind}/`) ? [name.slice(kind.length + 1)] : [])),
      signal,
    )
  }
  /** A certificate of a host that was removed still connects its chassis. */
  const gatewaysOf = async ({ gateways: allowed }: PublicNetworkSpec, signal: AbortSignal): Promise<string[]> =>
    (await database.gateways(signal)).filter(({ hostname }) => allowed?.includes(hostname) ?? true).map(({ name }) => name)
  const ensurePublicNetwork: NetworkController['ensurePublicNetwork'] = async (network, signal) =>
    ensure(PUBLIC, publicRows(network, await gatewaysOf(network, signal)), [], signal)
  const requirePublicNetwork = async (signal: AbortSignal): Promise<void> => {
    if (!(await database.read((rows) => rows.find(PUBLIC, 'switch'), signal))) await ensurePublicNetwork(ALL_CLOSED, signal)
  }

  /** Without the ranges that it does not count, a limit would hold inside of the network too. Another process may have made them just now. */
  const requireWayOut = async (networkId: string, mac: string, signal: AbortSignal): Promise<void> => {
    const find = () => database.read((rows) => rows.find(networkObject(networkId), UNLIMITED_RANGES), signal)
    if (await find()) return
    await database.catchUp(signal)
    if (!(await find()))
      throw new DriverError('not_found', `Network ${networkId}, which the limit of ${mac} counts, is not there with a way out`)
  }

  return {
    ensurePublicNetwork,
    async ensureNetwork(network, signal) {
      await requirePublicNetwork(signal)
      await ensure(networkObject(network.networkId), networkRows(network), [], signal)
    },
    ensureNoNetwork: (networkId, signal) =>
      database.change(
        `remove network ${networkId}`,
        (rows) => {
          const operations = planRemoval(rows, networkObject(networkId), 'switch', ['ports', 'qos_rules'])
          if (!operations) throw new DriverError('in_use', `Network ${networkId} has ports, or limits of ports`)
          return operations
        },
        { hosts: [], signal },
      ),
    async ensurePort(port, signal, { unconfirmed = false } = {}) {
      await requirePublicNetwork(signal)
      const { mac, filter, limitedWith = [] } = port
      const before = await database.read((rows) => filtersOf(rows, mac), signal)
      const hasDhcp = await database.read(
        (rows) => port.networkId !== null && rows.find(networkObject(port.networkId), 'dhcp') !== undefined,
        signal,
      )
      for (const { networkId } of limitedWith) await requireWayOut(networkId, mac, signal)
      const rows = filter ? filterRows(filter) : []
      const after = filter && filterObject(filter)
      // In one transaction: northd and the chassis work on each, and another process may remove a filter that has no port.
      await database.change(
        `change ${portObject(mac)}`,
        (present, inserted) => [
          ...(after ? planChange(present, after, rows, inserted) : []),
          ...planChange(present, portObject(mac), portRows(port, hasDhcp), inserted),
        ],
        { hosts: unconfirmed ? [] : hostsOf(port), signal },
      )
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
    async *listNetworks(signal) {
      const ids = await list('network', signal)
      yield* await database.read(
        (rows) => ids.map((networkId) => ({ networkId, version: versionOf(rows.find(networkObject(networkId), 'switch')) })),
        signal,
      )
    },
    async *listPorts(signal) {
      const macs = await list('port', signal)
      yield* await database.read((rows) => macs.flatMap((mac) => readPort(rows, mac) ?? []), signal)
    },
    probeHosts: (hosts, signal) => database.probe(hosts, signal),
    listChassis: (hosts, signal) => database.chassis(hosts, signal),
    async health(signal) {
      await database.catchUp(signal)
      const isConnected = (await database.gateways(signal)).length > 0
      return { problems: isConnected ? [] : ['No host has an uplink to the public network: berthd host prepare'] }
    },
    close: () => Promise.resolve(database.close()),
  }
}

function readPort(rows: ReplicaIndex, mac: string): Port | undefined {
  const all = rows.rowsOf(portObject(mac))
  const port = all.get('port')
  if (!port) return undefined
  const { options, external_ids } = port.columns as { options: Record<string, string>; external_ids: Record<string, string> }
  const owner = rows.placesOf(port.uuid).find(({ table }) => table === 'Logical_Switch')
  const object = owner && rows.objectOf(owner.uuid)
  return {
    vmId: external_ids['vm'] ?? null,
    mac,
    networkId: object?.startsWith('network/') ? object.slice('network/'.length) : null,
    host: options['requested-chassis'] ?? '',
    limitMbps: limitOf(all.get('limit-in')),
    version: versionOf(port),
  }
}

const versionOf = (row: OwnRow | undefined): number => versionIn((row?.columns['external_ids'] ?? {}) as Record<string, string>)

const limitOf = (row: OwnRow | undefined): number | null =>
  row ? (row.columns as { bandwidth: Record<string, number> }).bandwidth['rate']! / 1000 : null

/** The filters that contain the port. */
function filtersOf(rows: ReplicaIndex, mac: string): string[] {
  const port = rows.find(portObject(mac), 'port')
  const groups = port ? rows.placesOf(port.uuid).map(({ uuid }) => rows.objectOf(uuid)) : []
  return groups.filter((object) => object?.startsWith('filter/')) as string[]
}
