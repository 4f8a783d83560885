// The simulated network controller of a region: networks and ports are rows in PostgreSQL, shared by all processes.
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../kernel/clock.ts'
import { json, sql, type Db, type Tx } from '../../kernel/database/db.ts'
import { DriverError } from '../driver.ts'
import { hostsOf, type ListedNetwork, type NetworkController, type NetworkSpec, type Port } from '../network-controller.ts'
import { simulatedHost } from './host.ts'
import { paged } from './inventory.ts'
import { realPace, type Pace } from './latency.ts'
import { countNow } from './stats.ts'

export interface SimulatedNetworkOptions {
  db: Db
  clock: Clock
  pace?: Pace
  /** Of a host of the region, by its name. */
  findHostId?: (regionId: string, name: string) => Promise<string | undefined>
}

const PAGE = 500

interface PortRow {
  mac: string
  vm_id: string
  network_id: string | null
  host: string
  limit_mbps: number | null
  version: number
}

/** Faults are injected by the id of the region, as those of a host by its own. */
export const simulatedNetworkControllers =
  ({ db, clock, pace = realPace, findHostId = async (_regionId, name) => name }: SimulatedNetworkOptions) =>
  (regionId: string): NetworkController => {
    const region = simulatedHost({
      hostId: regionId,
      db,
      clock,
      pace,
      bytesPerSecond: () => 0,
      findImage: async () => undefined,
      diskGiB: 1,
    })
    const { call } = region
    const networkOf = (networkId: string) => sql`region_id = ${regionId} and network_id = ${networkId}`
    const answersOf = async (hosts: readonly string[]): Promise<{ host: string; answers: boolean }[]> => {
      const gone = await db.many<{ host_id: string }>(sql`select host_id from simulated.hosts where is_gone`)
      const known = await Promise.all(hosts.map(async (host) => ({ host, id: await findHostId(regionId, host) })))
      return known.flatMap(({ host, id }) => (id === undefined ? [] : [{ host, answers: gone.every(({ host_id }) => host_id !== id) }]))
    }
    return {
      ensurePublicNetwork: (_network, signal) => call('ensurePublicNetwork', signal, () => Promise.resolve()),

      ensureNetwork: (network, signal) =>
        call('ensureNetwork', signal, async (pause) => {
          const { networkId } = network
          const known = await db.maybe<{ spec: NetworkSpec }>(sql`select spec from simulated.networks where ${networkOf(networkId)}`)
          if (known && isDeepStrictEqual(known.spec, network)) return
          await pause(pace.delays.networkMs)
          await db.run(sql`insert into simulated.networks (region_id, network_id, spec) values (${regionId}, ${networkId}, ${json(network)})
            on conflict (region_id, network_id) do update set spec = excluded.spec`)
        }),

      ensureNoNetwork: (networkId, signal) =>
        call('ensureNoNetwork', signal, async (pause) => {
          await pause(pace.delays.networkMs)
          await db.tx(async (tx) => {
            await tx.maybe(sql`select from simulated.networks where ${networkOf(networkId)} for update`)
            if (await tx.maybe(sql`select from simulated.ports where ${networkOf(networkId)} limit 1`))
              throw new DriverError('in_use', `Network ${networkId} has ports`)
            await tx.run(sql`delete from simulated.networks where ${networkOf(networkId)}`)
          })
        }),

      ensurePort: (
        { vmId, mac, networkId, addresses, ranges, limitMbps, limitedWith = [], filter, version = 0, ...bound },
        signal,
        { unconfirmed = false } = {},
      ) =>
        call('ensurePort', signal, async (pause) => {
          const changed = await db.tx(async (tx) => {
            for (const each of limitedWith)
              if (!(await tx.maybe(sql`select from simulated.networks where ${networkOf(each.networkId)}`)))
                throw new DriverError(
                  'not_found',
                  `Simulated region ${regionId} has no network ${each.networkId}, which the limit of ${mac} counts`,
                )
            await limitTraffic(tx, clock.now(), mac, limitMbps)
            return tx.run(sql`insert into simulated.ports as p (region_id, mac, vm_id, network_id, host, addresses, ranges, limit_mbps, filter, version)
              values (${regionId}, ${mac}, ${vmId}, ${networkId}, ${hostsOf(bound).join(',')}, ${[...addresses]}, ${[...ranges]}, ${limitMbps}, ${filter && json(filter)},
                ${version})
              on conflict (region_id, mac) do update set vm_id = excluded.vm_id, network_id = excluded.network_id, host = excluded.host,
                addresses = excluded.addresses, ranges = excluded.ranges, limit_mbps = excluded.limit_mbps, filter = excluded.filter,
                version = excluded.version
              where (p.vm_id, p.network_id, p.host, p.addresses, p.ranges, p.limit_mbps, p.filter, p.version)
                is distinct from (excluded.vm_id, excluded.network_id, excluded.host, excluded.addresses, excluded.ranges, excluded.limit_mbps,
                  excluded.filter, excluded.version)`)
          })
          if (changed > 0) await pause(pace.delays.portMs)
          const silent = unconfirmed ? undefined : (await answersOf(hostsOf(bound))).find(({ answers }) => !answers)
          if (silent) throw new DriverError('unreachable', `Simulated host ${silent.host} is gone, so it did not confirm a change`)
        }),

      ensureNoPort: (mac, signal) =>
        call('ensureNoPort', signal, async (pause) => {
          await pause(pace.delays.portMs)
          await db.run(sql`delete from simulated.ports where region_id = ${regionId} and mac = ${mac}`)
        }),

      listNetworks: (signal) =>
        paged<{ network_id: string; version: number }, ListedNetwork>(
          region,
          'listNetworks',
          signal,
          PAGE,
          (last) =>
            db.many(sql`select network_id, coalesce((spec->>'version')::int, 0) as version from simulated.networks where region_id = ${regionId} and network_id > ${last?.network_id ?? ''}
              order by network_id limit ${PAGE}`),
          ({ network_id, version }) => ({ networkId: network_id, version }),
        ),

      listPorts: (signal) =>
        paged<PortRow, Port>(
          region,
          'listPorts',
          signal,
          PAGE,
          (last) =>
            db.many(sql`select mac, vm_id, network_id, host, limit_mbps, version from simulated.ports
              where region_id = ${regionId} and mac > ${last?.mac ?? ''} order by mac limit ${PAGE}`),
          ({ vm_id, network_id, limit_mbps, ...rest }) => ({ ...rest, vmId: vm_id, networkId: network_id, limitMbps: limit_mbps }),
        ),

      listChassis: (hosts, signal) =>
        call('listChassis', signal, async () => {
          const ports = await db.many<{ host: string }>(
            sql`select unnest(string_to_array(host, ',')) as host from simulated.ports where region_id = ${regionId}`,
          )
          return (await answersOf(hosts)).map(({ host, answers }) => ({
            name: host,
            host,
            encaps: [{ type: 'geneve', address: '127.0.0.1' }],
            ports: ports.filter((each) => each.host === host).length,
            confirmedAt: answers ? clock.now() : null,
          }))
        }),

      probeHosts: (hosts, signal) => call('probeHosts', signal, () => answersOf(hosts)),

      health: (signal) => call('health', signal, () => Promise.resolve({ problems: [] })),
      close: () => Promise.resolve(),
    }
  }

/** Of interfaces that are bound to the port. */
const limitTraffic = (tx: Tx, now: Date, mac: string, limitMbps: number | null): Promise<number> =>
  tx.run(
    sql`update simulated.nics set ${countNow(now)}, limit_mbps = ${limitMbps} where mac = ${mac} and limit_mbps is distinct from ${limitMbps}`,
  )
