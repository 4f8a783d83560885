// What guests reach from a prepared host, seen by packets: the gateway and the internet, neither the host nor the networks of its operator.
// Guests are network namespaces whose interfaces are named and bound like those of VMs.
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../libvirt/test/describe-if.ts'
import { done, failure, missingForMachine, openBareMachine, type BareMachine } from '../../test/bare-machine.ts'
import { installTools, sendCommand } from '../../test/frame-tools.ts'
import { arpFrame, BROADCAST } from '../../test/frames.ts'
import { directAccess } from '../hypervisor/local-access.ts'
import { portName, type NetworkController } from '../hypervisor/network-controller.ts'
import type { Filter } from '../hypervisor/spec.ts'
import { openOvn } from '../hypervisor/ovn/controller.ts'
import { nativeArch } from '../kernel/arch.ts'
import { sleep } from '../kernel/clock.ts'
import { chainCommands, removeCommands } from './iptables.ts'

const soon = (): AbortSignal => AbortSignal.timeout(30_000)
const RANGE = '10.77.0.0/16'
const GATEWAY = '10.77.0.1'
/** A machine on the internet, and one of the operator. */
const WORLD = { address: '198.51.100.1', host: '198.51.100.2' }
const OFFICE = { address: '192.168.50.9', host: '192.168.50.1' }
const PORT = 8000

const OPEN_FILTER: Filter = { rules: [], defaultInbound: 'ACCEPT', defaultOutbound: 'ACCEPT' }

/** Answers with the address of the client. */
const SERVER = `require('net').createServer((socket) => socket.end(socket.remoteAddress)).on('error', () => {}).listen(${PORT}, '::')`

/** Answers datagrams that ask something. */
const RESOLVER = `python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24); s.bind(('', ${PORT}))
while True:
    text, sender = s.recvfrom(100)
    if text == b'ask': s.sendto(text, sender)"`
/** How many of ten questions are answered, each from another port. */
const QUESTIONS = `python3 -c "
import socket
answered = 0
for i in range(10):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1); s.sendto(b'ask', ('${WORLD.address}', ${PORT}))
    try: s.recv(100); answered += 1
    except OSError: pass
print(answered)"`
/** Datagrams from every port. */
const fromPorts = (ports: string): string => `python3 -c "
import socket, time
for port in ${ports}:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try: s.bind(('', port)); s.sendto(b'x', ('${WORLD.address}', ${PORT}))
    except OSError: pass
    s.close()
    if port % 100 == 0: time.sleep(0.008)"`

interface Guest {
  name: string
  tap: string
  mac: string
  address: string
}

const PUBLIC_GUEST: Guest = { name: 'vm1', tap: 'vnet11', mac: '52:54:00:00:07:01', address: '10.77.9.9' }
const PRIVATE_GUEST: Guest = { name: 'vm2', tap: 'vnet12', mac: '52:54:00:00:07:02', address: '10.0.0.9' }

describeIf(missingForMachine())('guests of a prepared host', { timeout: 120_000 }, () => {
  let machine: BareMachine
  let controller: NetworkController

  beforeAll(async () => {
    machine = await openBareMachine()
    await machine.shell(`
      ${installTools(nativeArch())}
      ${place('world', WORLD)}
      ${place('office', OFFICE)}
      ${background(`${process.execPath} -e "${SERVER}"`)}`)
    const failed = failure(await machine.prepare('--range', RANGE))
    if (failed) throw new Error(failed.message)
    controller = openOvn(`unix:${join(machine.sandbox.folder, 'ovn/run')}`, {
      log: pino({ level: 'silent' }),
      access: directAccess(),
    })
    await controller.ensurePublicNetwork({ ranges: [RANGE], allowed: [OFFICE_RANGE] }, soon())
    await controller.ensureNetwork(
      {
        networkId: 'neta',
        cidr: '10.0.0.0/24',
        gateway: '10.0.0.1',
        enableDhcp: true,
        dns: [],
        snat: { address: '100.64.0.9', prefix: 16, gateway: '100.64.0.1' },
        routes: [],
        peers: [],
      },
      soon(),
    )
    await plug(PUBLIC_GUEST, null, `${PUBLIC_GUEST.address}/16`, GATEWAY)
    await plug(PRIVATE_GUEST, 'neta', `${PRIVATE_GUEST.address}/24`, '10.0.0.1')
  }, 120_000)
  afterAll(async () => {
    await controller?.close()
    await machine?.close()
  })

  /** OVN lets guests pass to it in this test: the rules of the host are tried. */
  const OFFICE_RANGE = '192.168.50.0/24'

  const background = (command: string): string => `nohup ${command} >/dev/null 2>&1 </dev/null &`

  /** Behind an interface of the host. */
  const place = (name: string, { address, host }: typeof WORLD): string => `
    ip netns add ${name}
    ip link add ${name}0 type veth peer name e0 netns ${name}
    ip addr add ${host}/24 dev ${name}0; ip link set ${name}0 up
    ip -n ${name} addr add ${address}/24 dev e0; ip -n ${name} link set e0 up; ip -n ${name} link set lo up
    ${background(`ip netns exec ${name} ${process.execPath} -e "${SERVER}"`)}`

  async function plug({ name, tap, mac, address }: Guest, networkId: string | null, withPrefix: string, gateway: string): Promise<void> {
    const host = (await machine.shell('hostname')).trim()
    await controller.ensurePort(
      { vmId: 'c1', mac, networkId, addresses: [address], ranges: [], host, limitMbps: null, filter: OPEN_FILTER },
      soon(),
    )
    await machine.shell(`
      ip netns add ${name}
      ip link add ${tap} type veth peer name e0 netns ${name}
      ip netns exec ${name} ethtool -K e0 tx off >/dev/null
      ip -n ${name} link set lo up
      ip -n ${name} link set e0 address ${mac} up
      ip -n ${name} addr add ${withPrefix} dev e0
      ip -n ${name} route add default via ${gateway}
      ip link set ${tap} up
      ovs-vsctl add-port br-int ${tap} -- set Interface ${tap} external_ids:iface-id=${portName(mac)}
      ovn-nbctl --timeout=20 wait-until Logical_Switch_Port ${portName(mac)} up=true`)
  }

  const inGuest = ({ name }: Guest, command: string): Promise<string> => machine.shell(`ip netns exec ${name} ${command}`)

  /** What a server answers, or `none`. */
  const ask = (guest: Guest, address: string): Promise<string> =>
    inGuest(
      guest,
      `${process.execPath} -e "require('net').connect({ host: '${address}', port: ${PORT}, timeout: 1500 })
        .on('data', (text) => (console.log(String(text)), process.exit()))
        .on('timeout', () => (console.log('none'), process.exit())).on('error', () => console.log('none'))"`,
    ).then((text) => text.trim().replace('::ffff:', ''))

  const ping = (guest: Guest, address: string): Promise<string> =>
    inGuest(
      guest,
      `python3 -c "import socket; s = socket.socket(2, 3, 1); s.settimeout(2); s.sendto(bytes.fromhex('0800f7fd00020000'), ('${address}', 0)); print(s.recv(99)[20])" 2>/dev/null || echo none`,
    ).then((text) => text.trim())

  test.each([PUBLIC_GUEST, PRIVATE_GUEST])('$address reaches the internet with the address of the host', async (guest) => {
    expect(await ask(guest, WORLD.address)).toBe(WORLD.host)
  })

  test.each([PUBLIC_GUEST, PRIVATE_GUEST])('$address may ping its gateway, and reaches nothing else of the host', async (guest) => {
    expect(await ping(guest, GATEWAY)).toBe('0')
    for (const address of [GATEWAY, '100.64.0.1', WORLD.host, OFFICE.host, machine.sandbox.address])
      expect([address, await ask(guest, address)]).toEqual([address, 'none'])
  })

  test.each([PUBLIC_GUEST, PRIVATE_GUEST])('$address reaches no network of the operator', async (guest) => {
    expect(await ask(guest, OFFICE.address)).toBe('none')
  })

  test('a guest of a private network reaches a public one, which sees its router', async () => {
    await machine.shell(background(`ip netns exec ${PUBLIC_GUEST.name} ${process.execPath} -e "${SERVER}"`))
    await expect.poll(() => ask(PRIVATE_GUEST, PUBLIC_GUEST.address), { timeout: 10_000 }).toBe('100.64.0.9')
  })

  test('a guest that sends to a service from every port leaves ports of the host to others', async () => {
    await machine.shell(background(`ip netns exec world ${RESOLVER}`))
    const answered = async (): Promise<number> => Number(await inGuest(PRIVATE_GUEST, QUESTIONS))
    const tracked = async (): Promise<number> => Number(await machine.shell('cat /proc/sys/net/netfilter/nf_conntrack_count'))
    await expect.poll(answered, { timeout: 10_000 }).toBe(10)
    const start = Date.now()
    await inGuest(PUBLIC_GUEST, fromPorts('[*range(1024, 65536)] * 2'))
    const [seconds, connections] = [(Date.now() - start) / 1_000, await tracked()]
    expect(await answered()).toBe(10)
    expect(connections).toBeGreaterThan(2_000)
    expect(connections).toBeLessThan(2_500 + 200 * seconds)
    // A pause gives it back no more than its share.
    const pause = Date.now()
    await sleep(2_500)
    await inGuest(PUBLIC_GUEST, fromPorts('range(40000, 44000)'))
    const more = (await tracked()) - connections
    expect(more).toBeLessThan(500 + (200 * (Date.now() - pause)) / 1_000)
    console.log(`${connections} connections, and ${more} more after a pause`)
    // Open vSwitch still counts what it has sent.
    await machine.shell('ovs-appctl dpctl/flush-conntrack')
  })

  test('a kernel that cannot count connections goes without that rule', async () => {
    const optional = { rule: '-m nothing -j DROP', isSupported: async () => false }
    const chain = { tool: 'iptables', table: 'filter', parent: 'FORWARD', name: 'BERTH-TRIAL' } as const
    await machine.shell(chainCommands({ ...chain, rules: [optional.rule, '-i none0 -j DROP'], optional }))
    expect(await machine.shell('iptables -S BERTH-TRIAL')).toBe('-N BERTH-TRIAL\n-A BERTH-TRIAL -i none0 -j DROP\n')
    await machine.shell(removeCommands(chain))
  })

  test('the operator may open a network to guests', async () => {
    expect(done(await machine.prepare('--allow', OFFICE_RANGE))).toEqual(['saved-state', 'masquerade'])
    expect(await ask(PUBLIC_GUEST, OFFICE.address)).toBe(OFFICE.host)
    expect(done(await machine.prepare())).toEqual([])
    expect(done(await machine.prepare('--allow', '192.168.51.0/24'))).toEqual(['saved-state', 'masquerade'])
    expect(await ask(PUBLIC_GUEST, OFFICE.address)).toBe('none')
  })

  const macOf = async (device: string): Promise<string> => (await machine.shell(`cat /sys/class/net/${device}/address`)).trim()

  /** The MAC addresses that answer a guest's question for an address. */
  async function answering(address: string): Promise<string[]> {
    const { name, mac, address: own } = PUBLIC_GUEST
    const index = Number(await inGuest(PUBLIC_GUEST, 'cat /sys/class/net/e0/ifindex'))
    const question = arpFrame({ mac, address: own }, { mac: BROADCAST, address }, 'ask', '')
    const seen = await machine.shell(`ip netns exec ${name} timeout 1 /run/sniff > /run/frames </dev/null & sleep 0.3
      ip netns exec ${name} sh -c '${sendCommand(question, index)}'; wait || true; base64 -w 0 /run/frames`)
    const quad = address
      .split('.')
      .map((octet) => Number(octet).toString(16).padStart(2, '0'))
      .join('')
    const answers = Buffer.from(seen, 'base64')
      .toString('hex')
      .matchAll(new RegExp(`08060001080006040002(.{12})${quad}`, 'g'))
    return [...new Set([...answers].map(([, sender]) => sender!.replace(/..(?=.)/g, '$&:')))]
  }

  test('only the gateway answers ARP, for its own address; the kernel would for any of the host', async () => {
    expect(await answering(GATEWAY)).toEqual([await macOf('br-ex')])
    expect(await answering(OFFICE.host)).toEqual([])
    await machine.shell('arptables-nft -F BERTH-COPIES')
    expect(await answering(OFFICE.host)).toEqual([await macOf(PUBLIC_GUEST.tap)])
    expect(done(await machine.prepare())).toEqual(['masquerade'])
    expect(await answering(OFFICE.host)).toEqual([])
  })

  test('packets to the address of the tap itself do not reach the host; without its rules they would', async () => {
    const { tap } = PUBLIC_GUEST
    const local = JSON.parse(await machine.shell(`ip -json -6 addr show dev ${tap}`)) as { addr_info: { local: string }[] }[]
    const ipv6 = `${local[0]!.addr_info[0]!.local}%e0`
    const both = async (): Promise<string[]> => {
      await inGuest(PUBLIC_GUEST, `ip neigh replace ${GATEWAY} lladdr ${await macOf(tap)} dev e0 nud permanent`)
      const heard = [await ask(PUBLIC_GUEST, GATEWAY), await ask(PUBLIC_GUEST, ipv6)]
      await inGuest(PUBLIC_GUEST, `ip neigh del ${GATEWAY} dev e0`)
      return heard
    }
    expect(await both()).toEqual(['none', 'none'])
    await machine.shell('iptables -t raw -F BERTH-COPIES; ip6tables -t raw -F BERTH-COPIES; ip6tables -t raw -F BERTH-TO-TAPS')
    expect(await both()).toEqual([PUBLIC_GUEST.address, expect.stringMatching(/^fe80::/)])
    expect(done(await machine.prepare())).toEqual(['masquerade'])
    expect(await both()).toEqual(['none', 'none'])
  })

  const PROCESSES = [
    'openvswitch/ovsdb-server',
    'openvswitch/ovs-vswitchd',
    'ovn/ovnnb_db',
    'ovn/ovnsb_db',
    'ovn/ovn-northd',
    'ovn/ovn-controller',
  ]
  const reachWorld = (): Promise<string[]> => Promise.all([PUBLIC_GUEST, PRIVATE_GUEST].map((guest) => ask(guest, WORLD.address)))
  const BOTH = [WORLD.host, WORLD.host]

  test('traffic comes back by itself when the daemons crash', async () => {
    for (const name of PROCESSES) await machine.shell(`kill -ALRM $(cat /run/${name}.pid)`)
    await expect.poll(reachWorld, { timeout: 20_000 }).toEqual(BOTH)
  })

  test('killed daemons are started again; the gateway keeps its addresses', async () => {
    for (const name of PROCESSES) await machine.shell(`kill -9 $(cat /run/${name}.pid)`)
    expect(await ask(PUBLIC_GUEST, WORLD.address)).toBe('none')
    expect(done(await machine.prepare())).toEqual(['open-vswitch', 'ovn', 'connection-limits'])
    await expect.poll(reachWorld, { timeout: 20_000 }).toEqual(BOTH)
  })
})
