// A machine becomes a host with one command, is added over TLS, and any damage is repaired or reported. The machine is a sandbox: a
// libvirtd with its own network, files and processes, as Debian's packages install it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sandbox } from '../../../libvirt/test/sandboxed-libvirtd.ts'
import { describeIf } from '../../../libvirt/test/describe-if.ts'
import { done, failure, missingForMachine, openBareMachine, type BareMachine } from '../../test/bare-machine.ts'
import { testDatabase } from '../../test/harness.ts'
import { berthd, berthdJson, type Outcome as Ended, type Settings } from '../../test/processes.ts'

/** Accepts everything of guests before any rule of Berth. */
const LAX_FIREWALL = 'iptables -I INPUT 1 -i br-ex -j ACCEPT'

describeIf(missingForMachine())('berthd host', { timeout: 300_000 }, () => {
  let machine: BareMachine
  let sandbox: Sandbox
  let folder: string
  let settings: Settings
  let bundle: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-host-'))
    settings = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: folder }
    bundle = join(folder, 'bundle')
    machine = await openBareMachine()
    sandbox = machine.sandbox
  })
  afterAll(async () => {
    await machine?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const host = (...args: string[]): Promise<Ended> => berthd(settings, 'host', ...args)
  const uri = (): string => `qemu+tls://${sandbox.address}/system`
  const inSandbox = (script: string): Promise<string> => machine.shell(script)
  const prepare: BareMachine['prepare'] = (...args) => machine.prepare(...args)

  test('--dry-run only reports what is missing', async () => {
    const report = await prepare('--dry-run')
    expect(report.ok).toBe(true)
    const missing = report.steps.filter(({ status }) => status === 'missing').map(({ step }) => step)
    // The sandbox has the devices and the kernel of this machine, where /dev/kvm may be missing or as udev leaves it, and waits may be counted.
    expect(missing.filter((step) => !['kvm', 'waiting-times'].includes(step))).toEqual([
      'saved-state',
      'qemu.conf',
      'libvirt',
      'pool',
      'open-vswitch',
      'ovn',
      'connection-limits',
      'masquerade',
      'uplink',
    ])
    expect(await inSandbox('ls /etc/libvirt /run/ovn /run/openvswitch; ip -br link')).not.toMatch(/berth|sock|br-/)
  })

  test('prepares a host with a certificate and does not change a prepared one', async () => {
    const made = await berthdJson(settings, 'host', 'certificate', '--address', sandbox.address, '--out', bundle)
    const first = await prepare('--certificate', bundle)
    expect(failure(first)).toBeUndefined()
    expect(first).toMatchObject({ ok: true, range: made['range'], next: `npx berthd host add ${uri()} --range ${made['range']}` })
    expect(first.steps.at(-1)).toMatchObject({ step: 'self-test', status: 'ok' })
    const pid = await inSandbox('pgrep -x libvirtd')
    const second = await prepare('--certificate', bundle)
    expect([second.ok, done(second)]).toEqual([true, []])
    expect(await inSandbox('pgrep -x libvirtd')).toBe(pid)
  })

  test('leaves nothing behind after its self-test', async () => {
    const left = (): Promise<string> => inSandbox('ovn-nbctl show; ovs-vsctl show; ip addr; ip neigh')
    // ovn-controller keeps unused patch ports in its first ten seconds.
    await expect.poll(left, { timeout: 20_000 }).not.toMatch(/self-test|vnet-berth|169\.254\.77/)
  })

  test('is the chassis that libvirt names, and listens on the network only with TLS', async () => {
    const name = (await sandbox.virsh('hostname')).trim()
    expect(await inSandbox('ovn-sbctl --bare --columns=name,hostname list Chassis')).toBe(`${name}\n${name}\n`)
    expect(await inSandbox('cat /etc/openvswitch/system-id.conf')).toBe(`${name}\n`)
    expect((await inSandbox("ss -Hlntu | awk '{ print $5 }'")).trim()).toBe(`${sandbox.address}:16514`)
    expect(await inSandbox('stat -c "%u %a" /run/ovn/ovnnb_db.sock /run/ovn/ovnsb_db.sock')).toBe('0 750\n0 750\n')
  })

  test('accepts only its own control plane', async () => {
    const stranger = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: join(folder, 'stranger') }
    const without = await berthd(stranger, 'host', 'add', uri())
    expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('npx berthd host certificate')])
    await berthdJson(stranger, 'host', 'certificate', '--address', sandbox.address, '--out', join(folder, 'other'))
    const refused = await berthd(stranger, 'host', 'add', uri())
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/not of this control plane|trusts another control plane/)])
  })

  const ADD = (): string[] => ['host', 'add', uri(), '--name', 'rack1', '--region', 'fra1', '--network-controller', 'unix:/run/ovn']

  test('registers the host with its capacity, once', async () => {
    const added = await berthdJson<{ id: string; range: string }>(settings, ...ADD())
    const hosts = await berthdJson<Record<string, unknown>[]>(settings, 'host', 'list')
    const row = hosts.find(({ name }) => name === 'rack1')
    expect(row).toMatchObject({ id: added.id, driver: 'libvirt', uri: uri(), state: 'not yet seen', maintenance: false })
    expect((row!['ramMiB'] as { total: number }).total).toBeGreaterThan(255)
    const pools = await berthdJson<Record<string, unknown>[]>(settings, 'ip-pool', 'list')
    expect(pools).toContainEqual(expect.objectContaining({ host: 'rack1', cidr: added.range }))
    expect((await host('add', uri(), '--name', 'rack2')).stderr).toContain('is the host rack1 already')
    expect(await sandbox.virsh('vol-list', 'berth')).not.toContain('berth-clock')
  })

  test.each([
    ['virsh pool-destroy berth', 'the storage pool berth is not active', ['pool']],
    ['kill -9 $(pgrep -x libvirtd)', 'libvirtd does not listen there', ['libvirt']],
  ])('reports and repairs %s', async (damage, said, mended) => {
    await inSandbox(damage)
    const refused = await host('add', uri(), '--name', 'again')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(said)])
    const report = await prepare()
    expect([report.ok, done(report)]).toEqual([true, mended])
  })

  test.each([
    ['ip link set br-ex down', ['uplink']],
    ['ip addr del 100.64.0.1/16 dev br-ex', ['uplink']],
    ['echo 0 > /proc/sys/net/ipv4/conf/br-ex/arp_ignore', ['uplink']],
    ['echo 0 > /proc/sys/net/ipv6/conf/br-ex/disable_ipv6', ['uplink']],
    ['ovs-vsctl del-br br-ex', ['uplink']],
    ['ovs-vsctl remove Open_vSwitch . external_ids ovn-bridge-mappings', ['ovn']],
    ['ovs-vsctl set Open_vSwitch . external_ids:system-id=other', ['ovn']],
    ['kill -9 $(pgrep -x ovs-vswitchd)', ['open-vswitch', 'connection-limits']],
    ['ovs-appctl dpctl/ct-set-limits netdev@ovs-netdev zone=1,limit=0', ['connection-limits']],
    ['kill -9 $(pgrep -x ovn-northd)', ['ovn']],
    ['kill -9 $(pgrep -x ovn-controller)', ['ovn']],
    ['kill -9 $(pgrep -x ovsdb-server) $(pgrep -x ovn-northd)', ['open-vswitch', 'ovn']],
    ['ovs-vsctl --no-wait add-port br-int vnet77', ['dead-ports']],
    ['iptables -t nat -F BERTH-OUT', ['masquerade']],
    ['iptables -D FORWARD -j BERTH-FORWARD', ['masquerade']],
    ['iptables -F BERTH-INPUT', ['masquerade']],
    ['iptables -F BERTH-CLOSED', ['masquerade']],
    // As a host has it that was prepared before tunnels were closed.
    ['iptables -D BERTH-CLOSED 1', ['masquerade']],
    ['ip6tables -t raw -X BERTH-COPIES 2>/dev/null || ip6tables -t raw -F BERTH-COPIES', ['masquerade']],
    ['arptables-nft -F BERTH-COPIES', ['masquerade']],
    ['echo 0 > /proc/sys/net/ipv4/ip_forward', ['forwarding']],
    ['rm /etc/libvirt/storage/autostart/berth.xml', ['pool']],
    ['sleep 1; touch /etc/libvirt/libvirtd.conf', ['libvirt']],
  ])('repairs %s', async (damage, mended) => {
    await inSandbox(damage)
    const report = await prepare()
    expect([report.ok, done(report)]).toEqual([true, mended])
  })

  test('keeps the ports of taps, and removes those whose tap a power loss took', async () => {
    const ports = (): Promise<string> => inSandbox('ovs-vsctl list-ports br-int | grep vnet || true')
    await inSandbox('ip tuntap add vnet78 mode tap; ovs-vsctl add-port br-int vnet78; ovs-vsctl --no-wait add-port br-int vnet79')
    await inSandbox('ovs-vsctl --no-wait add-br br-other -- add-port br-other vnet80')
    await prepare()
    expect(await ports()).toBe('vnet78\n')
    expect(await inSandbox('ovs-vsctl list-ports br-other')).toBe('vnet80\n')
    await inSandbox('ip link del vnet78; ovs-vsctl del-br br-other')
    await prepare()
    expect(await ports()).toBe('')
  })

  test('restores everything after a reboot', async () => {
    await inSandbox(`kill -9 $(pgrep -x libvirtd) $(pgrep -x virtlogd) $(pgrep -x 'ov[sn].*'); for each in br-ex br-int ovs-netdev; do ip link del $each; done
      for each in filter nat raw; do iptables -t $each -F; iptables -t $each -X; ip6tables -t $each -F; ip6tables -t $each -X; done
      arptables-nft -F; arptables-nft -X
      rm -rf /run/libvirt/network /run/libvirt/storage /run/openvswitch/* /run/ovn/*; echo 0 > /proc/sys/net/ipv4/ip_forward`)
    const report = await prepare()
    expect([failure(report), report.ok]).toEqual([undefined, true])
    expect(done(report)).toEqual(['libvirt', 'open-vswitch', 'ovn', 'connection-limits', 'forwarding', 'masquerade', 'uplink'])
    expect(done(await prepare())).toEqual([])
  })

  test.each([
    [LAX_FIREWALL, 'iptables -D INPUT 1', 'Guests reach services of this host', /iptables -S INPUT/],
    ['ip route add 10.64.0.0/10 via 127.0.0.1', 'ip route del 10.64.0.0/10', /overlaps the route 10.64.0.0\/10/, /--range|choose/],
    [
      'echo \'tls_port = "1"\' >> /etc/libvirt/libvirtd.conf',
      "sed -i '$d' /etc/libvirt/libvirtd.conf",
      /libvirtd.conf sets tls_port/,
      /16514/,
    ],
    [
      'ip route add 100.64.0.0/24 via 127.0.0.1',
      'ip route del 100.64.0.0/24',
      /100.64.0.0\/16, .* overlaps the route 100.64.0.0\/24/,
      /remove that route/,
    ],
    [
      'ovs-vsctl set Open_vSwitch . external_ids:ovn-remote=ssl:10.9.9.9:6642',
      'ovs-vsctl remove Open_vSwitch . external_ids ovn-remote',
      /chassis of another OVN, ssl:10.9.9.9:6642/,
      /ovs-vsctl remove/,
    ],
  ])('reports what it must not repair: %s', async (damage, repair, message, fix) => {
    await inSandbox(damage)
    const report = await prepare()
    expect(report.ok).toBe(false)
    expect(failure(report)!.message).toMatch(message)
    expect(failure(report)!.fix).toMatch(fix)
    await inSandbox(repair)
    const mended = await prepare()
    expect([failure(mended), mended.ok]).toEqual([undefined, true])
  })

  const OLD = `printf '%s' "<network><name>berth-public</name><bridge name='brpub0' stp='off' delay='0'/></network>" > /run/n.xml
    virsh net-define /run/n.xml; virsh net-autostart berth-public; virsh net-start berth-public
    printf '%s' "<filter name='berth-vm-c1'/>" > /run/f.xml; virsh nwfilter-define /run/f.xml
    gateway=$(ip -4 -o addr show br-ex | awk 'NR == 1 { print $4 }'); ovs-vsctl del-br br-ex
    ip link add bpub-gw type veth peer name bpub-up; ip link set bpub-up master brpub0 up
    ip addr add $gateway dev bpub-gw; ip link set bpub-gw up
    for each in libvirt-in libvirt-out BERTH-FROM-VM BERTH-TO-VM; do iptables -N $each; done
    iptables -I libvirt-in -j BERTH-FROM-VM; iptables -I libvirt-out -j BERTH-TO-VM
    iptables -t mangle -N BERTH-UNSEEN; iptables -t mangle -A POSTROUTING -j BERTH-UNSEEN
    iptables -t raw -N BERTH-RAW; iptables -t raw -A BERTH-RAW -i brpub0 -j DROP; iptables -t raw -A PREROUTING -j BERTH-RAW`
  const VM = `<domain type='qemu'><name>berth-c1</name><memory>65536</memory><os><type>hvm</type></os>
    <devices><interface type='network'><source network='berth-public'/></interface></devices></domain>`

  test('converts a host of an earlier version, when no VM uses its network', async () => {
    await inSandbox(`${OLD}; printf '%s' "${VM.replaceAll('\n', '')}" > /run/d.xml; virsh define /run/d.xml`)
    const refused = await prepare()
    expect(failure(refused)).toMatchObject({
      message: 'VMs of an earlier version use its network: berth-c1',
      fix: expect.stringContaining('virsh undefine --nvram berth-c1'),
    })
    await inSandbox('virsh undefine berth-c1')
    const report = await prepare()
    expect([failure(report), done(report)]).toEqual([undefined, ['old-network', 'uplink']])
    const left = await inSandbox('virsh net-list --all --name; virsh nwfilter-list; iptables-save; ip -br link')
    expect(left).not.toMatch(/berth-public|berth-vm|brpub0|bpub|BERTH-(RAW|UNSEEN|FROM|TO-VM)/)
    expect(done(await prepare())).toEqual([])
  })

  test('rejects another range while VMs may use the current one', async () => {
    const report = await prepare('--range', '10.130.0.0/16')
    expect([report.ok, failure(report)!.message]).toEqual([false, expect.stringContaining('which its VMs may use')])
  })

  test('removes the host', async () => {
    expect(await berthdJson(settings, 'host', 'set', 'rack1', '--maintenance', 'on')).toMatchObject({ maintenance: true })
    expect(await berthdJson(settings, 'host', 'remove', 'rack1', '--yes')).toMatchObject({ outcome: 'forgotten' })
    const pools = await berthdJson<{ host: string }[]>(settings, 'ip-pool', 'list')
    expect(pools.filter((pool) => pool.host === 'rack1')).toEqual([])
  })
})
