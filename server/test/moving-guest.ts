// Two real hosts over TLS, a guest on the first, with a firewall, and another on the second that watches it, in a network of both. The firewall lets
// the guest be pinged, and does not let it ping.
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { stopwatch } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { startCeph, type CephCluster } from './ceph.ts'
import { clientOf, fleet, orderCompleted } from './fleet.ts'
import { GuestShell, type Ran } from './guest-shell.ts'
import { berthdJson, eventually, type Service } from './processes.ts'
import { tinyImage } from './tiny-image.ts'
import { addRegionRange, tlsHosts, type TlsHost } from './tls-hosts.ts'

/** Generous, for emulated guests on a loaded machine. */
export const TIMEOUT_MS = 240_000
/** Of a connection that is kept, and of others. */
export const KEPT_PORT = 7000
const [OPEN_PORT, CLOSED_PORT] = [7001, 7002]

/** Lines of a file that is written while the guest moves, and their checksum. */
export const LINES = 1_000_000
export const SUM_OF_LINES = createHash('sha256')
  .update(Array.from({ length: LINES }, (_, index) => `${index + 1}\n`).join(''))
  .digest('hex')

/** `replicated`: their disks are in a Ceph cluster of this machine. */
export async function movingGuest({ replicated = false } = {}) {
  const { settings, db, start, account, broken } = await fleet()
  const folder = await mkdtemp(join(tmpdir(), 'berth-moving-'))
  const hosts: TlsHost[] = []
  const shells = new Map<string, GuestShell>()
  const vms = { mover: '', witness: '', address: '', witnessAddress: '', firewallId: '' }
  let sandboxes: Sandboxes | undefined
  let cluster: CephCluster | undefined
  let worker: Service
  let customer: ReturnType<typeof clientOf>

  beforeAll(async () => {
    const image = await tinyImage()
    sandboxes = await Sandboxes.open()
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
    await berthdJson(settings, 'template', 'import', 'tiny', '--file', image.path)
    hosts.push(...(await tlsHosts(sandboxes, settings, ['left', 'right'])))
    const slug = await addRegionRange(settings, db, '10.90.0.0/24', '10.90.0.1')
    if (replicated) await addCluster(slug)
    for (const { id, sandbox } of hosts) shells.set(id, new GuestShell(sandboxes.unix(sandbox), TIMEOUT_MS))
    const [api, { token }] = [await start('api'), await account(1_000_000n)]
    worker = await start('worker')
    customer = clientOf(token, () => api)
    await createVms()
  }, 3 * TIMEOUT_MS)
  afterAll(async () => {
    for (const shell of shells.values()) await shell.close()
    await sandboxes?.close()
    await cluster?.close()
    await rm(folder, { recursive: true })
  })

  async function addCluster(slug: string): Promise<void> {
    cluster = await startCeph({ address: hosts[0]!.sandbox.address.replace(/\d+$/, '1') })
    const { pool, monitors, user, key } = await cluster.addPool()
    await writeFile(join(folder, 'key'), key)
    const access = ['--monitors', ...monitors, '--pool', pool, '--user', user, '--key-file', join(folder, 'key')]
    await berthdJson(settings, 'storage', 'add', 'ceph', '--region', slug, ...access)
    await db.run(sql`update plans set storage = 'REPLICATED', disk_gib = 1 where slug = 'nano'`)
  }

  async function createVms(): Promise<void> {
    const ids = await db.one<{ regionId: string }>(sql`
      select (select id from regions) as "regionId", (select id from os_templates where slug = 'tiny') as "osTemplateId",
        (select id from plans where slug = 'nano') as "planId"`)
    const network = (await customer.send('POST', '/networks', { name: 'lan', nodeId: ids.regionId, cidr: '10.201.0.0/24' })).data
    const firewall = (await customer.send('POST', '/firewalls', { name: 'lan', coversPrivate: true })).data
    const ruleFor = { direction: 'IN', action: 'ACCEPT' }
    const { error } = await customer.send('PUT', `/firewalls/${firewall.id}/rules`, {
      rules: [
        { ...ruleFor, protocol: 'ICMP' },
        { ...ruleFor, protocol: 'TCP', port: `${KEPT_PORT},${OPEN_PORT}` },
        { direction: 'OUT', action: 'DROP', protocol: 'ICMP' },
        { direction: 'OUT', action: 'ACCEPT', protocol: 'ANY' },
      ],
    })
    if (error !== undefined) throw new Error(error)
    vms.firewallId = firewall.id
    const create = async (hostname: string, more: object = {}): Promise<string> =>
      (await order('POST', '/vms', { ...ids, hostname, privateNetworkIds: [network.id], ...more })).vm.id
    await berthdJson(settings, 'host', 'set', 'right', '--maintenance', 'on')
    vms.mover = await create('mover', { firewallIds: [firewall.id] })
    await berthdJson(settings, 'host', 'set', 'right', '--maintenance', 'off')
    await berthdJson(settings, 'host', 'set', 'left', '--maintenance', 'on')
    vms.witness = await create('witness')
    await berthdJson(settings, 'host', 'set', 'left', '--maintenance', 'off')
    const addressOf = (vmId: string) =>
      db.one<{ address: string }>(sql`select host(address) as address from network_attachments where vm_id = ${vmId}`)
    vms.address = (await addressOf(vms.mover)).address
    vms.witnessAddress = (await addressOf(vms.witness)).address
  }

  const order = (method: string, path: string, body?: object) => orderCompleted(db, customer, TIMEOUT_MS, method, path, body)
  const hostOf = async (vmId: string) => (await db.one<{ host_id: string }>(sql`select host_id from vms where id = ${vmId}`)).host_id
  const run = async (vmId: string, script: string, ...args: string[]): Promise<Ran> =>
    shells.get(await hostOf(vmId))!.run(vmId, script, ...args)
  const inBackground = (vmId: string, script: string): Promise<Ran> => run(vmId, `(${script}) </dev/null >/dev/null 2>&1 &`)
  const connects = async (port: number): Promise<boolean> =>
    (await run(vms.witness, '(echo heard; sleep 1) | nc -w 3 "$0" "$1"', vms.address, String(port))).output.includes('heard')

  const answers = async (): Promise<boolean> => (await run(vms.witness, 'ping -c 1 -W 2 "$0"', vms.address)).exitCode === 0

  const outcome = (actionId: string) =>
    eventually(async () => {
      const row = await db.one<{ status: string; error: unknown }>(sql`select status, error from workflow_runs where id = ${actionId}`)
      return !['PENDING', 'RUNNING'].includes(row.status) && row
    }, TIMEOUT_MS)
  const begin = async (to: TlsHost): Promise<string> =>
    (await berthdJson<{ actionId: string }>(settings, 'vm', 'migrate', vms.mover, '--to', to.name)).actionId

  /** Nor is anything of it on the other host. */
  async function isOnlyOn(host: TlsHost): Promise<boolean> {
    const parts = await Promise.all(
      hosts.map(async (each) => {
        const machines = await each.sandbox.virsh('list', '--all', '--name')
        const files = await each.sandbox.inside('ls', '/var/lib/libvirt/images/berth')
        return [machines.includes(vms.mover), files.includes(vms.mover)].every((has) => has === (each === host))
      }),
    )
    return parts.every(Boolean)
  }
  async function expectOnlyOn(host: TlsHost): Promise<void> {
    expect(await hostOf(vms.mover)).toBe(host.id)
    expect(await isOnlyOn(host)).toBe(true)
  }

  return {
    db,
    broken,
    hosts,
    vms,
    order,
    run,
    inBackground,
    begin,
    outcome,
    isOnlyOn,
    expectOnlyOn,
    customer: () => customer,
    host: async (): Promise<TlsHost> => {
      const id = await hostOf(vms.mover)
      return hosts.find((host) => host.id === id)!
    },
    status: async () => (await db.one<{ status: string }>(sql`select status from vms where id = ${vms.mover}`)).status,
    /** In this step, or beyond it. */
    hasBegun: (actionId: string, step: string) =>
      eventually(
        () => db.maybe(sql`select from workflow_steps where run_id = ${actionId} and name = ${step} and status <> 'PENDING'`),
        TIMEOUT_MS,
      ),
    async restartWorker(): Promise<void> {
      await worker.kill('SIGKILL')
      worker = await start('worker')
    },
    /** Returns how many seconds it took. */
    async migrate(to: TlsHost): Promise<number> {
      const elapsedMs = stopwatch()
      expect(await outcome(await begin(to))).toMatchObject({ status: 'COMPLETED', error: null })
      await expectOnlyOn(to)
      return elapsedMs() / 1000
    },
    /** Those that the firewall opens, and closes. */
    ports: async (): Promise<boolean[]> => [await connects(OPEN_PORT), await connects(CLOSED_PORT)],
    serve: async (): Promise<void> => {
      for (const port of [OPEN_PORT, CLOSED_PORT]) await inBackground(vms.mover, `nc -ll -p ${port} -e cat`)
    },
    answers,
    async answersPings(): Promise<void> {
      await expect.poll(answers, { timeout: 60_000 }).toBe(true)
    },
    sumOf: async (file: string): Promise<string> =>
      (await run(vms.mover, 'sync; dd if="$0" bs=64k iflag=direct | sha256sum | cut -c-64', file)).output.trim(),
    /** Of the replies to pings in this file of the witness, by the numbers that are missing. */
    async longestGap(file: string, everyMs: number): Promise<number> {
      const { output } = await run(
        vms.witness,
        `awk -F'seq=' 'NF > 1 { split($2, n, " "); if (last != "" && n[1] - last > gap) gap = n[1] - last; last = n[1]; count++ } END { print gap, count }' "$0"`,
        file,
      )
      const [gap, count] = output.trim().split(' ').map(Number)
      expect(count).toBeGreaterThan(20)
      return gap! * everyMs
    },
  }
}
