// Hosts take tunnelled frames from the addresses of hosts, and a host gives its own address to what it masquerades. So no packet of a guest may
// reach the end of a tunnel that way: it would be a frame in any customer's network.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { missingCommands } from '../../../libvirt/test/command.ts'
import { describeIf } from '../../../libvirt/test/describe-if.ts'
import { OvnGuests } from '../../test/ovn-guests.ts'
import { missingForOvn, type Guest } from '../../test/ovn-hosts.ts'
import { NAT_GATEWAY } from '../hypervisor/network-controller.ts'
import { sleep } from '../kernel/clock.ts'
import { parseCidr } from '../kernel/cidr.ts'
import { masqueradeCommands } from './masquerade.ts'
import type { HostPlan } from './setup-step.ts'

const soon = (): AbortSignal => AbortSignal.timeout(30_000)
/** Of hosts, and open to guests: their tunnels are closed nevertheless. */
const HOSTS = '10.60.0.0/24'
const OTHER_HOST = '10.60.0.12'
const PUBLIC_RANGE = '10.61.0.0/24'
/** Of the first host: that of public guests, and that of routers. */
const GATEWAYS = { public: '10.61.0.2', routers: NAT_GATEWAY.address }
const GENEVE = 6081
const OPEN_PORT = 5000

/** A broadcast to every port of each of the first networks, in Geneve, with OVN's header. */
const inject = (text: string, port: number): string => `python3 - <<'END'
import socket, struct, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def checksum(data):
    total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while total > 0xffff: total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
text = b'${text}'
udp = struct.pack('!HHHH', 53, 4001, 8 + len(text), 0) + text
ip = struct.pack('!HHHHHH', 0x4500, 20 + len(udp), 0, 0, 0x4011, 0) + socket.inet_aton('10.12.0.77') + socket.inet_aton('10.12.0.11')
ip = ip[:10] + struct.pack('!H', checksum(ip)) + ip[12:]
frame = bytes.fromhex('ffffffffffff0200000000990800') + ip + udp
for network in [900, 901, 902, *range(1, 30)]:
    if network == 1: time.sleep(1)
    time.sleep(0.02)
    option = struct.pack('!HBBHH', 0x0102, 0x80, 1, 1, 32768)
    sender.sendto(struct.pack('!BBHI', 0x02, 0x40, 0x6558, network << 8) + option + frame, ('${OTHER_HOST}', ${port}))
END`

describeIf(missingForOvn() ?? missingCommands('python3', 'iptables'))('the tunnels of other hosts', { timeout: 120_000 }, () => {
  let ovn: OvnGuests
  let victim: Guest
  const hostShell = (script: string): Promise<string> => ovn.region.chassis[0]!.shell(script)
  const rules = masqueradeCommands({ range: parseCidr(PUBLIC_RANGE)!, allowed: [HOSTS] } as unknown as HostPlan)

  beforeAll(async () => {
    ovn = await OvnGuests.open(2, { ranges: [PUBLIC_RANGE], allowed: [HOSTS], gateways: ['hv1'] })
    for (const number of [11, 12]) {
      const snat = { address: `100.64.0.${number}`, prefix: 16, gateway: GATEWAYS.routers }
      const [networkId, cidr, gateway] = [`net${number}`, `10.${number}.0.0/24`, `10.${number}.0.1`]
      await ovn.controller.ensureNetwork({ networkId, cidr, gateway, enableDhcp: true, dns: [], snat, routes: [], peers: [] }, soon())
    }
    await hostShell(`ovs-vsctl set Bridge br-ex other-config:hwaddr='"${NAT_GATEWAY.mac}"'
      ip addr add ${GATEWAYS.routers}/16 dev br-ex; ip addr add ${GATEWAYS.public}/24 dev br-ex; ip link set br-ex up
      ethtool -K br-ex tx off >/dev/null; echo 1 > /proc/sys/net/ipv4/ip_forward`)
    victim = await plug('net12', '10.12.0.11', 1)
    await ovn.region.chassis[1]!.shell(`python3 -c "
import socket
taker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
taker.bind(('${OTHER_HOST}', ${OPEN_PORT}))
while True: open('/run/taken', 'ab').write(taker.recv(2000))" >/dev/null 2>&1 </dev/null &`)
  }, 120_000)
  afterAll(() => ovn?.close())

  const plug = (networkId: string | null, address: string, host: number): Promise<Guest> =>
    ovn.plug(ovn.portOf({ networkId, addresses: [address], host: `hv${host + 1}` }))
  const inside = async (): Promise<Guest['shell']> => {
    const { shell } = await plug('net11', '10.11.0.11', 0)
    await shell('ip route add default via 10.11.0.1')
    return shell
  }
  const outside = async (): Promise<Guest['shell']> => {
    const { shell } = await plug(null, '10.61.0.141', 0)
    await shell(`ip route add default via ${GATEWAYS.public}`)
    return shell
  }
  /** What OVN has let through, whatever it is. */
  const behindOvn = async (): Promise<Guest['shell']> => {
    await hostShell(`ip netns add through; ip link add through type veth peer name e0 netns through
      ethtool -K through tx off >/dev/null; ip netns exec through ethtool -K e0 tx off >/dev/null
      ip -n through addr add 100.64.0.99/16 dev e0; ip -n through link set e0 up; ip link set through arp off up
      ip -n through route add default via ${GATEWAYS.routers}; ovs-vsctl add-port br-ex through`)
    return (script) => ovn.region.chassis[0]!.inside('ip', 'netns', 'exec', 'through', 'sh', '-ec', script)
  }

  const taken = (): Promise<string> => ovn.region.chassis[1]!.shell('cat /run/taken 2>/dev/null || true')
  test.each([
    ['a guest of a private network: by OVN alone', 'from inside', inside, `${rules} iptables -F BERTH-CLOSED`],
    ['a guest of the public network: by OVN alone', 'from outside', outside, `${rules} iptables -F BERTH-CLOSED`],
    ['whatever OVN lets through: by the rules of the host', 'from behind', behindOvn, rules],
  ])('are closed to %s', async (_, text, start, hostRules) => {
    await hostShell(hostRules)
    const shell = await start()
    // Another port of the same host is open.
    await expect.poll(() => shell(inject(text, OPEN_PORT)).then(taken), { timeout: 30_000 }).toContain(text)
    await shell(inject(text, GENEVE))
    await sleep(1_500)
    expect(await victim.received()).not.toContain(text)
  })
})
