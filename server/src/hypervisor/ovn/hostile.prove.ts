// What one guest or one host that is taken over does to the others of its region.
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { missingCommands } from '../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { missingForOvn, OUTSIDE, OvnRegion, type Guest } from '../../../test/ovn-hosts.ts'
import { sleep } from '../../kernel/clock.ts'
import { portName, type NetworkController, type PortSpec } from '../network-controller.ts'
import type { Filter } from '../spec.ts'
import { networkController } from './controller.ts'
import { openNetworkDatabase, type NetworkDatabase } from './northbound.ts'

const soon = (ms = 20_000): AbortSignal => AbortSignal.timeout(ms)
const ROUTERS = 5
const CLAIMED = 3_000

/** Says for each of many addresses of the range that it is at this interface. */
const claims = (mac: string, prefix: string): string => `python3 - <<'END'
import socket, struct, time
mac = bytes.fromhex('${mac}'.replace(':', ''))
source, target = [socket.inet_pton(socket.AF_INET6, each) for each in ('${prefix}1', 'ff02::1')]
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('e0', 0))
def checksum(data):
    total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while total > 0xffff: total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
for number in range(${CLAIMED}):
    claimed = socket.inet_pton(socket.AF_INET6, '${prefix}1:%x' % number)
    body = struct.pack('!BBHI', 136, 0, 0, 0x20000000) + claimed + b'\\x02\\x01' + mac
    sum16 = checksum(source + target + struct.pack('!II', len(body), 58) + body)
    body = body[:2] + struct.pack('!H', sum16) + body[4:]
    link.send(bytes.fromhex('333300000001') + mac + b'\\x86\\xdd' + struct.pack('!IHBB', 0x60000000, len(body), 58, 255) + source + target + body)
    time.sleep(0.0005)
END`

describeIf(missingForOvn() ?? missingCommands('python3'))('the region of', { timeout: 120_000 }, () => {
  let region: OvnRegion
  let database: NetworkDatabase
  let controller: NetworkController
  beforeAll(async () => {
    region = await OvnRegion.open(2)
    database = openNetworkDatabase({ ...region.endpoints, log: pino({ level: 'silent' }) })
    controller = networkController(database)
    await controller.ensurePublicNetwork({ ranges: ['10.61.0.0/24', '2001:db8:2::/48'], allowed: [] }, soon())
  }, 120_000)
  afterAll(async () => {
    database?.close()
    await region?.close()
  })

  let ports = 0
  const portOf = (changes: Partial<PortSpec>): PortSpec => ({
    vmId: 'vm',
    mac: `52:54:00:00:0c:${(++ports).toString(16).padStart(2, '0')}`,
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
    const end = { mac: port.mac, address: port.addresses[0]!, interfaceId: portName(port.mac) }
    const guest = await region.addGuest(region.chassis[0]!, end)
    await database.portUp(portName(port.mac), soon())
    return guest
  }
  const outcomeOf = (port: PortSpec, ms: number): Promise<string> =>
    controller.ensurePort(port, soon(ms)).then(
      () => 'in force',
      () => 'failed',
    )
  const signal = (name: 'STOP' | 'CONT', chassis: number): Promise<string> =>
    region.chassis[chassis]!.shell(`kill -${name} $(cat /run/ovn/ovn-controller.pid)`)
  const neighbours = async (): Promise<number> =>
    (await region.central.inside('ovn-sbctl', '--bare', '--columns=ip', 'list', 'MAC_Binding')).split('\n').filter((line) => line !== '')
      .length

  test('a chassis that is no host of the region: it is no gateway', async () => {
    const spec = { ranges: ['10.61.0.0/24', '2001:db8:2::/48'], allowed: [], gateways: ['hv1'] }
    await controller.ensurePublicNetwork(spec, soon())
    const chassis = await region.central.inside('ovn-nbctl', '--bare', '--columns=chassis_name', 'list', 'HA_Chassis')
    expect(new Set(chassis.split('\n').filter((line) => line !== ''))).toEqual(new Set(['hv1']))
  })

  test('a guest that claims thousands of addresses: routers learn few of them', async () => {
    for (let number = 1; number <= ROUTERS; number++) {
      const [cidr, gateway] = [`10.${number}.0.0/24`, `10.${number}.0.1`]
      const snat = { address: `10.61.0.${20 + number}`, prefix: 24, gateway: OUTSIDE }
      const network = { networkId: `net${number}`, cidr, gateway, enableDhcp: true, dns: [], snat, routes: [], peers: [] }
      await controller.ensureNetwork(network, soon())
    }
    const prefix = '2001:db8:2:7::'
    const guest = await plug(portOf({ addresses: [`${prefix}1`], ranges: [`${prefix}/64`] }))
    await sleep(1_000)
    const before = await neighbours()
    await guest.shell(claims(guest.mac, prefix))
    await sleep(1_000)
    expect((await neighbours()) - before).toBeLessThan((CLAIMED * ROUTERS) / 10)
  })

  test('a host that does not answer: its changes are not in force, however often they are asked for', async () => {
    const port = portOf({})
    await controller.ensurePort(port, soon())
    await signal('STOP', 0)
    const filter: Filter = { rules: [], defaultInbound: 'DROP', defaultOutbound: 'ACCEPT' }
    const changed = { ...port, filter, version: 2 }
    expect([await outcomeOf(changed, 2_000), await outcomeOf(changed, 2_000)]).toEqual(['failed', 'failed'])
    await controller.ensurePort(changed, soon(), { unconfirmed: true })
    await signal('CONT', 0)
    expect(await outcomeOf(changed, 20_000)).toBe('in force')
  })

  test.each(['9223372036854775807', '4611686018427387904'])(
    'a host that says it has confirmed %s disturbs no other host',
    async (number) => {
      await signal('STOP', 1)
      await region.central.inside('ovn-sbctl', 'set', 'Chassis_Private', 'hv2', `nb_cfg=${number}`)
      await sleep(500)
      expect(await outcomeOf(portOf({}), 10_000)).toBe('in force')
      await signal('STOP', 0)
      expect(await outcomeOf(portOf({}), 2_000)).toBe('failed')
      await signal('CONT', 0)
      await signal('CONT', 1)
      expect(await outcomeOf(portOf({ host: 'hv2' }), 20_000)).toBe('in force')
      expect(Number(await region.central.inside('ovn-nbctl', 'get', 'NB_Global', '.', 'nb_cfg'))).toBeLessThan(1_000)
    },
  )
})
