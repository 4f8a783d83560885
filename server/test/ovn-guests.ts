// A region of OVN whose networks and ports our controller makes, with guests at these ports.
import { pino } from 'pino'
import { portName, type NetworkController, type PortSpec, type PublicNetworkSpec } from '../src/hypervisor/network-controller.ts'
import { networkController } from '../src/hypervisor/ovn/controller.ts'
import { openNetworkDatabase, type NetworkDatabase } from '../src/hypervisor/ovn/northbound.ts'
import { OvnRegion, type Guest } from './ovn-hosts.ts'

export type PluggedGuest = Guest & { port: PortSpec }

export class OvnGuests {
  readonly region: OvnRegion
  readonly database: NetworkDatabase
  readonly controller: NetworkController
  private ports = 0

  private constructor(region: OvnRegion) {
    this.region = region
    this.database = this.openDatabase()
    this.controller = networkController(this.database)
  }

  static async open(chassis: number, network: PublicNetworkSpec): Promise<OvnGuests> {
    const guests = new OvnGuests(await OvnRegion.open(chassis))
    await guests.controller.ensurePublicNetwork(network, soon())
    return guests
  }

  /** Another client of its northbound database. */
  openDatabase(): NetworkDatabase {
    return openNetworkDatabase({ ...this.region.endpoints, log: pino({ level: 'silent' }) })
  }

  /** Public and on the first host, unless changed. */
  portOf(changes: Partial<PortSpec> = {}): PortSpec {
    const number = ++this.ports
    return {
      vmId: 'vm',
      mac: `52:54:00:00:01:${number.toString(16).padStart(2, '0')}`,
      networkId: null,
      addresses: [`10.61.0.${100 + number}`],
      ranges: [],
      host: 'hv1',
      limitMbps: null,
      filter: null,
      ...changes,
    }
  }

  async plug(port: PortSpec): Promise<PluggedGuest> {
    await this.controller.ensurePort(port, soon())
    const chassis = this.region.chassis.find(({ name }) => name === port.host)!
    const end = { mac: port.mac, address: port.addresses[0]!, interfaceId: portName(port.mac) }
    const guest = await this.region.addGuest(chassis, end)
    await this.database.portUp(portName(port.mac), soon())
    return { ...guest, port }
  }

  async close(): Promise<void> {
    this.database.close()
    await this.region.close()
  }
}

const soon = (): AbortSignal => AbortSignal.timeout(30_000)
