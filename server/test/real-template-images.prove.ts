// Images of OS templates on several machines of a control plane, by way of a real S3 server: real guests boot from what another machine imported, and no
// file is copied by hand.
import { watch } from 'node:fs'
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { afterAll, expect, test } from 'vitest'
import { run } from '../../libvirt/test/command.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { berthd, berthdJson, eventually, type Settings } from './processes.ts'
import { missingForRadosgw, openRadosgw } from './radosgw.ts'
import { missingForRealHost, realProduct, TIMEOUT_MS } from './real-product.ts'
import { tinyImage } from './tiny-image.ts'

interface Listed {
  slug: string
  checksum: string
  state: string
  here: boolean
  targets: string[]
}

describeIf(missingForRealHost() ?? missingForRadosgw())('templates of several machines', { timeout: 4 * TIMEOUT_MS }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-machines-'))
  const { customer, settings: first, start, processes, broken } = await realProduct()
  const server = await openRadosgw()
  const credentials = { accessKeyId: server.accessKeyId, secretAccessKey: server.secretAccessKey }
  const s3 = new S3Client({ endpoint: server.url, credentials, region: 'us-east-1', forcePathStyle: true })
  afterAll(async () => {
    s3.destroy()
    await server.close()
    await rm(folder, { recursive: true })
  })
  /** It has the master key, and nothing else of the first. */
  const machine = (name: string): Settings => ({
    ...first,
    BERTH_DATA_DIR: join(folder, name),
    BERTH_MASTER_KEY_FILE: join(first['BERTH_DATA_DIR']!, 'master.key'),
  })
  const [second, third] = [machine('second'), machine('third')]
  const fetchedOf = (of: Settings): string => join(of['BERTH_DATA_DIR']!, 'images/fetched')
  const fileOf = ({ checksum }: Listed): string => `${checksum.replace('sha256:', '')}.qcow2`
  const template = async (of: Settings, slug: string): Promise<Listed> =>
    (await berthdJson<Listed[]>(of, 'template', 'list')).find((each) => each.slug === slug)!
  const objectsOf = async ({ checksum }: Listed): Promise<number> => {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: 'templates' }))
    return Contents.filter(({ Key }) => Key!.includes(checksum.replace('sha256:', ''))).length
  }
  const size = { regionId: (await customer.tiny()).regionId, planId: await customer.plan('nano') }
  let other: Awaited<ReturnType<typeof start>>

  test('one that is older than the target is stored by the worker that has it, and booted by the worker of another machine', async () => {
    expect(await template(second, 'tiny')).toMatchObject({ state: 'image lost', here: false, targets: [] })
    expect(await berthd(second, 'doctor', 'templates')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('nor in a backup target'),
    })
    await s3.send(new CreateBucketCommand({ Bucket: 'templates' }))
    const secretFile = join(folder, 'secret')
    await writeFile(secretFile, server.secretAccessKey)
    const place = ['--endpoint', server.url, '--bucket', 'templates', '--access-key', server.accessKeyId, '--secret-file', secretFile]
    await berthdJson(first, 'backup-target', 'add', 's3', ...place)
    await eventually(async () => (await template(first, 'tiny')).targets.length === 1, TIMEOUT_MS)
    await processes.worker.kill('SIGKILL')
    other = await start('worker', second)
    const tiny = await template(second, 'tiny')
    expect(tiny).toMatchObject({ state: 'available', here: false, targets: [expect.any(String)] })
    const { osTemplateId } = await customer.tiny()
    await customer.order('POST', '/vms', { ...size, osTemplateId, hostname: 'here' })
    const [made, fetched] = await Promise.all([
      readFile(join(first['BERTH_DATA_DIR']!, 'images', fileOf(tiny))),
      readFile(join(fetchedOf(second), fileOf(tiny))),
    ])
    expect(fetched.equals(made)).toBe(true)
    expect(await template(second, 'tiny')).toMatchObject({ state: 'available', here: true })
    expect(await broken()).toBe('')
  })

  test('one that a machine without worker imports is stored at once, and fetched again after its worker was killed', async () => {
    const disk = join(folder, 'disk.raw')
    await run('qemu-img', 'convert', '-O', 'raw', (await tinyImage()).path, disk)
    await run('truncate', '-s', '+1M', disk)
    await mkdir(third['BERTH_DATA_DIR']!)
    const made = await berthdJson<{ targets: string[] }>(third, 'template', 'import', 'mine', '--file', disk, '--name', 'Mine', '--agent')
    expect(made.targets).toHaveLength(1)
    const mine = await template(third, 'mine')
    const begun = Promise.withResolvers<void>()
    const watcher = watch(fetchedOf(second), (_, name) => name?.startsWith('work-') && begun.resolve())
    const { status, data } = await customer.send('POST', '/vms', {
      ...size,
      osTemplateId: (await berthdJson<{ id: string; slug: string }[]>(third, 'template', 'list')).find(({ slug }) => slug === 'mine')!.id,
      hostname: 'killed',
    })
    expect(status).toBe(202)
    await begun.promise
    watcher.close()
    await other.kill('SIGKILL')
    expect(await readdir(fetchedOf(second))).toContain(`work-${fileOf(mine).replace('.qcow2', '')}`)
    await expect(access(join(fetchedOf(second), fileOf(mine)))).rejects.toThrow('ENOENT')
    other = await start('worker', second)
    const vmId = data.vm.id
    await eventually(async () => (await customer.get(`/vms/${vmId}`)).status === 'RUNNING', 2 * TIMEOUT_MS)
    expect(await readdir(fetchedOf(second))).toContain(fileOf(mine))
    expect((await readdir(fetchedOf(second))).filter((name) => name.startsWith('work-'))).toEqual([])

    expect(await berthd(third, 'template', 'remove', 'mine', '--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('1 VM') })
    await customer.order('DELETE', `/vms/${vmId}`)
    expect(await broken()).toBe('')
    expect(await objectsOf(mine)).toBeGreaterThan(2)
    await berthdJson(third, 'template', 'remove', 'mine', '--yes')
    await eventually(async () => (await objectsOf(mine)) === 0, TIMEOUT_MS)
    expect(await objectsOf(await template(first, 'tiny'))).toBeGreaterThan(2)
    expect(await berthdJson(first, 'backup-target', 'verify')).toMatchObject({ ok: true })
  })
})
