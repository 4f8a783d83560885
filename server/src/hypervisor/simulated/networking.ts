// Networks, interfaces, limits and filters.
import { json, sql } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { DriverError, type Networking, type NetworkSpec } from '../driver.ts'
import type { SimulatedHost } from './host.ts'
import { countNow } from './stats.ts'
import { addNic, lockRow, requireMachine } from './definition.ts'

type NetworkMethods = Pick<Networking, 'ensureNetwork' | 'ensureNoNetwork'>
type InterfaceMethods = Omit<Networking, keyof NetworkMethods>

type NetworkRow = Row<'simulated.networks'>

const isSame = (row: NetworkRow, wanted: NetworkSpec): boolean =>
  row.cidr === wanted.cidr &&
  row.gateway === wanted.gateway &&
  row.enable_snat === wanted.enableSnat &&
  row.enable_dhcp === wanted.enableDhcp

export function networkMethods({ hostId, db, call, pace }: SimulatedHost): NetworkMethods {
  return {
    ensureNetwork: (network, signal) =>
      call('ensureNetwork', signal, async (pause) => {
        const { networkId, cidr, gateway, enableSnat, enableDhcp } = network
        const find = sql`select ${allColumns('simulated.networks')} from simulated.networks where host_id = ${hostId} and network_id = ${networkId} for update`
        const row = await db.maybe<NetworkRow>(find)
        if (row && isSame(row, network)) return
        await pause(pace.delays.networkMs)
        await db.tx(async (tx) => {
          const now = await tx.maybe<NetworkRow>(find)
          if (now && isSame(now, network)) return
          if (now && (await attachedTo(tx, hostId, networkId))) throw inUse(networkId)
          await tx.run(sql`insert into simulated.networks (host_id, network_id, cidr, gateway, enable_snat, enable_dhcp)
            values (${hostId}, ${networkId}, ${cidr}, ${gateway}, ${enableSnat}, ${enableDhcp})
            on conflict (host_id, network_id) do update set cidr = excluded.cidr, gateway = excluded.gateway,
              enable_snat = excluded.enable_snat, enable_dhcp = excluded.enable_dhcp`)
        })
      }),

    ensureNoNetwork: (networkId, signal) =>
      call('ensureNoNetwork', signal, async (pause) => {
        await pause(pace.delays.networkMs)
        await db.tx(async (tx) => {
          await tx.maybe(sql`select from simulated.networks where host_id = ${hostId} and network_id = ${networkId} for update`)
          if (await attachedTo(tx, hostId, networkId)) throw inUse(networkId)
          await tx.run(sql`delete from simulated.networks where host_id = ${hostId} and network_id = ${networkId}`)
        })
      }),
  }
}

const attachedTo = (tx: Parameters<typeof lockRow>[0], hostId: string, networkId: string): Promise<unknown> =>
  tx.maybe(sql`select mac from simulated.nics where host_id = ${hostId} and network_id = ${networkId} limit 1`)

const inUse = (networkId: string): DriverError => new DriverError('in_use', `Machines are attached to network ${networkId}`)

export function interfaceMethods(host: SimulatedHost): InterfaceMethods {
  const { hostId, db, clock, call, pace } = host
  const nicOf = (vmId: string, mac: string) => sql`host_id = ${hostId} and machine = ${vmId} and mac = ${mac}`
  return {
    ensureInterface: (vmId, nic, signal) =>
      call('ensureInterface', signal, async (pause) => {
        await pause(pace.delays.attachMs)
        await db.tx(async (tx) => {
          const { power } = requireMachine(await lockRow(tx, hostId, vmId), hostId, vmId)
          const plugged = await tx.maybe<{ network_id: string | null }>(
            sql`select network_id from simulated.nics where ${nicOf(vmId, nic.mac)}`,
          )
          if (plugged && plugged.network_id !== nic.networkId)
            throw new DriverError('conflict', `${nic.mac} of ${vmId} is plugged into another network`)
          if (plugged) return
          await addNic(tx, host, vmId, nic)
          const countedAt = power === 'running' ? clock.now() : null
          await tx.run(
            sql`update simulated.nics set epoch = nextval('simulated.epochs'), counted_at = ${countedAt} where ${nicOf(vmId, nic.mac)}`,
          )
        })
      }),

    ensureNoInterface: (vmId, mac, signal) =>
      call('ensureNoInterface', signal, async (pause) => {
        await pause(pace.delays.detachMs)
        await db.run(sql`delete from simulated.nics where ${nicOf(vmId, mac)}`)
      }),

    ensureLimit: (vmId, mac, limitMbps, signal) =>
      call('ensureLimit', signal, async (pause) => {
        await pause(pace.delays.attachMs)
        const now = clock.now()
        const changed = await db.run(sql`update simulated.nics set ${countNow(now)}, limit_mbps = ${limitMbps} where ${nicOf(vmId, mac)}`)
        if (changed === 0) throw new DriverError('not_found', `Machine ${vmId} on simulated host ${hostId} has no interface ${mac}`)
        return { limited: limitMbps !== null }
      }),

    ensureFilter: (vmId, filter, signal) =>
      call('ensureFilter', signal, async (pause) => {
        const isOn = await db.maybe(sql`select from simulated.machines where host_id = ${hostId} and name = ${vmId} and power <> 'stopped'`)
        const changed = await db.run(sql`insert into simulated.filters (host_id, vm_id, filter) values (${hostId}, ${vmId}, ${json(filter)})
          on conflict (host_id, vm_id) do update set filter = excluded.filter where simulated.filters.filter <> excluded.filter`)
        if (changed > 0 && isOn) await pause(pace.delays.filterMs)
      }),
  }
}
