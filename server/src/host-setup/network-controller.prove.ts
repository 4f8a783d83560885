// Three machines become the network controllers of a region, a fourth one its host: with the commands of the handbook, over TLS only.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { describeIf } from '../../../libvirt/test/describe-if.ts'
import { Sandboxes } from '../../../libvirt/test/sandbox-fleet.ts'
import type { Sandbox } from '../../../libvirt/test/sandboxed-libvirtd.ts'
import { openAuthorities, type TestAuthorities } from '../../test/authorities.ts'
import { bareMachine, done, failure, missingForMachine, type BareMachine, type Report } from '../../test/bare-machine.ts'
import { testDatabase } from '../../test/harness.ts'
import { berthd, berthdJson, service, type Settings } from '../../test/processes.ts'
import { libvirtDrivers } from '../hypervisor/libvirt/driver.ts'
import type { NetworkController } from '../hypervisor/network-controller.ts'
import { openOvn } from '../hypervisor/ovn/controller.ts'
import { addDuration, sleep, systemClock } from '../kernel/clock.ts'
import { readAuthorityFiles, type AuthorityStore } from './authority-files.ts'
import { issueChassis, openAuthority } from './certificate-authority.ts'
import { run } from './shell.ts'
import { daysLeft } from './signing.ts'

const soon = (): AbortSignal => AbortSignal.timeout(30_000)

describeIf(missingForMachine())('network controllers', { timeout: 300_000 }, () => {
  let folder: string
  let settings: Settings
  let sandboxes: Sandboxes
  let members: BareMachine[]
  let host: BareMachine
  let controller: NetworkController | undefined
  let authorities: TestAuthorities

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-controllers-'))
    settings = { BERTH_DATABASE_URL: await testDatabase(), BERTH_DATA_DIR: folder }
    authorities = await openAuthorities(settings['BERTH_DATABASE_URL']!, folder)
    sandboxes = await Sandboxes.open()
    members = []
    for (let number = 1; number <= 3; number++) members.push(await bareMachine(await sandboxes.add()))
    host = await bareMachine(await sandboxes.add())
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
  }, 120_000)
  afterAll(async () => {
    await controller?.close()
    await authorities?.close()
    await (await strangers)?.close()
    await sandboxes?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Another control plane. */
  let strangers: Promise<TestAuthorities> | undefined
  const openStranger = (): Promise<TestAuthorities> =>
    (strangers ??= (async () => {
      await mkdir(join(folder, 'stranger'))
      return openAuthorities(await testDatabase(), join(folder, 'stranger'))
    })())

  const addressOf = ({ sandbox }: { sandbox: Sandbox }): string => sandbox.address
  const uri = (): string => `ssl:${members.map(addressOf).join(',')}`
  const issue = async (machine: BareMachine): Promise<string> => {
    const out = join(folder, `bundle-${addressOf(machine)}`)
    const all = ['--members', ...members.map(addressOf)]
    await berthdJson(settings, 'network-controller', 'certificate', '--address', addressOf(machine), '--out', out, ...all)
    return out
  }
  const prepareController = (machine: BareMachine, ...args: string[]): Promise<Report> =>
    machine.berthd('network-controller', 'prepare', ...args)
  const leader = async (): Promise<BareMachine> => {
    const status = 'ovn-appctl -t /run/ovn/ovnnb_db.ctl cluster/status OVN_Northbound'
    for (const machine of members) if ((await machine.shell(status).catch(() => '')).includes('Role: leader')) return machine
    throw new Error('no leader')
  }

  test('a member waits for the first one, which makes the cluster', async () => {
    const early = await prepareController(members[1]!, '--certificate', await issue(members[1]!))
    expect(failure(early)).toMatchObject({
      message: expect.stringContaining('No other member answers'),
      fix: expect.stringContaining(`prepare ${addressOf(members[0]!)} first`),
    })
    // A host that has networks of its own keeps them, in the cluster that it makes.
    const [first] = members
    expect(failure(await first!.prepare())).toBeUndefined()
    await first!.shell('ovn-nbctl ls-add kept')
    for (const machine of members) {
      const report = await prepareController(machine, '--certificate', await issue(machine))
      expect([failure(report), done(report)]).toEqual([undefined, ['certificate', 'member-ports', 'network-controller']])
    }
    for (const machine of members) expect(done(await prepareController(machine))).toEqual([])
    expect(await members[2]!.shell('ovn-nbctl --no-leader-only ls-list')).toContain('(kept)')
    expect([failure(await first!.prepare()), await first!.shell('ovs-vsctl get Open_vSwitch . external_ids:ovn-encap-ip')]).toEqual([
      undefined,
      `"${addressOf(first!)}"\n`,
    ])
  })

  test('the region is theirs once one of them answers', async () => {
    const wrong = await berthd(settings, 'region', 'set', 'fra1', '--network-controller', 'ssl:10.98.1.1')
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('does not answer, so nothing was changed')])
    await berthdJson(settings, 'region', 'set', 'fra1', '--network-controller', uri())
  })

  test('a host joins them', async () => {
    const bundle = join(folder, 'bundle')
    await berthdJson(settings, 'host', 'certificate', '--address', addressOf(host), '--out', bundle)
    const report = await host.prepare('--certificate', bundle)
    expect(failure(report)).toBeUndefined()
    expect(done(await host.prepare())).toEqual([])
    await berthdJson(settings, 'host', 'add', `qemu+tls://${addressOf(host)}/system`, '--name', 'rack1')
    // No daemon of a controller runs on it, and the only port that is open to others is libvirt's.
    expect(await host.shell('pgrep -x ovn-northd || true')).toBe('')
    expect((await host.shell("ss -Hlnt | awk '{ print $4 }'")).trim()).toBe(`${addressOf(host)}:16514`)
  })

  const network = (networkId: string): Parameters<NetworkController['ensureNetwork']>[0] => ({
    networkId,
    cidr: '10.0.0.0/24',
    gateway: '10.0.0.1',
    enableDhcp: true,
    dns: [],
    snat: null,
    routes: [],
    peers: [],
  })

  test('changes reach the host through any of them, also when the leader is killed', async () => {
    controller = openOvn(uri(), { log: pino({ level: 'silent' }), access: authorities.access })
    const name = (await host.shell('hostname')).trim()
    const port = {
      vmId: 'vm',
      mac: '52:54:00:00:00:01',
      networkId: 'neta',
      addresses: ['10.0.0.2'],
      ranges: [],
      host: name,
      limitMbps: null,
      filter: null,
    }
    await controller.ensureNetwork(network('neta'), soon())
    await controller.ensurePort(port, soon())
    const down = await leader()
    await down.shell('kill -9 $(pgrep -x ovsdb-server) $(pgrep -x ovn-northd)')
    await expect
      .poll(() => controller!.ensurePort({ ...port, limitMbps: 10 }, soon()).then(() => true, String), { timeout: 60_000 })
      .toBe(true)
    await controller.ensureNetwork(network('netb'), soon())
    expect(done(await prepareController(down))).toEqual(['network-controller'])
    await controller.ensurePort({ ...port, networkId: 'netb', mac: '52:54:00:00:00:02' }, soon())
  })

  /** What a stolen certificate of a host can do. */
  const asChassis = (tool: string, port: number, command: string): Promise<string> => {
    const files = '-p /etc/libvirt/berth/chassis.pem -c /etc/libvirt/berth/chassis.pem -C /etc/libvirt/berth/network-ca.pem'
    const all = members.map((each) => `ssl:${addressOf(each)}:${port}`).join(',')
    return host.shell(`${tool} --timeout=5 --db=${all} ${files} ${command} 2>&1 && echo allowed || true`)
  }

  test('a host reads no northbound database and takes no part in the cluster', async () => {
    expect(await asChassis('ovn-nbctl', 6641, 'show')).not.toContain('allowed')
    for (const port of [6643, 6644, 16642])
      expect(await host.shell(`timeout 3 bash -c 'echo > /dev/tcp/${addressOf(members[0]!)}/${port}' 2>&1 || echo closed`)).toContain(
        'closed',
      )
  })

  test('a host changes only its own rows of the southbound database', async () => {
    expect(await asChassis('ovn-sbctl', 6642, 'show')).toContain('allowed')
    expect(await asChassis('ovn-sbctl', 6642, 'chassis-add other geneve 10.98.1.1')).toMatch(/permission|not allowed|RBAC/i)
    expect(await asChassis('ovn-sbctl', 6642, '--all destroy Logical_Flow')).toMatch(/permission|not allowed|RBAC/i)
  })

  test('the certificate of a host is renewed over libvirt, and used without a restart', async () => {
    const images = { open: () => Promise.reject(new Error('none')) }
    const driver = libvirtDrivers({ log: pino({ level: 'silent' }), images, access: authorities.access })({
      id: 'rack1',
      driver: 'libvirt',
      uri: `qemu+tls://${addressOf(host)}/system`,
    })
    const serial = (): Promise<string> => host.shell('openssl x509 -noout -serial -in /etc/libvirt/berth/chassis.pem')
    const renew = async (left: string, by: AuthorityStore = authorities): Promise<[string[], string]> => {
      const asked: string[] = []
      const issue = (name: string) => (asked.push(name), issueChassis(by, name))
      await driver.ensureChassisCertificate(addDuration(systemClock.now(), left), issue, soon())
      return [asked, await serial()]
    }
    const status = async (): Promise<string> => {
      for (const each of members) await each.shell('ovn-appctl -t /run/ovn/ovnsb_db.ctl ovsdb-server/reconnect')
      await sleep(2_000)
      return host.shell('ovn-appctl -t ovn-controller connection-status')
    }
    const first = await serial()
    expect(await renew('20d')).toEqual([[], first])
    const stranger = await openStranger()
    await openAuthority(stranger)
    expect(await renew('31d', stranger)).toEqual([[addressOf(host)], expect.not.stringContaining(first)])
    await expect.poll(status, { timeout: 30_000 }).toBe('not connected\n')
    expect(await renew('31d')).toEqual([[addressOf(host)], expect.not.stringContaining(first)])
    await expect.poll(status, { timeout: 30_000 }).toBe('connected\n')
    expect(await host.shell('stat -c %a /etc/libvirt/berth/chassis.pem')).toBe('600\n')
    expect(done(await host.prepare())).toEqual([])
    await driver.close()
  })

  test('the worker renews it when it ends within 20 days', async () => {
    const pki = (name: string): string => join(folder, name)
    for (const [name, text] of await readAuthorityFiles(authorities, ['chassis-ca.pem', 'chassis-ca.key'])) await writeFile(pki(name), text)
    const [cert, key] = [join(folder, 'ending.pem'), join(folder, 'ending.key')]
    const signed = ['-CA', pki('chassis-ca.pem'), '-CAkey', pki('chassis-ca.key'), '-days', '5', '-subj', `/CN=${addressOf(host)}`]
    await run(
      'openssl',
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      ...signed,
      '-keyout',
      key,
      '-out',
      cert,
    )
    await host.shell(`cat ${cert} ${key} > /etc/libvirt/berth/chassis.pem`)
    const worker = await service({ ...settings, BERTH_HYPERVISOR: 'simulated', BERTH_PORT: '0' }, 'worker')
    onTestFinished(async () => void (await worker.kill('SIGTERM')))
    const left = async (): Promise<number> => daysLeft(await host.shell('cat /etc/libvirt/berth/chassis.pem'))
    await expect.poll(left, { timeout: 60_000 }).toBeGreaterThan(29)
  })

  test('a certificate of another control plane is refused', async () => {
    const stranger = { ...settings, BERTH_DATABASE_URL: (await openStranger()).db.url, BERTH_DATA_DIR: join(folder, 'stranger') }
    await berthdJson(stranger, 'network-controller', 'certificate', '--address', '10.0.0.1', '--out', join(folder, 'other'))
    const refused = await berthd(stranger, 'region', 'set', 'fra1', '--network-controller', uri())
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('does not answer')])
  })
})
