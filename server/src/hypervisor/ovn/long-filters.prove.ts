import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { missingForOvn, OvnRegion, type Guest } from '../../../test/ovn-hosts.ts'
import { portName, type NetworkController, type PortSpec } from '../network-controller.ts'
import type { Filter } from '../spec.ts'
import { networkController } from './controller.ts'
import { openNetworkDatabase, type NetworkDatabase } from './northbound.ts'

const soon = (): AbortSignal => AbortSignal.timeout(200_000)
const CLOSED: Filter = { rules: [], defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' }

/** As many as a VM can have by default: ten firewalls of 50 rules. */
const [LONG, MACHINES] = [500, 10]

describeIf(missingForOvn())('long filters', { timeout: 280_000 }, () => {
  let region: OvnRegion
  let database: NetworkDatabase
  let controller: NetworkController
  beforeAll(async () => {
    region = await OvnRegion.open(1)
    database = openNetworkDatabase({ ...region.endpoints, log: pino({ level: 'silent' }) })
    controller = networkController(database)
    await controller.ensurePublicNetwork({ ranges: ['10.61.0.0/24'], allowed: [] }, soon())
  }, 120_000)
  afterAll(async () => {
    database?.close()
    await region?.close()
  })
  let ports = 0
  const portOf = (changes: Partial<PortSpec> = {}): PortSpec => ({
    vmId: 'vm',
    mac: `52:54:00:00:1c:${(++ports).toString(16).padStart(2, '0')}`,
    networkId: null,
    addresses: [`10.61.0.${100 + ports}`],
    ranges: [],
    host: 'hv1',
    limitMbps: null,
    filter: null,
    ...changes,
  })
  const plug = async (port: PortSpec): Promise<Guest> => {
    await controller.ensurePort(port, soon())
    const guest = await region.addGuest(region.chassis[0]!, { mac: port.mac, address: port.addresses[0]!, interfaceId: portName(port.mac) })
    await database.portUp(portName(port.mac), soon())
    return guest
  }
  let addresses = 0
  const filterOf = (rules: number): Filter => ({
    ...CLOSED,
    rules: Array.from({ length: rules }, (_, i) => {
      const number = ++addresses
      return {
        direction: 'IN',
        action: 'ACCEPT',
        protocol: 'TCP',
        ports: [{ from: 1 + i, to: 1 + i }],
        sources: [`11.${number >> 16}.${(number >> 8) & 255}.${number & 255}`, `12.${number >> 16}.${(number >> 8) & 255}.${number & 255}`],
        destinations: [],
      }
    }),
  })

  test('of one machine after the other do not keep a short one of another waiting for all of them', async () => {
    const machines = Array.from({ length: MACHINES }, () => portOf())
    const other = portOf()
    for (const port of machines) await controller.ensurePort({ ...port, filter: filterOf(LONG) }, soon())
    await plug(other)
    const order: string[] = []
    const change = async (port: PortSpec, rules: number): Promise<void> => {
      await controller.ensurePort({ ...port, filter: filterOf(rules), version: 1 }, soon())
      order.push(port.mac)
    }
    const long = machines.map((port) => change(port, LONG))
    await change(other, 1)
    await Promise.all(long)
    expect(order).toHaveLength(MACHINES + 1)
    expect(order.indexOf(other.mac)).toBeLessThan(4)
  })
})
