// Two hosts and a router on one wire. Each host gets its public network through the network card that has its own address, keeps that address
// whatever happens, and its guests are reached from the wire as they are, without NAT.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeIf } from '../../../libvirt/test/describe-if.ts'
import { env, run } from '../../../libvirt/test/command.ts'
import { Sandboxes } from '../../../libvirt/test/sandbox-fleet.ts'
import type { Sandbox } from '../../../libvirt/test/sandboxed-libvirtd.ts'
import { openAuthorities, type TestAuthorities } from '../../test/authorities.ts'
import { bareMachine, done, failure, missingForMachine, type BareMachine } from '../../test/bare-machine.ts'
import { installTools, sendCommand } from '../../test/frame-tools.ts'
import { neighbourAdvertisement, ownRouterAdvertisement } from '../../test/frames.ts'
import { testDatabase } from '../../test/harness.ts'
import { berthdJson, BERTHD, eventually, type Settings } from '../../test/processes.ts'
import { addController, requireDone } from '../../test/tls-hosts.ts'
import { portName, type NetworkController, type PortSpec } from '../hypervisor/network-controller.ts'
import { openOvn } from '../hypervisor/ovn/controller.ts'
import { nativeArch } from '../kernel/arch.ts'
import { sleep } from '../kernel/clock.ts'

const soon = (): AbortSignal => AbortSignal.timeout(30_000)
const RANGE = '198.51.100.0/24'
const RANGE6 = '2001:db8:9::/64'
/** Of the router on the wire. */
const GATEWAY = '198.51.100.1'
const GATEWAY6 = '2001:db8:9::1'
/** Behind that router. */
const BEYOND = '198.51.101.1'
/** Of the hosts themselves. */
const HOSTS6 = '2001:db8:7::'
const PORT = 7000
/** Answers with the address of who asks. */
const SERVER = `require('net').createServer((socket) => socket.end(socket.remoteAddress.replace('::ffff:', ''))).listen(${PORT}, '::')`
const SILENT_BRIDGE = 'arptables-nft -A OUTPUT -o br-uplink -j DROP'

interface Guest {
  address: string
  address6: string
  shell(script: string): Promise<string>
}

describeIf(missingForMachine())('hosts with an uplink', { timeout: 600_000 }, () => {
  let folder: string
  let settings: Settings
  let sandboxes: Sandboxes
  let controllerMachine: Sandbox
  let outside: Sandbox
  let hosts: BareMachine[]
  let controller: NetworkController
  let authorities: TestAuthorities | undefined

  const outsideShell = (script: string): Promise<string> => outside.inside('sh', '-ec', script)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-uplink-'))
    settings = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: folder }
    sandboxes = await Sandboxes.open()
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
    controllerMachine = await sandboxes.add()
    outside = await sandboxes.add()
    await addController(controllerMachine, settings)
    hosts = [await bareMachine(await sandboxes.add()), await bareMachine(await sandboxes.add())]
    // Between machines no checksum is left to the other end.
    await run('ethtool', '-K', `bt${outside.address.split('.')[2]}`, 'tx', 'off')
    for (const each of [controllerMachine, outside]) await each.inside('ethtool', '-K', 'mgmt0', 'tx', 'off')
    await outsideShell(`${installTools(nativeArch())}
      for each in ${GATEWAY}/24 ${GATEWAY6}/64 ${HOSTS6}1/64; do
        case $each in *:*) ip addr add $each dev mgmt0 nodad ;; *) ip addr add $each dev mgmt0 ;; esac
      done
      ip addr add ${BEYOND}/32 dev lo
      (/run/sniff > /var/log/libvirt/frames 2>/dev/null </dev/null &)`)
    await serve(outsideShell)
    for (const [i, { shell, sandbox }] of hosts.entries())
      await shell(`ip addr add ${HOSTS6}1${i}/64 dev mgmt0 nodad; ip link set mgmt0 mtu 1450
        ip route add default via ${outside.address} metric 50
        ip route add 198.18.5.0/24 via ${outside.address} src ${sandbox.address}
        ip route add 198.18.6.0/24 dev mgmt0 table 7
        ip -6 route add default via ${HOSTS6}1`)
    for (const { shell } of hosts) await serve(shell)
  }, 240_000)
  afterAll(async () => {
    await authorities?.close()
    await controller?.close()
    await sandboxes?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const serve = async (shell: Guest['shell']): Promise<void> => {
    await shell(`(${process.execPath} -e "${SERVER}" >/dev/null 2>&1 </dev/null &)`)
    await eventually(async () => (await shell(`ss -Hlnt sport = :${PORT}`)) !== '', 10_000)
  }
  /** As which address the server there sees who asks; empty when it does not answer. */
  const asked = (shell: Guest['shell'], address: string): Promise<string> =>
    shell(`${process.execPath} -e "require('net').connect({ host: '${address}', port: ${PORT}, timeout: 3000 }).on('timeout', () => process.exit())
      .on('error', () => process.exit()).on('data', (data) => console.log(String(data)))"`).then((text) => text.trim())
  const reaches = async (shell: Guest['shell'], address: string, as: string): Promise<void> => {
    await expect.poll(() => asked(shell, address), { timeout: 20_000 }).toBe(as)
  }

  /** Addresses, routes, MAC and MTU of an interface, without its name. */
  const network = async ({ shell }: BareMachine, device: string): Promise<string> => {
    const shown = await shell(`ip -br link show ${device} | awk '{ print $3 }'; cat /sys/class/net/${device}/mtu
      ip -br addr show ${device} | cut -d ' ' -f 2- | tr ' ' '\\n' | sort
      ip -4 route show table all dev ${device} | sort; ip -6 route show table all dev ${device} | grep -v multicast | sort`)
    return shown.replaceAll(/^(UP|UNKNOWN)$|linkdown| +$/gm, '').replaceAll(/\n+/g, '\n')
  }
  const bundles = new Map<BareMachine, string>()
  const bundleOf = async (machine: BareMachine): Promise<string> => {
    const out = bundles.get(machine) ?? join(folder, `bundle-${machine.sandbox.address}`)
    if (!bundles.has(machine)) await berthdJson(settings, 'host', 'certificate', '--address', machine.sandbox.address, '--out', out)
    bundles.set(machine, out)
    return out
  }
  const before = new Map<BareMachine, string>()
  const isAsBefore = async (machine: BareMachine): Promise<void> => {
    await eventually(async () => !(await machine.shell('ls /sys/class/net /etc/libvirt/berth')).match(/br-uplink|pending|undoing/), 90_000)
    // The kernel looks for duplicates of its link-local address first.
    await expect.poll(() => network(machine, 'mgmt0'), { timeout: 10_000 }).toBe(before.get(machine))
    expect(await machine.shell('ip -d link show mgmt0; iptables -t raw -S; ovs-vsctl show')).not.toMatch(/NOARP|BERTH-UPLINK|br-uplink/)
    await reaches(outsideShell, machine.sandbox.address, outside.address)
    await reaches(outsideShell, `${HOSTS6}1${hosts.indexOf(machine)}`, `${HOSTS6}1`)
  }

  test('are prepared without one first, and refuse what cannot be one', async () => {
    for (const machine of hosts) {
      requireDone(await machine.prepare('--certificate', await bundleOf(machine)))
      before.set(machine, await network(machine, 'mgmt0'))
    }
    const [{ shell, prepare }] = hosts as [BareMachine]
    await shell(
      'ip tuntap add tap5 mode tap; ip link add e5 type veth peer name e6; ip link add br5 type bridge; ip link set e5 master br5',
    )
    for (const [options, message] of [
      ['--uplink eth77', 'There is no network card eth77'],
      ['--uplink lo', 'lo is loopback, not a network card or bond'],
      ['--uplink tap5', 'tap5 is tun, not a network card or bond'],
      ['--uplink br5', 'br5 is bridge, not a network card or bond'],
      ['--uplink e5', 'e5 is part of br5'],
      ['--vlan 7', 'A VLAN is one of an uplink'],
      ['--uplink mgmt0 --vlan 9999', 'A VLAN is a number from 1 to 4094'],
    ])
      expect(failure(await prepare(...options!.split(' ')))?.message).toBe(message)
    await shell('iptables -A INPUT -i mgmt0 -p tcp --dport 22 -j ACCEPT')
    expect(failure(await prepare('--uplink', 'mgmt0'))?.message).toMatch(
      'firewall name mgmt0, and would not match what comes in by br-uplink',
    )
    await shell('iptables -D INPUT -i mgmt0 -p tcp --dport 22 -j ACCEPT')
    await shell('ip link del tap5; ip link del e5; ip link del br5')
    await isAsBefore(hosts[0]!)
  })

  describe('a change that goes wrong', () => {
    test('is taken back when the gateway does not answer', async () => {
      const machine = hosts[1]!
      await machine.shell(SILENT_BRIDGE)
      const report = await machine.prepare('--uplink', 'mgmt0')
      expect(failure(report)).toMatchObject({
        step: 'uplink-nic',
        message: `${outside.address} did not answer through br-uplink, so everything is as it was, on mgmt0`,
      })
      await isAsBefore(machine)
    })

    test.each([0, 300, 3_000])('is taken back when host prepare is killed %d ms after its begin', async (waitMs) => {
      const machine = hosts[1]!
      const { enter } = machine.sandbox
      const child = spawn(enter[0]!, [...enter.slice(1), process.execPath, BERTHD, 'host', 'prepare', '--uplink', 'mgmt0'], {
        env: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('BERTH_'))),
        stdio: 'ignore',
      })
      await eventually(async () => (await machine.shell('ls /etc/libvirt/berth')).includes('uplink.pending'), 60_000)
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      // Children that it has just forked may be gone already.
      await machine.shell('kill -9 $(pgrep -f "host prepare --uplin[k]") || true')
      child.kill('SIGKILL')
      expect(await machine.shell('ls /etc/libvirt/berth')).toContain('uplink.pending')
      await isAsBefore(machine)
    })

    test('is not begun when the gateway does not answer at all', async () => {
      const machine = hosts[1]!
      await machine.shell(`arptables-nft -F OUTPUT; arptables-nft -A OUTPUT -o mgmt0 -j DROP`)
      expect(failure(await machine.prepare('--uplink', 'mgmt0'))?.message).toBe(
        `The gateway ${outside.address} does not answer through mgmt0, so a change could not be checked`,
      )
      await machine.shell('arptables-nft -F OUTPUT')
      await isAsBefore(machine)
    })
  })

  test('keep their own addresses and routes on the bridge', async () => {
    for (const machine of hosts) {
      const report = await machine.prepare('--uplink', 'mgmt0')
      expect([failure(report), done(report)]).toEqual([undefined, ['uplink-nic', 'ovn', 'masquerade']])
      expect(await network(machine, 'br-uplink')).toBe(before.get(machine))
      expect(await machine.shell('ip -br addr show mgmt0; ip route; ip -6 route')).not.toMatch(/mgmt0 .*[.:]\d+\/|dev mgmt0/)
      await reaches(outsideShell, machine.sandbox.address, outside.address)
      await reaches(machine.shell, outside.address, machine.sandbox.address)
      await reaches(machine.shell, `${HOSTS6}1`, `${HOSTS6}1${hosts.indexOf(machine)}`)
      const uri = `qemu+tls://${machine.sandbox.address}/system`
      const name = (await machine.shell('hostname')).trim()
      const added = await berthdJson(settings, 'host', 'add', uri, '--name', name, '--range', 'none')
      expect(added['range']).toBeNull()
    }
  })

  test('change nothing when they are prepared again', async () => {
    for (const machine of hosts) {
      expect(done(await machine.prepare())).toEqual([])
      expect(done(await machine.prepare('--uplink', 'mgmt0'))).toEqual([])
      expect(failure(await machine.prepare('--uplink', 'lo'))?.message).toBe('The uplink of this host is mgmt0 already')
    }
  })

  let number = 0
  const hostnameOf = async ({ shell }: BareMachine): Promise<string> => (await shell('hostname')).trim()
  const plug = async (
    machine: BareMachine,
    port: Pick<PortSpec, 'networkId' | 'addresses'>,
    prefix: number,
    gateways: string[],
  ): Promise<Guest> => {
    const name = `vnet${++number}`
    const mac = `52:54:00:00:09:${number.toString(16).padStart(2, '0')}`
    const spec = { vmId: 'vm', mac, ranges: [], host: await hostnameOf(machine), limitMbps: null, filter: null, ...port }
    await controller.ensurePort(spec, soon())
    const inGuest = (command: string): string => `ip netns exec ${name} ${command}`
    await machine.shell(`
      ip netns add ${name}
      ip link add ${name} type veth peer name e0 netns ${name}
      ${inGuest('ethtool -K e0 tx off')} >/dev/null
      ip -n ${name} link set lo up
      ip -n ${name} link set e0 address ${mac} up
      ${port.addresses.map((each) => `ip -n ${name} addr add ${each}/${each.includes(':') ? 64 : prefix} dev e0 ${each.includes(':') ? 'nodad' : ''}`).join('\n')}
      ${gateways.map((each) => `ip -n ${name} route add default via ${each}`).join('\n')}
      ip link set ${name} addrgenmode none arp off up
      ovs-vsctl add-port br-int ${name} -- set Interface ${name} external_ids:iface-id=${portName(mac)}`)
    const shell = (script: string): Promise<string> => machine.sandbox.inside('ip', 'netns', 'exec', name, 'sh', '-ec', script)
    await serve(shell)
    return { address: port.addresses[0]!, address6: port.addresses[1] ?? '', shell }
  }
  let guests: Guest[]

  test('carry public addresses of guests to the wire and back, without NAT', async () => {
    const add = (cidr: string, gateway: string) =>
      berthdJson(settings, 'ip-pool', 'add', '--region', 'fra1', '--cidr', cidr, '--gateway', gateway)
    await add(RANGE, GATEWAY)
    await add(RANGE6, GATEWAY6)
    authorities = await openAuthorities(settings['BERTH_DATABASE_URL']!, folder)
    controller = openOvn(`ssl:${controllerMachine.address}`, { log: pino({ level: 'silent' }), access: authorities.access })
    await controller.ensurePublicNetwork({ ranges: [RANGE, RANGE6], allowed: [] }, soon())
    guests = []
    for (const [i, machine] of hosts.entries())
      guests.push(await plug(machine, { networkId: null, addresses: [`198.51.100.1${i}`, `2001:db8:9::1${i}`] }, 24, [GATEWAY, GATEWAY6]))
    for (const guest of guests) {
      await reaches(outsideShell, guest.address, GATEWAY)
      await reaches(outsideShell, guest.address6, GATEWAY6)
      await reaches(guest.shell, GATEWAY, guest.address)
      await reaches(guest.shell, GATEWAY6, guest.address6)
      await reaches(guest.shell, BEYOND, guest.address)
    }
    const [one, other] = guests as [Guest, Guest]
    await reaches(one.shell, other.address, one.address)
    await reaches(other.shell, one.address6, other.address6)
    expect(await asked(other.shell, one.address)).toBe(other.address)
  })

  test('let router advertisements in, and those of guests not out', async () => {
    const [{ shell: hostShell }, { shell, address6 }] = [hosts[0]!, guests[0]!]
    await hostShell(installTools(nativeArch()))
    const mac = (await shell('cat /sys/class/net/e0/address')).trim()
    const [index, outsideIndex] = await Promise.all([
      shell('cat /sys/class/net/e0/ifindex').then(Number),
      outsideShell('cat /sys/class/net/mgmt0/ifindex').then(Number),
    ])
    const router = { mac: (await outsideShell('cat /sys/class/net/mgmt0/address')).trim(), address: GATEWAY6 }
    const isOut = async (frame: Buffer, text: string): Promise<boolean> => {
      await shell(sendCommand(frame, index))
      await sleep(500)
      return (await readFile(join(outside.folder, 'log/frames'), 'latin1')).includes(text)
    }
    expect(await isOut(neighbourAdvertisement({ mac, address: address6 }, router, address6, 'neighbour-1'), 'neighbour-1')).toBe(true)
    expect(await isOut(ownRouterAdvertisement({ mac, address: address6 }, 'router-1'), 'router-1')).toBe(false)
    await shell('(timeout 5 /run/sniff > /run/guest-frames 2>/dev/null </dev/null &)')
    await outsideShell(sendCommand(ownRouterAdvertisement(router, 'router-2'), outsideIndex))
    await expect.poll(() => shell('grep -c router-2 /run/guest-frames || true'), { timeout: 5_000 }).toContain('1')
  })

  test('route nothing for the wire, and are reached from there at the addresses of the wire only', async () => {
    const machine = hosts[0]!
    const guest = guests[0]!
    await machine.shell(`ip addr add 198.51.100.2/24 dev br-uplink; ip addr add 198.51.103.1/32 dev lo
      ip netns add behind; ip link add behind type veth peer name e0 netns behind; ethtool -K behind tx off >/dev/null
      ip netns exec behind ethtool -K e0 tx off >/dev/null; ip link set behind up; ip -n behind link set e0 up
      ip addr add 198.51.102.1/24 dev behind; ip addr add 2001:db8:8::1/64 dev behind nodad
      ip -n behind addr add 198.51.102.2/24 dev e0; ip -n behind route add default via 198.51.102.1`)
    const behind = (script: string): Promise<string> => machine.sandbox.inside('ip', 'netns', 'exec', 'behind', 'sh', '-ec', script)
    await serve(behind)
    for (const shell of [guest.shell, outsideShell])
      await shell('for each in 102 103; do ip route add 198.51.$each.0/24 via 198.51.100.2; done')
    await outsideShell(`ip -6 route add 2001:db8:8::/64 via ${HOSTS6}10`)
    // An address of no network card is one of all of them.
    requireDone(await machine.prepare())
    await reaches(outsideShell, machine.sandbox.address, outside.address)
    await reaches(outsideShell, `${HOSTS6}10`, `${HOSTS6}1`)
    await reaches(guest.shell, '198.51.100.2', guest.address)
    await reaches(guest.shell, '198.51.103.1', guest.address)
    await reaches(behind, GATEWAY, '198.51.102.2')
    const reached: string[] = []
    for (const shell of [guest.shell, outsideShell])
      for (const address of ['198.51.102.1', '198.51.102.2']) if ((await asked(shell, address)) !== '') reached.push(address)
    if ((await asked(outsideShell, '2001:db8:8::1')) !== '') reached.push('2001:db8:8::1')
    expect(reached).toEqual([])
    requireDone(await machine.prepare('--allow', '198.51.102.0/24'))
    await reaches(guest.shell, '198.51.102.2', guest.address)
    await machine.shell(
      'ip addr del 198.51.100.2/24 dev br-uplink; ip addr del 198.51.103.1/32 dev lo; ip link del behind; ip netns del behind',
    )
  })

  test('keep what is only theirs from the wire', async () => {
    await controller.ensurePublicNetwork({ ranges: [RANGE, RANGE6], allowed: ['10.98.0.0/16'] }, soon())
    for (const machine of hosts) requireDone(await machine.prepare('--allow', '10.98.0.0/16'))
    const snat = { address: '100.64.0.5', prefix: 16, gateway: '100.64.0.1' }
    const lan = { networkId: 'lan', cidr: '10.0.0.0/24', gateway: '10.0.0.1', enableDhcp: true, dns: [], snat, routes: [], peers: [] }
    await controller.ensureNetwork(lan, soon())
    for (const [i, machine] of hosts.entries()) {
      const guest = await plug(machine, { networkId: 'lan', addresses: [`10.0.0.1${i}`] }, 24, ['10.0.0.1'])
      // As the host that is the gateway of the network.
      const own = hosts.map(({ sandbox }) => sandbox.address)
      await expect.poll(() => asked(guest.shell, outside.address), { timeout: 20_000 }).toSatisfy((seen: string) => own.includes(seen))
    }
    const seen = await onWire()
    expect(seen.arp.has('198.51.100.10')).toBe(true)
    expect([...seen.arp, ...seen.ip].filter((each) => isShared(each) || each.startsWith('10.0.0.') || each.startsWith('10.77.'))).toEqual(
      [],
    )
    for (const address of ['100.64.0.1', ...(await Promise.all(hosts.map(localGateway)))]) {
      await outsideShell(`ip route replace ${address} dev mgmt0`)
      await asked(outsideShell, address)
      expect(await outsideShell(`ip neigh show ${address}`)).toMatch(/FAILED|INCOMPLETE/)
    }
  })

  const localGateway = async ({ shell }: BareMachine): Promise<string> =>
    (await shell("ip -4 -br addr show br-ex | tr ' ' '\\n' | grep ^10")).trim().split('/')[0]!
  const isShared = (address: string): boolean => /^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./.test(address)
  const addressIn = (hex: string): string => [...Buffer.from(hex, 'hex')].join('.')

  /** Senders and targets of what the router has received. */
  async function onWire(): Promise<{ arp: Set<string>; ip: Set<string> }> {
    const frames = await readFile(join(outside.folder, 'log/frames'), 'hex')
    const ends = (pattern: RegExp): Set<string> => {
      const found = [...frames.matchAll(pattern)].filter(({ index }) => index % 2 === 0)
      return new Set(found.flatMap(([, from, to]) => [addressIn(from!), addressIn(to!)]))
    }
    return {
      arp: ends(/0806000108000604000[12].{12}(.{8}).{12}(.{8})/g),
      ip: ends(/080045.{22}(.{8})(.{8})/g),
    }
  }

  test('are restored after a reboot, also when the distribution has configured the card again', async () => {
    const machine = hosts[0]!
    await machine.shell(`kill -9 $(pgrep -x 'ov[sn].*'); for each in br-uplink br-ex br-int ovs-netdev; do ip link del $each 2>/dev/null || true; done
      for each in iptables ip6tables; do for table in filter nat raw; do $each -t $table -F; $each -t $table -X; done; done
      rm -rf /run/openvswitch/* /run/ovn/*; echo 0 > /proc/sys/net/ipv6/conf/mgmt0/disable_ipv6; ip link set mgmt0 arp on
      ip addr add ${machine.sandbox.address}/24 dev mgmt0; ip route add default via ${outside.address} metric 50`)
    const report = await machine.prepare()
    expect([failure(report), done(report).includes('uplink-nic')]).toEqual([undefined, true])
    expect(await network(machine, 'br-uplink')).toBe(before.get(machine))
    await reaches(outsideShell, machine.sandbox.address, outside.address)
    await reaches(outsideShell, guests[0]!.address, GATEWAY)
  })

  test.each([
    ['ip route del default dev br-uplink'],
    ['ovs-vsctl del-port br-uplink mgmt0'],
    ['echo 0 > /proc/sys/net/ipv4/conf/br-uplink/arp_ignore'],
    ['iptables -t raw -F BERTH-UPLINK'],
    ['ovs-ofctl del-flows br-uplink icmp6'],
    [`ip addr add 198.18.77.7/24 dev mgmt0`],
  ])('repair %s', async (damage) => {
    const machine = hosts[0]!
    await machine.shell(damage)
    expect(done(await machine.prepare())).toEqual(['uplink-nic'])
    expect(await network(machine, 'br-uplink')).toBe(before.get(machine))
  })

  test('carry the public network in a VLAN', async () => {
    for (const machine of hosts) {
      const report = await machine.prepare('--uplink', 'mgmt0', '--vlan', '120')
      expect([failure(report), done(report)]).toEqual([undefined, ['uplink-nic', 'ovn']])
      expect(await network(machine, 'br-uplink')).toBe(before.get(machine))
    }
    const [one, other] = guests as [Guest, Guest]
    await reaches(one.shell, other.address, one.address)
    expect(await asked(outsideShell, one.address)).toBe('')
    expect(await hosts[0]!.shell('ovs-appctl fdb/show br-uplink')).toMatch(/\s120\s+52:54:00:00:09:02\s/)
    for (const machine of hosts) expect(done(await machine.prepare())).toEqual([])
  })

  test('have their card back without an uplink', async () => {
    for (const machine of hosts) {
      const report = await machine.prepare('--uplink', 'none')
      expect([failure(report), done(report)]).toEqual([undefined, ['uplink-nic', 'ovn', 'masquerade']])
      await isAsBefore(machine)
      expect(done(await machine.prepare())).toEqual([])
    }
  })
})
