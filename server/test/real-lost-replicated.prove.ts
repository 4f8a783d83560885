// A real host is cut off its network while its guest, whose disk is in a real Ceph cluster, writes a journal. It is fenced, the guest starts on
// another host, and the machine that still runs on the first one writes nothing any more, also when it is connected again.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sleep, stopwatch } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { missingForCeph, startCeph, type CephCluster } from './ceph.ts'
import { clientOf, fleet, orderCompleted } from './fleet.ts'
import { GuestShell } from './guest-shell.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { berthd, berthdJson, eventually } from './processes.ts'
import { tinyImage } from './tiny-image.ts'
import { addRegionRange, tlsHosts, type TlsHost } from './tls-hosts.ts'

/** Generous, for emulated guests on a loaded machine. */
const TIMEOUT_MS = 240_000
/** From the cut until the guest answers on another host. */
const GOAL_SECONDS = 90
const JOURNAL = '/root/journal'

interface ListedHost {
  name: string
  state: string
  paths: { path: string; silentSince: string | null; problem: string | null }[]
}

describeIf(missingForLibvirtHost() ?? missingForCeph())('a host that is cut off', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { settings, db, start, account, broken } = await fleet()
  const folder = await mkdtemp(join(tmpdir(), 'berth-lost-'))
  let sandboxes: Sandboxes
  let cluster: CephCluster
  let [left, right]: TlsHost[] = []
  let [onLeft, onRight]: GuestShell[] = []
  let customer: ReturnType<typeof clientOf>
  let [writer, off, witness] = ['', '', '']

  const place = (vmId: string) =>
    db.one<{ host_id: string; address: string; mac: string; inside: string }>(sql`
      select v.host_id, host(v.ip_address) as address, v.mac::text, host(a.address) as inside
      from vms v join network_attachments a on a.vm_id = v.id where v.id = ${vmId}`)
  const blocked = async () => Object.keys((JSON.parse(await cluster.ceph('osd', 'dump', '-f', 'json')) as { blocklist: object }).blocklist)
  const listed = async (name: string) => (await berthdJson<ListedHost[]>(settings, 'host', 'list')).find((host) => host.name === name)!
  /** The numbers in the journal as they are on the disk. */
  const journalOf = async (shell: GuestShell): Promise<number[]> => {
    const { output } = await shell.run(writer, `echo 3 > /proc/sys/vm/drop_caches; cat ${JOURNAL}`)
    return output.trim().split('\n').map(Number)
  }

  /** How many seconds each took. */
  const stepsOf = async (workflow: string): Promise<Record<string, number>> => {
    const done = async () => {
      const rows = await db.many<{ name: string; seconds: number | null }>(sql`
        select s.name, extract(epoch from s.completed_at - s.started_at)::float8 as seconds
        from workflow_steps s join workflow_runs r on r.id = s.run_id where r.subject_id = ${writer} and r.name = ${workflow} order by s.position`)
      return rows.every(({ seconds }) => seconds !== null) && rows
    }
    return Object.fromEntries((await eventually(done, TIMEOUT_MS)).map(({ name, seconds }) => [name, Math.round(seconds! * 10) / 10]))
  }

  beforeAll(async () => {
    const image = await tinyImage()
    sandboxes = await Sandboxes.open()
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
    await berthdJson(settings, 'template', 'import', 'tiny', '--file', image.path)
    ;[left, right] = await tlsHosts(sandboxes, settings, ['left', 'right'])
    const slug = await addRegionRange(settings, db, '10.90.0.0/24', '10.90.0.1')
    cluster = await startCeph({ address: left!.sandbox.address.replace(/\d+$/, '1') })
    const { pool, monitors, user, key } = await cluster.addPool()
    await writeFile(join(folder, 'key'), key)
    const access = ['--monitors', ...monitors, '--pool', pool, '--user', user, '--key-file', join(folder, 'key')]
    await berthdJson(settings, 'storage', 'add', 'ceph', '--region', slug, ...access)
    await db.run(sql`update plans set storage = 'REPLICATED', disk_gib = 1 where slug = 'nano'`)
    await berthdJson(settings, 'region', 'set', slug, '--lost-after', '10', '--auto-recovery', 'true')
    ;[onLeft, onRight] = [left!, right!].map(({ sandbox }) => new GuestShell(sandboxes.unix(sandbox), TIMEOUT_MS))
    const [api, { token }] = [await start('api'), await account(1_000_000n)]
    await start('worker')
    customer = clientOf(token, () => api)
    const ids = await db.one<{ regionId: string }>(sql`
      select (select id from regions) as "regionId", (select id from os_templates where slug = 'tiny') as "osTemplateId",
        (select id from plans where slug = 'nano') as "planId"`)
    const { id: networkId } = (await customer.send('POST', '/networks', { name: 'lan', nodeId: ids.regionId, cidr: '10.201.0.0/24' }))
      .data as unknown as { id: string }
    const create = async (hostname: string): Promise<string> =>
      (await order('POST', '/vms', { ...ids, hostname, privateNetworkIds: [networkId] })).vm.id
    await berthdJson(settings, 'host', 'set', 'right', '--maintenance', 'on')
    ;[writer, off] = [await create('writer'), await create('off')]
    await order('POST', `/vms/${off}/stop`, { force: true })
    await berthdJson(settings, 'host', 'set', 'right', '--maintenance', 'off')
    await berthdJson(settings, 'host', 'set', 'left', '--maintenance', 'on')
    witness = await create('witness')
    await berthdJson(settings, 'host', 'set', 'left', '--maintenance', 'off')
  }, 3 * TIMEOUT_MS)
  afterAll(async () => {
    for (const shell of [onLeft, onRight]) await shell?.close()
    await sandboxes?.close()
    await cluster?.close()
    await rm(folder, { recursive: true })
  })

  const order = (method: string, path: string, body?: object) => orderCompleted(db, customer, TIMEOUT_MS, method, path, body)

  test('is known to Ceph by its address, and is not fenced while it answers', async () => {
    await eventually(
      () => db.maybe(sql`select from host_storage_clients where host_id = ${left!.id} and address = ${left!.sandbox.address}`),
      TIMEOUT_MS,
    )
    const bold = await berthd(settings, 'host', 'fence', 'left', '--yes')
    expect([bold.code, bold.stderr]).toEqual([1, expect.stringContaining('Host left answers')])
    expect(await blocked()).toEqual([])
  })

  let before: Awaited<ReturnType<typeof place>>
  let last = 0

  test('is fenced, and its guest goes on elsewhere with its disk and addresses', async () => {
    before = await place(writer)
    await onLeft!.run(writer, `(i=0; while :; do i=$((i + 1)); echo $i >> ${JOURNAL}; sync; sleep 0.2; done) </dev/null >/dev/null 2>&1 &`)
    await eventually(async () => (await journalOf(onLeft!)).length > 10, TIMEOUT_MS)
    const elapsedMs = stopwatch()
    await left!.cutOff()
    const took: Record<string, number> = {}
    const noted = async (what: string, happened: () => Promise<unknown>): Promise<void> => {
      await eventually(happened, TIMEOUT_MS)
      took[what] = Math.round(elapsedMs() / 100) / 10
    }
    await noted('unreachable', () => db.maybe(sql`select from hosts where id = ${left!.id} and unreachable_since is not null`))
    await noted(
      'silent on every path',
      async () => (await db.maybe(sql`select from host_fences where host_id = ${left!.id}`)) !== undefined,
    )
    await noted('fenced', () => db.maybe(sql`select from hosts where id = ${left!.id} and fenced_at is not null`))
    expect(await blocked()).toContain(`${left!.sandbox.address}:0/0`)
    await noted('placed elsewhere', async () => (await place(writer)).host_id === right!.id)
    await noted('agent answers', async () => {
      const { output } = await onRight!.run(writer, 'echo up').catch(() => ({ output: '' }))
      return output.includes('up')
    })
    console.log(
      `seconds from the cut: ${JSON.stringify(took)}; steps: ${JSON.stringify(await stepsOf('vm.recover'))}; as it was created: ${JSON.stringify(await stepsOf('vm.provision'))}`,
    )
    expect(took['agent answers']).toBeLessThan(GOAL_SECONDS)
    const { state, paths } = await listed('left')
    expect([state, paths.find(({ path }) => path === 'CHASSIS')]).toMatchObject([
      expect.stringContaining('fenced since'),
      { problem: null, silentSince: expect.any(String) },
    ])

    expect(await place(writer)).toEqual({ ...before, host_id: right!.id })
    expect((await place(off)).host_id).toBe(right!.id)
    const numbers = await journalOf(onRight!)
    last = numbers.at(-1)!
    expect(numbers).toEqual(Array.from({ length: last }, (_, index) => index + 1))
    const pings = async () => (await onRight!.run(witness, 'ping -c 1 -W 2 "$0"', before.inside)).exitCode === 0
    await expect.poll(pings, { timeout: 60_000 }).toBe(true)
    const { output } = await onRight!.run(writer, 'ip -4 addr')
    expect([output.includes(before.address), output.includes(before.inside)]).toEqual([true, true])
  })

  test('writes nothing when it is connected again, and is cleaned', async () => {
    const running = async () => (await left!.sandbox.virsh('list', '--name')).includes(writer)
    expect(await running()).toBe(true)
    await left!.reconnect()
    await sleep(15_000) // its guest tries to write what it has in memory
    expect(await journalOf(onRight!)).toHaveLength(last)
    await eventually(() => db.maybe(sql`select from hosts where id = ${left!.id} and fenced_at is null`), TIMEOUT_MS)
    expect(await running()).toBe(false)
    expect(await blocked()).not.toContain(`${left!.sandbox.address}:0/0`) // librbd blocks the process that held the lock by itself, for an hour
    expect((await left!.sandbox.virsh('list', '--all', '--name')).trim()).toBe('')
    expect(await journalOf(onRight!)).toHaveLength(last)
    expect((await onRight!.run(writer, `echo alive >> ${JOURNAL} && sync`)).exitCode).toBe(0)
    expect(await listed('left')).toMatchObject({ state: 'maintenance' })
    await order('POST', `/vms/${off}/start`)
    expect(await broken()).toBe('')
  })
})
