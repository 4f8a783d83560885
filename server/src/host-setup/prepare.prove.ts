// A machine becomes a host with one command, is added over TLS, and any damage is repaired or reported. The machine is a sandbox: a
// libvirtd with its own network, files and processes, as Debian's packages install it.
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sandbox } from '../../../libvirt/test/sandboxed-libvirtd.ts'
import { Sandboxes } from '../../../libvirt/test/sandbox-fleet.ts'
import { missingForSandbox } from '../../../libvirt/test/command.ts'
import { describeIf } from '../../../libvirt/test/describe-if.ts'
import { testDatabase } from '../../test/harness.ts'
import { berthd, berthdJson, type Outcome as Ended, type Settings } from '../../test/processes.ts'
import type { Outcome } from './setup-step.ts'

const BERTHD = join(import.meta.dirname, '../../bin/berthd.mjs')

/** An iptables that accepts filter rules without applying them. */
const LAX_IPTABLES = `real=$(readlink -f /usr/sbin/iptables); cp $real /run/real
  printf '%s\\n' '#!/bin/bash' 'case "$*" in *berth-test0*) exit 0;; esac' 'exec -a "\${0##*/}" /run/real "$@"' > /run/lax; chmod +x /run/lax
  mount --bind /run/lax $real`

interface Report {
  ok: boolean
  range: string | null
  steps: Outcome[]
  next: string | null
}

describeIf(missingForSandbox())('berthd host', { timeout: 300_000 }, () => {
  let sandboxes: Sandboxes
  let sandbox: Sandbox
  let folder: string
  let settings: Settings
  let bundle: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-host-'))
    settings = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: folder }
    bundle = join(folder, 'bundle')
    sandboxes = await Sandboxes.open()
    sandbox = await sandboxes.add()
    await sandbox.inside(
      'sh',
      '-c',
      'kill $(cat /run/libvirt/libvirtd.pid) $(cat /run/libvirt/virtlogd.pid); while pgrep -x libvirtd; do sleep 0.1; done',
    )
    await writeFile(join(sandbox.folder, 'etc/libvirtd.conf'), '# as the package has it: nothing is set\n')
    await writeFile(join(sandbox.folder, 'etc/qemu.conf'), 'user = "root"\ngroup = "root"\nsecurity_driver = "none"\n')
  })
  afterAll(async () => {
    await sandboxes?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const host = (...args: string[]): Promise<Ended> => berthd(settings, 'host', ...args)
  const uri = (): string => `qemu+tls://${sandbox.address}/system`
  const inSandbox = (script: string): Promise<string> => sandbox.inside('sh', '-ec', script)

  /** The exit code is in `ok`. */
  async function prepare(...args: string[]): Promise<Report> {
    const line = [process.execPath, BERTHD, 'host', 'prepare', '--json', ...args].join(' ')
    return JSON.parse(await inSandbox(`unset ${Object.keys(settings).join(' ')}; ${line} || true`)) as Report
  }
  const done = ({ steps }: Report): string[] => steps.filter(({ status }) => status === 'done').map(({ step }) => step)
  const failure = ({ steps }: Report): Outcome | undefined => steps.find(({ status }) => status === 'failed')

  test('--dry-run only reports what is missing', async () => {
    const report = await prepare('--dry-run')
    expect(report.ok).toBe(true)
    const missing = report.steps.filter(({ status }) => status === 'missing').map(({ step }) => step)
    // The sandbox has the devices of this machine, where /dev/kvm may be missing or as udev leaves it.
    expect(missing.filter((step) => step !== 'kvm')).toEqual([
      'saved-state',
      'qemu.conf',
      'libvirt',
      'pool',
      'network',
      'uplink',
      'masquerade',
    ])
    expect(await inSandbox('ls /etc/libvirt; ip -br link')).not.toMatch(/berth|bpub/)
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
    expect(await sandbox.virsh('nwfilter-list')).not.toContain('berth-self-test')
    expect(await sandbox.virsh('nwfilter-binding-list')).not.toContain('berth-test')
    expect(await inSandbox('ip addr; ip neigh; iptables -S; ebtables -t nat -L')).not.toMatch(/berth-test|169\.254\.77/)
  })

  test('masquerades VM traffic with the address of the host', async () => {
    const fixture = createServer((socket) => socket.end(socket.remoteAddress ?? ''))
    fixture.listen(0, sandbox.address.replace(/\d+$/, '1'))
    await once(fixture, 'listening')
    const { address, port } = fixture.address() as AddressInfo
    const range = (await prepare('--dry-run')).range!.replace('.0.0/16', '')
    const asked = await inSandbox(`ip netns add vm; ip link add vm0 type veth peer name vm1 netns vm; ip link set vm0 master brpub0 up
      ip -n vm addr add ${range}.9.9/16 dev vm1; ip -n vm link set vm1 up; ip -n vm route add default via ${range}.0.1
      ip netns exec vm ${process.execPath} -e "require('net').connect(${port}, '${address}').setTimeout(10000, () => process.exit(1)).pipe(process.stdout)"
      ip netns del vm`)
    fixture.close()
    expect(asked).toBe(sandbox.address)
  })

  test('accepts only its own control plane', async () => {
    const stranger = { ...settings, BERTH_DATA_DIR: join(folder, 'stranger') }
    const without = await berthd(stranger, 'host', 'add', uri())
    expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('npx berthd host certificate')])
    await berthdJson(stranger, 'host', 'certificate', '--address', sandbox.address, '--out', join(folder, 'other'))
    const refused = await berthd(stranger, 'host', 'add', uri())
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/not of this control plane|trusts another control plane/)])
  })

  test('registers the host with its capacity, once', async () => {
    const added = await berthdJson<{ id: string; range: string }>(settings, 'host', 'add', uri(), '--name', 'rack1', '--region', 'fra1')
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
    ['virsh net-destroy berth-public', 'the network berth-public is not active', ['network', 'uplink']],
    ['kill -9 $(pgrep -x libvirtd)', 'libvirtd does not listen there', ['libvirt']],
  ])('reports and repairs %s', async (damage, said, mended) => {
    await inSandbox(damage)
    const refused = await host('add', uri(), '--name', 'again')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(said)])
    const report = await prepare()
    expect([report.ok, done(report)]).toEqual([true, mended])
  })

  test.each([
    ['ip link del bpub-gw', ['uplink']],
    ['ip link set bpub-up nomaster', ['uplink']],
    ['echo 0 > /proc/sys/net/ipv4/conf/brpub0/arp_ignore', ['uplink']],
    ['iptables -t nat -F BERTH-OUT', ['masquerade']],
    ['iptables -D FORWARD -j BERTH-FORWARD', ['masquerade']],
    ['iptables -F BERTH-INPUT', ['masquerade']],
    ['iptables -t mangle -F BERTH-UNSEEN', ['masquerade']],
    ['echo 0 > /proc/sys/net/ipv4/ip_forward', ['forwarding']],
    ['echo 0 > /proc/sys/net/bridge/bridge-nf-call-iptables', ['forwarding']],
    ['rm /etc/libvirt/storage/autostart/berth.xml', ['pool']],
    ['sleep 1; touch /etc/libvirt/libvirtd.conf', ['libvirt']],
  ])('repairs %s', async (damage, mended) => {
    await inSandbox(damage)
    const report = await prepare()
    expect([report.ok, done(report)]).toEqual([true, mended])
  })

  test('restores everything after a reboot', async () => {
    await inSandbox(`kill -9 $(pgrep -x libvirtd) $(pgrep -x virtlogd); ip link del bpub-gw; ip link del brpub0
      iptables -F; iptables -X; iptables -t nat -F; iptables -t nat -X; iptables -t raw -F; iptables -t raw -X; iptables -t mangle -F; iptables -t mangle -X
      rm -rf /run/libvirt/network /run/libvirt/storage; echo 0 > /proc/sys/net/ipv4/ip_forward`)
    const report = await prepare()
    expect([failure(report), report.ok]).toEqual([undefined, true])
    expect(done(report)).toEqual(expect.arrayContaining(['libvirt', 'forwarding', 'uplink', 'masquerade']))
    expect(done(await prepare())).toEqual([])
  })

  test.each([
    [LAX_IPTABLES, 'umount $(readlink -f /usr/sbin/iptables)', 'A port that a filter denies is open', /iptables -S FORWARD/],
    ['ip addr add 10.201.0.1/24 dev brpub0', 'ip addr del 10.201.0.1/24 dev brpub0', /brpub0 has the address 10.201.0.1/, /ip addr del/],
    ['ip route add 10.64.0.0/10 via 127.0.0.1', 'ip route del 10.64.0.0/10', /overlaps the route 10.64.0.0\/10/, /--range|choose/],
    [
      'echo \'tls_port = "1"\' >> /etc/libvirt/libvirtd.conf',
      "sed -i '$d' /etc/libvirt/libvirtd.conf",
      /libvirtd.conf sets tls_port/,
      /16514/,
    ],
    [
      "virsh net-destroy berth-public; virsh net-undefine berth-public; printf '%s' \"<network><name>berth-public</name><bridge name='brpub0'/><ip address='10.200.0.1' prefix='24'/></network>\" > /run/n.xml; virsh net-define /run/n.xml",
      'virsh net-undefine berth-public',
      /has an address on its bridge/,
      /virsh net-destroy/,
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
