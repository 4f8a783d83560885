// A real guest is shelved into a real S3 server and comes back: nothing of it stays on its host, nor in the bucket afterwards.
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
import { guestFiles } from './real-copies.ts'
import { tinyImage } from './tiny-image.ts'
import { tlsHosts, type TlsHost } from './tls-hosts.ts'

/** Generous, for emulated guests on a loaded machine. */
const TIMEOUT_MS = 240_000

describeIf(missingForLibvirtHost() ?? missingForRadosgw())('shelving to S3', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { settings, db, start, account, broken } = await fleet()
  const processes: Record<string, Service> = {}
  let sandboxes: Sandboxes
  let server: Radosgw
  let s3: S3Client
  let host: TlsHost
  let shell: GuestShell
  let customer: ReturnType<typeof clientOf>
  let vmId = ''
  let repositoryId = ''

  const order = (method: string, path: string, body?: object) => orderCompleted(db, customer, TIMEOUT_MS, method, path, body)
  /** Of the VM: that of its template is there too. */
  const objects = async (part: string): Promise<string[]> => {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: 'vms' }))
    return Contents.map(({ Key }) => Key!).filter((key) => key.includes(repositoryId) && key.includes(part))
  }
  const onHost = async (): Promise<string[]> => {
    const [domains, volumes] = [await host.sandbox.virsh('list', '--all', '--name'), await host.sandbox.virsh('vol-list', 'berth')]
    return `${domains}\n${volumes}`.split('\n').filter((line) => line.includes(vmId))
  }
  const identity = () =>
    db.one(sql`
      select v.uuid, v.mac::text, host(v.ip_address) as address, v.ipv6_address::text, v.hostname from vms v where v.id = ${vmId}`)

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
    host = (await tlsHosts(sandboxes, settings, ['only']))[0]!
    shell = new GuestShell(sandboxes.unix(host.sandbox), TIMEOUT_MS)
    const secretFile = join(settings['BERTH_DATA_DIR']!, 'secret')
    await writeFile(secretFile, server.secretAccessKey)
    const place = ['--endpoint', server.url, '--bucket', 'vms', '--access-key', server.accessKeyId, '--secret-file', secretFile]
    await berthdJson(settings, 'backup-target', 'add', 's3', ...place)
    const { token } = await account(1_000_000n)
    Object.assign(processes, { api: await start('api'), worker: await start('worker') })
    customer = clientOf(token, () => processes['api']!)
    const wanted = await db.one<object>(sql`
      select (select id from regions) as "regionId", (select id from plans where slug = 'nano') as "planId",
        (select id from os_templates where slug = 'tiny') as "osTemplateId"`)
    vmId = (await order('POST', '/vms', { ...wanted, hostname: 'kept' })).vm.id
  }, 2 * TIMEOUT_MS)
  afterAll(async () => {
    s3?.destroy()
    await shell?.close()
    await sandboxes?.close()
    await server?.close()
  })

  test('takes the guest off its host, and brings it back with its files, name and addresses', async () => {
    const files = guestFiles(shell, vmId)
    const written = [await files.write('before'), await files.write('and more')].toSorted()
    const before = await identity()
    const elapsed = stopwatch()
    await order('POST', `/vms/${vmId}/shelve`)
    console.log(`shelved in ${(elapsed() / 1000).toFixed(1)} s`)
    await eventually(async () => (await onHost()).length === 0, TIMEOUT_MS)
    repositoryId = (await db.one<{ id: string }>(sql`select id from backup_repositories where vm_id = ${vmId}`)).id
    expect(await objects('/manifests/')).toHaveLength(1)
    expect(await db.one(sql`select vcpu_used, ram_used_mib, disk_used_gib from hosts where id = ${host.id}`)).toEqual({
      vcpu_used: 0,
      ram_used_mib: 0,
      disk_used_gib: 0,
    })
    expect(await berthdJson(settings, 'backup-target', 'verify')).toMatchObject({ ok: true })
    expect(await broken()).toBe('')

    const back = stopwatch()
    await order('POST', `/vms/${vmId}/unshelve`)
    console.log(`unshelved in ${(back() / 1000).toFixed(1)} s`)
    expect((await guestFiles(shell, vmId).list()).toSorted()).toEqual(written)
    expect((await shell.run(vmId, 'hostname')).output.trim()).toBe('kept')
    expect(await identity()).toEqual(before)
    await eventually(async () => (await objects('/manifests/')).length === 0, TIMEOUT_MS)
    expect(await broken()).toBe('')
  })

  test('nothing of a VM that is deleted while it is shelved stays on the host or in the bucket', async () => {
    await order('POST', `/vms/${vmId}/shelve`)
    await order('DELETE', `/vms/${vmId}`)
    await eventually(async () => (await objects('')).length === 0 && (await onHost()).length === 0, TIMEOUT_MS)
    expect(await broken()).toBe('')
  })
})
