// A real host and its disks are destroyed: one command brings its guests back on another, from a real S3 server, with the same files and the
// same addresses.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sql } from '../src/kernel/database/db.ts'
import { clientOf, fleet, orderCompleted } from './fleet.ts'
import { GuestShell } from './guest-shell.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { berthd, berthdJson, eventually, type Service } from './processes.ts'
import { missingForRadosgw, openRadosgw, type Radosgw } from './radosgw.ts'
import { guestFiles, nightOf } from './real-copies.ts'
import { tinyImage } from './tiny-image.ts'
import { addRegionRange, tlsHosts, type TlsHost } from './tls-hosts.ts'

/** Generous, for emulated guests on a loaded machine. */
const TIMEOUT_MS = 240_000

interface Recovered {
  removed: boolean
  restored: { vmId: string; host: string; address: string; seconds: number; reason: string }[]
  lost: { vmId: string }[]
}

describeIf(missingForLibvirtHost() ?? missingForRadosgw())('a lost host', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { settings, db, start, account, broken } = await fleet()
  const processes: Record<string, Service> = {}
  let sandboxes: Sandboxes
  let server: Radosgw
  let [left, right]: TlsHost[] = []
  let [onLeft, onRight]: GuestShell[] = []
  let customer: ReturnType<typeof clientOf>
  let [kept, off, bare, witness] = ['', '', '', '']
  let files: string[] = []

  const place = (vmId: string) =>
    db.one<{ host_id: string; address: string; mac: string; inside: string }>(sql`
      select v.host_id, host(v.ip_address) as address, v.mac::text, host(a.address) as inside
      from vms v join network_attachments a on a.vm_id = v.id where v.id = ${vmId}`)
  const vmOf = async (vmId: string) =>
    (await customer.send('GET', `/vms/${vmId}`)).data as unknown as { status: string; currentAction: object | null }

  beforeAll(async () => {
    const image = await tinyImage()
    sandboxes = await Sandboxes.open()
    server = await openRadosgw()
    const credentials = { accessKeyId: server.accessKeyId, secretAccessKey: server.secretAccessKey }
    const s3 = new S3Client({ endpoint: server.url, credentials, region: 'us-east-1', forcePathStyle: true })
    await s3.send(new CreateBucketCommand({ Bucket: 'vms' })).finally(() => s3.destroy())
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
    await berthdJson(settings, 'template', 'import', 'tiny', '--file', image.path)
    ;[left, right] = await tlsHosts(sandboxes, settings, ['left', 'right'])
    await addRegionRange(settings, db, '10.90.0.0/24', '10.90.0.1')
    ;[onLeft, onRight] = [left!, right!].map(({ sandbox }) => new GuestShell(sandboxes.unix(sandbox), TIMEOUT_MS))
    const secretFile = join(settings['BERTH_DATA_DIR']!, 'secret')
    await writeFile(secretFile, server.secretAccessKey)
    const bucket = ['--endpoint', server.url, '--bucket', 'vms', '--access-key', server.accessKeyId, '--secret-file', secretFile]
    await berthdJson(settings, 'backup-target', 'add', 's3', ...bucket)
    const { token } = await account(1_000_000n)
    Object.assign(processes, { api: await start('api'), worker: await start('worker') })
    customer = clientOf(token, () => processes['api']!)
    const ids = await db.one<{ regionId: string }>(sql`
      select (select id from regions) as "regionId", (select id from os_templates where slug = 'tiny') as "osTemplateId",
        (select id from plans where slug = 'nano') as "planId"`)
    const { id: networkId } = (await customer.send('POST', '/networks', { name: 'lan', nodeId: ids.regionId, cidr: '10.201.0.0/24' }))
      .data as unknown as { id: string }
    const create = async (hostname: string): Promise<string> =>
      (await order('POST', '/vms', { ...ids, hostname, privateNetworkIds: [networkId], dailyBackupEnabled: true })).vm.id
    await berthdJson(settings, 'host', 'set', 'right', '--maintenance', 'on')
    ;[kept, off, bare] = [await create('kept'), await create('off'), await create('bare')]
    await berthdJson(settings, 'host', 'set', 'right', '--maintenance', 'off')
    await berthdJson(settings, 'host', 'set', 'left', '--maintenance', 'on')
    witness = await create('witness')
  }, 3 * TIMEOUT_MS)
  afterAll(async () => {
    for (const shell of [onLeft, onRight]) await shell?.close()
    await sandboxes?.close()
    await server?.close()
  })

  const order = (method: string, path: string, body?: object) => orderCompleted(db, customer, TIMEOUT_MS, method, path, body)

  test('has backups of its guests in the bucket, and is not given up while it answers', async () => {
    const guest = guestFiles(onLeft!, kept)
    await guest.write('written before the backup')
    for (const vmId of [kept, off]) expect(await nightOf(db, vmId)).toMatchObject({ status: 'AVAILABLE', error: null })
    files = (await guest.list()).toSorted()
    await guest.write('written after the backup')
    await order('POST', `/vms/${off}/stop`, { force: true })
    const plan = await berthdJson<{ answers: boolean; vms: { id: string; outcome: string; host: string | null }[] }>(
      settings,
      'host',
      'recover',
      'left',
      '--dry-run',
    )
    expect(plan.answers).toBe(true)
    expect(new Map(plan.vms.map(({ id, outcome, host }) => [id, `${outcome} ${host}`]))).toEqual(
      new Map([
        [kept, 'RESTORED right'],
        [off, 'RESTORED right'],
        [bare, 'LOST null'],
      ]),
    )
    const [bold, vague] = [
      await berthd(settings, 'host', 'recover', 'left', '--destroyed', '--yes'),
      await berthd(settings, 'host', 'recover', 'left'),
    ]
    expect([bold.code, bold.stderr]).toEqual([1, expect.stringContaining('Host left answers')])
    expect([vague.code, vague.stderr]).toEqual([2, expect.stringContaining('add --destroyed')])
    expect(await broken()).toBe('')
  })

  test('gives its guests back on another with the same files and addresses', async () => {
    const before = await place(kept)
    await left!.cutOff()
    await left!.sandbox.inside('sh', '-c', 'kill -9 $(pgrep qemu-system) $(pgrep -x libvirtd); rm -rf /var/lib/libvirt/images/berth')
    await eventually(() => db.maybe(sql`select from hosts where id = ${left!.id} and unreachable_since is not null`), TIMEOUT_MS)
    const recovered = await berthdJson<Recovered>(settings, 'host', 'recover', 'left', '--destroyed', '--yes')
    for (const { vmId, seconds, reason } of recovered.restored) console.log(`${vmId}: ${seconds.toFixed(1)} s: ${reason}`)
    expect(recovered).toMatchObject({ removed: true, lost: [{ vmId: bare }] })
    expect(recovered.restored.map(({ vmId }) => vmId).toSorted()).toEqual([kept, off].toSorted())
    expect(await place(kept)).toEqual({ ...before, host_id: right!.id })
    expect([await vmOf(kept), await vmOf(off), await vmOf(bare)]).toMatchObject([
      { status: 'RUNNING' },
      { status: 'STOPPED' },
      { status: 'ERROR' },
    ])
    expect((await guestFiles(onRight!, kept).list()).toSorted()).toEqual(files)
    const { output } = await onRight!.run(kept, 'ip -4 addr')
    expect([output.includes(before.address), output.includes(before.inside)]).toEqual([true, true])
    const pings = async () => (await onRight!.run(witness, 'ping -c 1 -W 2 "$0"', before.inside)).exitCode === 0
    await expect.poll(pings, { timeout: 60_000 }).toBe(true)
    expect(await broken()).toBe('')
  })

  test('leaves nothing: a guest that was off starts on its disk, and what is lost can be rebuilt', async () => {
    await order('POST', `/vms/${off}/start`)
    const { osTemplateId } = await db.one<{ osTemplateId: string }>(sql`select id as "osTemplateId" from os_templates where slug = 'tiny'`)
    await order('POST', `/vms/${bare}/rebuild`, { osTemplateId })
    expect(await db.many(sql`select name from hosts order by name`)).toEqual([{ name: 'right' }])
    expect(await broken()).toBe('')
  })
})
