// A real guest on local disks moves to another real host and back while it writes, is pinged and holds a TCP connection; also when the worker is
// killed meanwhile, and while it is off.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { stopwatch } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { clientOf, fleet } from './fleet.ts'
import { GuestShell, type Ran } from './guest-shell.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { berthdJson, eventually, type Service } from './processes.ts'
import { tinyImage } from './tiny-image.ts'
import { addRegionRange, tlsHosts, type TlsHost } from './tls-hosts.ts'

/** Generous, for emulated guests on a loaded machine. */
const TIMEOUT_MS = 240_000
const PING_EVERY_MS = 100
/** Of a connection that is kept, and of others. */
const [KEPT_PORT, OPEN_PORT, CLOSED_PORT] = [7000, 7001, 7002]
/** Lines of a file that is written while the guest moves. */
const LINES = 1_000_000

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const numbersTo = (last: number): string => Array.from({ length: last }, (_, index) => `${index + 1}\n`).join('')

describeIf(missingForLibvirtHost())('a guest that moves between hosts', { timeout: 5 * TIMEOUT_MS }, async () => {
  const { settings, db, start, account, broken } = await fleet()
  let sandboxes: Sandboxes
  let hosts: [TlsHost, TlsHost]
  let shells: Map<string, GuestShell>
  let worker: Service
  let customer: ReturnType<typeof clientOf>
  let [mover, witness, address] = ['', '', '']

  const hostOf = async (vmId: string) => (await db.one<{ host_id: string }>(sql`select host_id from vms where id = ${vmId}`)).host_id
  const run = async (vmId: string, script: string, ...args: string[]): Promise<Ran> =>
    shells.get(await hostOf(vmId))!.run(vmId, script, ...args)
  const inBackground = (vmId: string, script: string): Promise<Ran> => run(vmId, `(${script}) </dev/null >/dev/null 2>&1 &`)
  const connects = async (port: number): Promise<boolean> =>
    (await run(witness, '(echo heard; sleep 1) | nc -w 3 "$0" "$1"', address, String(port))).output.includes('heard')
  /** Its firewall lets the first through. */
  const ports = async (): Promise<boolean[]> => [await connects(OPEN_PORT), await connects(CLOSED_PORT)]

  beforeAll(async () => {
    const image = await tinyImage()
    sandboxes = await Sandboxes.open()
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
    await berthdJson(settings, 'template', 'import', 'tiny', '--file', image.path)
    hosts = (await tlsHosts(sandboxes, settings, ['left', 'right'])) as [TlsHost, TlsHost]
    await addRegionRange(settings, db, '10.90.0.0/24', '10.90.0.1')
    shells = new Map(hosts.map(({ id, sandbox }) => [id, new GuestShell(sandboxes.unix(sandbox), TIMEOUT_MS)]))
    const [api, { token }] = [await start('api'), await account(1_000_000n)]
    worker = await start('worker')
    customer = clientOf(token, () => api)
    const ids = await db.one<{ regionId: string }>(sql`
      select (select id from regions) as "regionId", (select id from os_templates where slug = 'tiny') as "osTemplateId",
        (select id from plans where slug = 'nano') as "planId"`)
    const network = (await customer.send('POST', '/networks', { name: 'lan', nodeId: ids.regionId, cidr: '10.201.0.0/24' })).data
    const firewall = (await customer.send('POST', '/firewalls', { name: 'lan', coversPrivate: true })).data
    for (const rule of [{ protocol: 'ICMP' }, { protocol: 'TCP', port: `${KEPT_PORT},${OPEN_PORT}` }]) {
      const { error } = await customer.send('POST', `/firewalls/${firewall.id}/rules`, { direction: 'IN', action: 'ACCEPT', ...rule })
      if (error !== undefined) throw new Error(error)
    }
    const create = async (hostname: string, more: object = {}): Promise<string> =>
      (await order('POST', '/vms', { ...ids, hostname, privateNetworkIds: [network.id], ...more })).vm.id
    await berthdJson(settings, 'host', 'set', 'right', '--maintenance', 'on')
    mover = await create('mover', { firewallIds: [firewall.id] })
    await berthdJson(settings, 'host', 'set', 'right', '--maintenance', 'off')
    await berthdJson(settings, 'host', 'set', 'left', '--maintenance', 'on')
    witness = await create('witness')
    await berthdJson(settings, 'host', 'set', 'left', '--maintenance', 'off')
    address = (await db.one<{ address: string }>(sql`select host(address) as address from network_attachments where vm_id = ${mover}`))
      .address
  }, 3 * TIMEOUT_MS)
  afterAll(async () => {
    for (const shell of shells?.values() ?? []) await shell.close()
    await sandboxes?.close()
  })

  async function ended(actionId: string): Promise<void> {
    const found = await eventually(async () => {
      const row = await db.one<{ status: string; error: unknown }>(sql`select status, error from workflow_runs where id = ${actionId}`)
      return !['PENDING', 'RUNNING'].includes(row.status) && row
    }, TIMEOUT_MS)
    expect(found).toMatchObject({ status: 'COMPLETED', error: null })
  }

  async function order(method: string, path: string, body?: object) {
    const { status, error, data } = await customer.send(method, path, body)
    expect([status, error]).toEqual([202, undefined])
    await ended(data.actionId)
    return data
  }

  const begin = async (to: TlsHost): Promise<string> =>
    (await berthdJson<{ actionId: string }>(settings, 'vm', 'migrate', mover, '--to', to.name)).actionId

  async function migrate(to: TlsHost): Promise<void> {
    const elapsedMs = stopwatch()
    await ended(await begin(to))
    console.log(`moved to ${to.name} in ${(elapsedMs() / 1000).toFixed(1)} s`)
    await expectOnlyOn(to)
  }

  /** Nor is anything of it on the other host. */
  async function expectOnlyOn(host: TlsHost): Promise<void> {
    expect(await hostOf(mover)).toBe(host.id)
    for (const each of hosts) {
      const machines = await each.sandbox.virsh('list', '--all', '--name')
      const files = await each.sandbox.inside('ls', '/var/lib/libvirt/images/berth')
      expect([machines.includes(mover), files.includes(mover)]).toEqual([each === host, each === host])
    }
  }

  /** Of the replies to pings, by the numbers that are missing. */
  async function longestGapMs(): Promise<number> {
    const { output } = await run(witness, 'cat /root/pings')
    const numbers = [...output.matchAll(/seq=(\d+)/g)].map(([, number]) => Number(number))
    expect(numbers.length).toBeGreaterThan(20)
    return Math.max(...numbers.slice(1).map((number, index) => number - numbers[index]!)) * PING_EVERY_MS
  }

  const sumOf = async (file: string): Promise<string> =>
    (await run(mover, 'sync; echo 3 > /proc/sys/vm/drop_caches; sha256sum "$0" | cut -c-64', file)).output.trim()

  test('is moved there and back while it writes, is pinged and is connected to', async () => {
    const [left, right] = hosts
    expect(await hostOf(mover)).toBe(left.id)
    await expect.poll(async () => (await run(witness, 'ping -c 1 -W 2 "$0"', address)).exitCode, { timeout: 60_000 }).toBe(0)
    await run(mover, 'head -c 20000000 /dev/urandom > /root/before; sync')
    const before = await sumOf('/root/before')
    await inBackground(mover, `nc -l -p ${KEPT_PORT} -e cat`)
    for (const port of [OPEN_PORT, CLOSED_PORT]) await inBackground(mover, `nc -ll -p ${port} -e cat`)
    expect(await ports()).toEqual([true, false])
    await inBackground(witness, `ping -i ${PING_EVERY_MS / 1000} ${address} > /root/pings`)
    await inBackground(witness, `i=0; while :; do i=$((i + 1)); echo $i; sleep 0.2; done | nc ${address} ${KEPT_PORT} > /root/echoes`)
    await inBackground(mover, `seq 1 ${LINES} > /root/during; sync`)

    await migrate(right)
    await migrate(left)

    const echoed = async (): Promise<number[]> => (await run(witness, 'cat /root/echoes')).output.trim().split('\n').map(Number)
    const count = (await echoed()).length
    await expect.poll(async () => (await echoed()).length, { timeout: 30_000 }).toBeGreaterThan(count)
    const echoes = await echoed()
    expect(echoes).toEqual(echoes.map((_, index) => index + 1))
    await run(witness, 'killall ping nc')
    console.log(`the longest gap of its pings was ${await longestGapMs()} ms; its TCP connection went on`)
    await expect.poll(async () => sumOf('/root/during'), { timeout: TIMEOUT_MS }).toBe(sha256(numbersTo(LINES)))
    expect(await sumOf('/root/before')).toBe(before)
    expect(await ports()).toEqual([true, false])
    expect(await broken()).toBe('')
  })

  test('is moved once, when the worker is killed meanwhile', async () => {
    const [, right] = hosts
    const actionId = await begin(right)
    const isMoving = () => db.maybe(sql`select from workflow_steps where run_id = ${actionId} and name = 'move' and status = 'RUNNING'`)
    await eventually(isMoving, TIMEOUT_MS)
    await worker.kill('SIGKILL')
    worker = await start('worker')
    await ended(actionId)
    await expectOnlyOn(right)
    expect(await ports()).toEqual([true, false])
    expect(await sumOf('/root/during')).toBe(sha256(numbersTo(LINES)))
    expect(await broken()).toBe('')
  })

  test('is moved while it is off, and starts there', async () => {
    const [left] = hosts
    await order('POST', `/vms/${mover}/stop`, { force: true })
    await migrate(left)
    await order('POST', `/vms/${mover}/start`)
    expect(await sumOf('/root/during')).toBe(sha256(numbersTo(LINES)))
    await expect.poll(async () => (await run(witness, 'ping -c 1 -W 2 "$0"', address)).exitCode, { timeout: 60_000 }).toBe(0)
    expect(await broken()).toBe('')
  })
})
