// Backups of a real guest in a real S3 server: they restore on its host, as a new VM, and on another host when the first and its disks are
// destroyed.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { stopwatch } from '../src/kernel/clock.ts'
import { clientOf, fleet, orderCompleted } from './fleet.ts'
import { GuestShell } from './guest-shell.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { berthdJson, eventually, type Service } from './processes.ts'
import { missingForRadosgw, openRadosgw, type Radosgw } from './radosgw.ts'
import { guestFiles, nightOf } from './real-copies.ts'
import { tinyImage } from './tiny-image.ts'
import { tlsHosts, type TlsHost } from './tls-hosts.ts'

/** Generous, for emulated guests on a loaded machine. */
const TIMEOUT_MS = 240_000

describeIf(missingForLibvirtHost() ?? missingForRadosgw())('backups in S3', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { settings, db, start, account, broken } = await fleet()
  const processes: Record<string, Service> = {}
  let sandboxes: Sandboxes
  let server: Radosgw
  let s3: S3Client
  let hosts: TlsHost[]
  let shells: GuestShell[]
  let customer: ReturnType<typeof clientOf>
  let vmId = ''
  let repositoryId = ''
  const moments: { id: string; files: string[] }[] = []

  const hostOf = async (id: string): Promise<TlsHost> => {
    const { host_id } = await db.one<{ host_id: string }>(sql`select host_id from vms where id = ${id}`)
    return hosts.find((host) => host.id === host_id)!
  }
  const filesOf = async (id: string) => guestFiles(shells[hosts.indexOf(await hostOf(id))]!, id)
  const listed = async (id: string): Promise<string[]> => (await (await filesOf(id)).list()).toSorted()

  beforeAll(async () => {
    const image = await tinyImage()
    sandboxes = await Sandboxes.open()
    server = await openRadosgw()
    const credentials = { accessKeyId: server.accessKeyId, secretAccessKey: server.secretAccessKey }
    const options = { region: 'us-east-1', forcePathStyle: true, requestChecksumCalculation: 'WHEN_REQUIRED' } as const
    s3 = new S3Client({ endpoint: server.url, credentials, ...options })
    await s3.send(new CreateBucketCommand({ Bucket: 'vms' }))
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
    await berthdJson(settings, 'template', 'import', 'tiny', '--file', image.path)
    hosts = await tlsHosts(sandboxes, settings, ['left', 'right'])
    shells = hosts.map(({ sandbox }) => new GuestShell(sandboxes.unix(sandbox), TIMEOUT_MS))
    const secretFile = join(settings['BERTH_DATA_DIR']!, 'secret')
    await writeFile(secretFile, server.secretAccessKey)
    const place = ['--endpoint', server.url, '--bucket', 'vms', '--access-key', server.accessKeyId, '--secret-file', secretFile]
    await berthdJson(settings, 'backup-target', 'add', 's3', ...place)
    const { token } = await account(1_000_000n)
    Object.assign(processes, { api: await start('api'), worker: await start('worker') })
    customer = clientOf(token, () => processes['api']!)
    vmId = (await order('POST', '/vms', { ...(await size()), ...(await template()), hostname: 'kept', dailyBackupEnabled: true })).vm.id
  }, 2 * TIMEOUT_MS)
  afterAll(async () => {
    s3?.destroy()
    await Promise.all((shells ?? []).map((shell) => shell.close()))
    await sandboxes?.close()
    await server?.close()
  })

  const size = () =>
    db.one<object>(sql`select (select id from regions) as "regionId", (select id from plans where slug = 'nano') as "planId"`)
  const template = () => db.one<object>(sql`select id as "osTemplateId" from os_templates where slug = 'tiny'`)

  const order = (method: string, path: string, body?: object) => orderCompleted(db, customer, TIMEOUT_MS, method, path, body)

  const copiesOn = async ({ sandbox }: TlsHost): Promise<string[]> =>
    (await sandbox.virsh('vol-list', 'berth'))
      .split('\n')
      .map((line) => line.trim().split(/\s+/)[0] ?? '')
      .filter((name) => name.startsWith('backup-') && name.endsWith('.qcow2'))

  /** Of the VM: that of its template is there too. */
  const objects = async (part: string): Promise<string[]> => {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: 'vms' }))
    return Contents.map(({ Key }) => Key!).filter((key) => key.includes(repositoryId) && key.includes(part))
  }

  test('a full and an incremental backup go to the bucket, and no data stays on hosts', async () => {
    const sizes: bigint[] = []
    for (const night of ['first', 'second']) {
      await (await filesOf(vmId)).write(`${night} night`)
      const backup = await nightOf(db, vmId)
      expect(backup).toMatchObject({ status: 'AVAILABLE', parent_id: null, host_id: null, error: null })
      sizes.push(backup.size_bytes)
      moments.push({ id: backup.id, files: await listed(vmId) })
    }
    repositoryId = (await db.one<{ id: string }>(sql`select id from backup_repositories where vm_id = ${vmId}`)).id
    console.log(`added to the bucket: ${sizes[0]} bytes, then ${sizes[1]} bytes that changed`)
    expect(sizes[1]! * 2n).toBeLessThan(sizes[0]!)
    expect(await objects('/manifests/')).toHaveLength(2)
    for (const host of hosts) expect(await copiesOn(host)).toEqual([])
    expect(await berthdJson(settings, 'backup-target', 'verify')).toMatchObject({ ok: true })
    expect(await broken()).toBe('')
  })

  test('each restores its own moment on the host of the VM', async () => {
    await (await filesOf(vmId)).write('lost by the restore')
    for (const { id, files } of moments) {
      await order('POST', `/vms/${vmId}/backups/${id}/restore`)
      expect(await listed(vmId)).toEqual(files)
    }
    for (const host of hosts) expect(await copiesOn(host)).toEqual([])
    expect(await broken()).toBe('')
  })

  test('a new VM has the files of the backup and a name of its own, and the old one goes on', async () => {
    const { id, files } = moments[0]!
    const elapsed = stopwatch()
    const copyId = (await order('POST', '/vms', { ...(await size()), fromBackupId: id, hostname: 'copied' })).vm.id
    console.log(`a VM from a backup in ${(elapsed() / 1000).toFixed(1)} s`)
    expect(await listed(copyId)).toEqual(files)
    const { output } = await shells[hosts.indexOf(await hostOf(copyId))]!.run(copyId, 'hostname')
    expect(output.trim()).toBe('copied')
    expect(await listed(vmId)).toEqual(moments[1]!.files)
    await order('DELETE', `/vms/${copyId}`)
    for (const host of hosts) expect(await copiesOn(host)).toEqual([])
    expect(await broken()).toBe('')
  })

  test('restores on another host when the first and its disks are destroyed', async () => {
    const source = await hostOf(vmId)
    const { id, files } = moments[1]!
    await source.cutOff()
    await source.sandbox.inside('sh', '-c', 'kill -9 $(pgrep qemu-system) $(pgrep -x libvirtd); rm -rf /var/lib/libvirt/images/berth')
    await eventually(() => db.maybe(sql`select from hosts where id = ${source.id} and unreachable_since is not null`), TIMEOUT_MS)
    await db.run(sql`update hosts set unreachable_since = unreachable_since - interval '5 minutes' where id = ${source.id}`)
    const elapsed = stopwatch()
    await order('POST', `/vms/${vmId}/backups/${id}/restore`)
    console.log(`restored elsewhere in ${(elapsed() / 1000).toFixed(1)} s`)
    expect(await hostOf(vmId)).not.toBe(source)
    expect(await listed(vmId)).toEqual(files)
    expect(await broken()).toBe('')
  })

  test('nothing of a deleted VM stays in the bucket', async () => {
    await order('DELETE', `/vms/${vmId}`)
    await eventually(async () => (await objects('')).length === 0, TIMEOUT_MS)
    expect(await broken()).toBe('')
  })
})
