// Backups on a second real host over TLS: they survive a crash during transfer, and the VM is recovered when the first host is lost.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { clientOf, fleet, orderCompleted } from './fleet.ts'
import { GuestShell } from './guest-shell.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { berthdJson, eventually, type Service } from './processes.ts'
import { guestFiles, nightOf } from './real-copies.ts'
import { tinyImage } from './tiny-image.ts'
import { tlsHosts, type TlsHost } from './tls-hosts.ts'

/** Generous, for emulated guests on a loaded machine. */
const TIMEOUT_MS = 240_000

describeIf(missingForLibvirtHost())('backups on a second host', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { settings, db, start, account, ended, broken } = await fleet()
  const processes: Record<string, Service> = {}
  let sandboxes: Sandboxes
  let hosts: TlsHost[]
  let shells: GuestShell[]
  let customer: ReturnType<typeof clientOf>
  let vmId = ''
  let source: TlsHost
  let keeper: TlsHost

  const hostOf = async (): Promise<TlsHost> => {
    const { host_id } = await db.one<{ host_id: string }>(sql`select host_id from vms where id = ${vmId}`)
    return hosts.find(({ id }) => id === host_id)!
  }
  const filesOn = (host: TlsHost) => guestFiles(shells[hosts.indexOf(host)]!, vmId)

  beforeAll(async () => {
    const image = await tinyImage()
    sandboxes = await Sandboxes.open()
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
    await berthdJson(settings, 'template', 'import', 'tiny', '--file', image.path)
    hosts = await tlsHosts(sandboxes, settings, ['left', 'right'])
    shells = hosts.map(({ sandbox }) => new GuestShell(sandboxes.unix(sandbox), TIMEOUT_MS))
    const { token } = await account(1_000_000n)
    Object.assign(processes, { api: await start('api'), worker: await start('worker') })
    customer = clientOf(token, () => processes['api']!)
    const ids = await db.one<object>(sql`
      select (select id from regions) as "regionId", (select id from os_templates where slug = 'tiny') as "osTemplateId",
        (select id from plans where slug = 'nano') as "planId"`)
    vmId = (await order('POST', '/vms', { ...ids, hostname: 'carried', dailyBackupEnabled: true })).vm.id
    source = await hostOf()
    keeper = hosts.find((each) => each !== source)!
  }, 2 * TIMEOUT_MS)
  afterAll(async () => {
    await Promise.all((shells ?? []).map((shell) => shell.close()))
    await sandboxes?.close()
  })

  const order = (method: string, path: string, body?: object) => orderCompleted(db, customer, TIMEOUT_MS, method, path, body)

  const copiesOn = async ({ sandbox }: TlsHost): Promise<string[]> =>
    (await sandbox.virsh('vol-list', 'berth'))
      .split('\n')
      .map((line) => line.trim().split(/\s+/)[0] ?? '')
      .filter((name) => name.startsWith('backup-') && name.endsWith('.qcow2'))

  test('a full and an incremental backup are transferred, and no data stays on the source host', async () => {
    const first = await filesOn(source).write('first night')
    const full = await nightOf(db, vmId)
    const second = await filesOn(source).write('second night')
    const changed = await nightOf(db, vmId)
    expect([full, changed]).toMatchObject([
      { status: 'AVAILABLE', parent_id: null, host_id: keeper.id, checksum: expect.stringMatching(/^sha256:/) },
      { status: 'AVAILABLE', parent_id: full.id, host_id: keeper.id, checksum: expect.stringMatching(/^sha256:/) },
    ])
    const sum = await keeper.sandbox.inside('sha256sum', `/var/lib/libvirt/images/berth/backup-${vmId}-${full.id}.qcow2`)
    expect(`sha256:${sum.split(' ')[0]}`).toBe(full.checksum)
    expect([await copiesOn(source), (await copiesOn(keeper)).length]).toEqual([[], 2])
    console.log(`carried: ${full.size_bytes} bytes, then ${changed.size_bytes} bytes that changed`)

    await order('POST', `/vms/${vmId}/backups/${changed.id}/restore`)
    expect((await filesOn(source).list()).toSorted()).toEqual([first, second].toSorted())
    expect([await copiesOn(source), (await copiesOn(keeper)).length]).toEqual([[], 2])
    expect(await broken()).toBe('')
  })

  /** Restarted with the same arguments, as an administrator would. */
  const daemon = ({ sandbox }: TlsHost): Promise<string> =>
    sandbox.inside(
      'sh',
      '-ec',
      `pid=$(pgrep -xo libvirtd); line=$(tr '\\0' ' ' < /proc/$pid/cmdline); kill -9 $pid
      while kill -0 $pid 2> /dev/null; do sleep 0.1; done; rm -f /run/libvirtd.pid /run/libvirt/libvirtd.pid; exec setsid -f $line > /dev/null 2>&1 < /dev/null`,
    )
  const worker = async (): Promise<void> => {
    await processes['worker']!.kill('SIGKILL')
    processes['worker'] = await start('worker')
  }

  /** Returns the outcome. */
  const killedIn = async (step: string, kill: () => Promise<unknown>, path: string, body?: object): Promise<string> => {
    const { status, data } = await customer.send('POST', path, body)
    expect(status).toBe(202)
    await eventually(
      () => db.maybe(sql`select from workflow_steps where run_id = ${data.actionId} and name = ${step} and status <> 'PENDING'`),
      TIMEOUT_MS,
    )
    await kill()
    await ended(TIMEOUT_MS)
    expect(await broken()).toBe('')
    expect(await copiesOn(source)).toEqual([])
    return (await db.one<{ status: string }>(sql`select status from workflow_runs where id = ${data.actionId}`)).status
  }

  test.each<[who: string, step: string, kill: () => Promise<unknown>]>([
    ['the worker', 'copy', worker],
    ['the worker', 'transfer', worker],
    ['the worker', 'delete source copy', worker],
    ['the libvirtd that keeps it', 'transfer', () => daemon(keeper)],
    ['the libvirtd that made it', 'transfer', () => daemon(source)],
  ])('a backup completes although %s is killed in the step "%s"', async (_who, step, kill) => {
    expect(await killedIn(step, kill, `/vms/${vmId}/backups`, { name: step })).toBe('COMPLETED')
  })

  test.each<[who: string, step: string, kill: () => Promise<unknown>]>([
    ['the worker', 'fetch', worker],
    ['the worker', 'clean up', worker],
    ['the libvirtd that keeps it', 'fetch', () => daemon(keeper)],
    ['the libvirtd that gets it', 'fetch', () => daemon(source)],
  ])('a restore completes although %s is killed in the step "%s"', async (who, step, kill) => {
    const { id } = await db.one<{ id: string }>(sql`select id from backups where vm_id = ${vmId} and depth > 0`)
    const kept = await filesOn(source).list()
    await filesOn(source).write(`before ${who} is killed in ${step}`)
    expect(await killedIn(step, kill, `/vms/${vmId}/backups/${id}/restore`)).toBe('COMPLETED')
    expect(await filesOn(source).list()).toEqual(kept)
  })

  test('restores when the first host is lost, and removes the remains when it returns', async () => {
    const kept = (await filesOn(source).list()).toSorted()
    const { id } = await db.one<{ id: string }>(
      sql`select id from backups where vm_id = ${vmId} and status = 'AVAILABLE' order by id desc limit 1`,
    )
    await source.cutOff()
    await eventually(() => db.maybe(sql`select from hosts where id = ${source.id} and unreachable_since is not null`), TIMEOUT_MS)
    await db.run(sql`update hosts set unreachable_since = unreachable_since - interval '5 minutes' where id = ${source.id}`)
    await order('POST', `/vms/${vmId}/backups/${id}/restore`)
    expect(await hostOf()).toBe(keeper)
    expect((await filesOn(keeper).list()).toSorted()).toEqual(kept)
    expect(await source.sandbox.virsh('list', '--name')).toContain(vmId)

    await source.reconnect()
    await eventually(async () => !(await source.sandbox.virsh('list', '--all', '--name')).includes(vmId), TIMEOUT_MS)
    expect(await broken()).toBe('')
    await order('DELETE', `/vms/${vmId}`)
    await eventually(async () => (await copiesOn(keeper)).length === 0, TIMEOUT_MS)
    expect(await broken()).toBe('')
  })
})
