// Two machines of a control plane on one database: what one imports, workers of the other have, by way of a backup target.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { settler } from '../../../test/run-workflows.ts'
import { BackupTargetError } from '../../backup-target/errors.ts'
import { extentsOf } from '../../backup-target/file-content.ts'
import { verifyBucket } from '../../backup-target/verify.ts'
import { templates as doctorOfTemplates } from '../../commands/doctor/templates.ts'
import { openCore } from '../../compose.ts'
import { readConfig } from '../../config.ts'
import { openImage } from '../../hypervisor/libvirt/storage/templates.ts'
import type { HostContext } from '../../hypervisor/libvirt/core/host-context.ts'
import { importImage } from '../../images/build-or-import.ts'
import type { ImageFiles } from '../../images/own-images.ts'
import { digitsOf, openImageStore } from '../../images/store.ts'
import { nativeArch } from '../../kernel/arch.ts'
import { sql } from '../../kernel/database/db.ts'
import { createLog } from '../../kernel/log.ts'
import { restorableIn } from '../backup-targets/service.ts'
import { addTemplate, findTemplate, getTemplate, publishImage, withdrawTemplate } from '../catalog/service.ts'
import type { Deps } from '../deps.ts'
import { openCopy } from './copies.ts'
import { templateCopies } from './copies.sql.ts'
import { copyImages } from './copy.reconciler.ts'
import { sweepImageFiles } from './purge.reconciler.ts'
import { recordStored, storeNewImage, withFetching } from './template-images.ts'

const signal = AbortSignal.timeout(300_000)

async function twoMachines() {
  const app = await testApp(storesInMemory())
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-test-'))
  const environment = { BERTH_DATA_DIR: dataDir, BERTH_MASTER_KEY_FILE: app.config.masterKeyFile, BERTH_PORT: '0' }
  const other = await openCore(readConfig(environment), app.db.url, createLog({ level: 'silent', pretty: false }), {
    worker: false,
    clock: app.clock,
    openStore: storesInMemory().openStore!,
  })
  afterAll(async () => {
    await other.close()
    rmSync(dataDir, { recursive: true })
  })
  const source = join(dataDir, 'disk.raw')

  /** As `template import` does it. */
  const importTemplate = async (deps: Deps, slug: string): Promise<string> => {
    const disk = randomBytes(9 * 1024 ** 2)
    disk.writeUInt16BE(0x55aa, 510)
    writeFileSync(source, disk)
    const image = await importImage(deps.templates, { file: source }, null, { arch: nativeArch(), progress: () => {}, signal })
    const attempts = await storeNewImage(deps, image, () => {}, signal)
    await app.db.tx(async (tx) => {
      const draft = { slug, name: slug, version: '1', distribution: 'test', arch: nativeArch(), minDiskGib: 1, minRamMib: 128 }
      if (!(await findTemplate(tx, slug)))
        await addTemplate(tx, app.clock.now(), {
          ...draft,
          defaultUser: 'root',
          hasAgent: false,
          firmware: null,
          tpm: false,
          imageUrl: null,
        })
      await publishImage(tx, app.clock.now(), await getTemplate(tx, slug), { ...image, origin: 'test' })
      await recordStored(tx, app.clock.now(), image.checksum, attempts)
    })
    return image.checksum
  }
  /** As a driver does it before it uploads the image to a host. */
  const open = async ({ templates }: Deps, slug: string) => {
    const { id, checksum, has_agent } = await getTemplate(app.db, slug)
    return openImage({ images: templates, hostId: 'host' } as unknown as HostContext, {
      id,
      slug,
      checksum,
      arch: nativeArch(),
      hasAgent: has_agent,
    })
  }
  const copy = async (deps = app.deps) => {
    await copyImages.runOnce(app.deps)
    await settler(deps, app.clock)()
  }
  const remove = (slug: string) => app.db.tx(async (tx) => withdrawTemplate(tx, app.clock.now(), await getTemplate(tx, slug)))
  const fetched = (): string[] => {
    const folder = join(dataDir, 'images/fetched')
    return existsSync(folder) ? readdirSync(folder).filter((name) => !name.endsWith('.lock')) : []
  }
  const doctor = (config = other.deps.config) => doctorOfTemplates({ ...config, databaseUrl: app.db.url })
  return { app, first: app.deps, second: other.deps, dataDir, importTemplate, open, copy, remove, fetched, doctor }
}

describe('the image of a template on one machine of two', async () => {
  const { app, first, second, dataDir, importTemplate, open, copy, remove, fetched, doctor } = await twoMachines()
  const old = await importTemplate(first, 'old')
  const alone = {
    copies: await templateCopies(app.db),
    found: await open(second, 'old').catch((error: unknown) => error),
    doctor: await doctor(),
  }
  const store = await givenBackupTarget(app, { clock: app.clock })
  const bytesOf = async (deps: Deps, slug: string) => readFileSync((await open(deps, slug)).path)

  test('is on that machine alone where there is no backup target, which the other says', () => {
    expect(alone.copies).toEqual([])
    expect(alone.found).toMatchObject({
      kind: 'not_found',
      message: expect.stringContaining('images of this machine nor in a backup target'),
    })
    expect(alone.found).toMatchObject({ message: expect.stringMatching(/template build old \(or import\).*have to share that folder/) })
    expect(alone.doctor).toMatchObject({ status: 'failure', message: expect.stringContaining('old are neither on this machine nor') })
  })

  test('is stored in a target that was added later, by a worker that has it, and until then another worker has a try', async () => {
    await expect(open(second, 'old')).rejects.toMatchObject({
      kind: 'transient',
      message: expect.stringContaining('not in a backup target yet'),
    })
    expect(await doctor(app.config)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('not in backup targets yet: old'),
    })
    await copy(second) // which lacks it
    const [failed] = await templateCopies(app.db)
    expect(failed).toEqual({
      id: digitsOf(old),
      region_slug: 'fra1',
      is_stored: false,
      error: 'The file of the image is not on this machine.',
    })
    expect(store.keys('/uploads/')).toEqual([])
    app.clock.advance('2h')
    await copy()
    expect(await templateCopies(app.db)).toMatchObject([{ id: digitsOf(old), is_stored: true, error: null }])
    expect(await doctor(app.config)).toMatchObject({ status: 'ok', message: 'templates with an image: old' })
    expect(await doctor()).toMatchObject({ status: 'ok', message: expect.stringContaining('fetched when a host needs them: old') })
  })

  test('is not what a worker of the version before removes, which knows no images of templates', async () => {
    const asBefore = sql`select from image_copies c where not exists (select from images i where i.id = c.image_id and i.status = 'AVAILABLE')
      and coalesce(c.next_try_at, '-infinity') <= ${app.clock.now()}`
    expect(await app.db.many(asBefore)).toEqual([])
  })

  test('is fetched once by the other machine, and is the same there', async () => {
    const gets: string[] = []
    store.before = async (call, key) => void (call === 'get' && key.includes('/chunks/') && gets.push(key))
    const opened = await Promise.all([1, 2, 3].map(() => open(second, 'old')))
    expect(new Set(gets).size).toBe(gets.length)
    expect(new Set(opened.map(({ path }) => path))).toEqual(new Set([join(dataDir, 'images/fetched', `${digitsOf(old)}.qcow2`)]))
    expect((await bytesOf(second, 'old')).equals(await bytesOf(first, 'old'))).toBe(true)
    expect(fetched()).toEqual([`${digitsOf(old)}.qcow2`])
    await open(second, 'old')
    expect(new Set(gets).size).toBe(gets.length)
    store.before = async () => {}
  })

  test('that is imported now is there before it is published, encrypted, and is verified with the bucket', async () => {
    const checksum = await importTemplate(first, 'new')
    expect(await templateCopies(app.db)).toContainEqual({ id: digitsOf(checksum), region_slug: 'fra1', is_stored: true, error: null })
    const { id: targetId } = await app.db.one<{ id: string }>(sql`select id from backup_targets`)
    const { problems, backups } = await verifyBucket(store, app.deps.vault, await restorableIn(app.db, targetId), signal)
    expect([problems, backups.flatMap((each) => each.problems)]).toEqual([[], []])
    expect(backups.map(({ backupId }) => backupId).toSorted()).toEqual([digitsOf(checksum), digitsOf(old)].toSorted())
    expect((await bytesOf(second, 'new')).equals(await bytesOf(first, 'new'))).toBe(true)
  })

  test('is fetched again where a killed worker left half of it, or the target did not answer', async () => {
    const checksum = await importTemplate(first, 'half')
    const work = join(dataDir, 'images/fetched', `work-${digitsOf(checksum)}`)
    mkdirSync(work)
    writeFileSync(join(work, 'fetched'), 'half')
    expect(await second.templates.has(checksum)).toBe(false)
    let answers = 1
    store.before = async (call, key) => {
      if (call === 'get' && key.includes('/chunks/') && answers-- <= 0) throw new BackupTargetError('unavailable', 'it does not answer')
    }
    await expect(open(second, 'half')).rejects.toMatchObject({ kind: 'transient', message: expect.stringContaining('it does not answer') })
    expect(await second.templates.has(checksum)).toBe(false)
    store.before = async () => {}
    expect((await bytesOf(second, 'half')).equals(await bytesOf(first, 'half'))).toBe(true)
    expect(fetched()).not.toContain(`work-${digitsOf(checksum)}`)
  })

  test('that is damaged in the target is refused, and the operator told what to do', async () => {
    const checksum = await importTemplate(first, 'damaged')
    const [chunk] = store.keys(`image-${digitsOf(checksum)}/chunks/`)
    store.objects.get(chunk!)![0]!.body![100]! ^= 1
    await expect(open(second, 'damaged')).rejects.toMatchObject({
      kind: 'not_found',
      message: expect.stringMatching(/The image of template damaged .* is damaged.*Copy its file from a machine that has it/),
    })
    expect(await second.templates.has(checksum)).toBe(false)
    expect((await open(first, 'damaged')).checksum).toBe(checksum)
  })

  test('that another image took the place of is refused', async () => {
    const checksum = await importTemplate(first, 'replaced')
    const other = '0'.repeat(64)
    await app.db.run(sql`update os_templates set checksum = ${`sha256:${other}`} where checksum = ${checksum}`)
    await app.db.run(sql`update image_copies set image_id = ${other} where image_id = ${digitsOf(checksum)}`)
    const { target_id: targetId } = await app.db.one<{ target_id: string }>(
      sql`select target_id from image_copies where image_id = ${other}`,
    )
    const { repository } = await openCopy(first, { imageId: other, targetId }, signal)
    const path = (await first.templates.find(checksum))!
    const file = { backupId: other, parentId: null, sizeBytes: statSync(path).size, extents: extentsOf(path), lockDays: null }
    await repository.upload(file, signal)
    await expect(open(second, 'replaced')).rejects.toMatchObject({
      kind: 'not_found',
      message: expect.stringContaining('is not the one that was made'),
    })
    expect(await second.templates.has(`sha256:${other}`)).toBe(false)
    await remove('replaced')
  })

  test('is not fetched where the disk has no room for it', async () => {
    const checksum = await importTemplate(first, 'large')
    const full: ImageFiles = {
      ...second.templates.fetched,
      fetch: async (_id, _kind, make) =>
        void (await make({ path: dataDir, room: async () => 1024 ** 2, save: () => Promise.reject(new Error('it saved')) })),
    }
    const templates = withFetching({ ...openImageStore(join(dataDir, 'images'), app.clock), fetched: full }, second)
    await expect(open({ ...second, templates }, 'large')).rejects.toMatchObject({
      kind: 'transient',
      message: expect.stringMatching(/it has \d+ MiB, and only 1 MiB are free for it on this machine/),
    })
    expect(await second.templates.has(checksum)).toBe(false)
  })

  test('is removed from the target with the last template that has it, and where it was fetched', async () => {
    await importTemplate(first, 'again')
    const { checksum } = await getTemplate(app.db, 'again')
    await open(second, 'again')
    await remove('again')
    await copy()
    expect(store.keys(`image-${digitsOf(checksum)}`)).toEqual([])
    expect((await templateCopies(app.db)).map(({ id }) => id)).not.toContain(digitsOf(checksum))
    expect(fetched()).toContain(`${digitsOf(checksum)}.qcow2`)
    app.clock.advance('25h')
    await sweepImageFiles.runOnce(second)
    expect(fetched()).not.toContain(`${digitsOf(checksum)}.qcow2`)
    expect(fetched()).toContain(`${digitsOf(old)}.qcow2`)
    expect(store.keys(`image-${digitsOf(old)}`).length).toBeGreaterThan(2)
  })

  test('that was stored and never published is removed a day later', async () => {
    const image = await importImage(first.templates, { file: join(dataDir, 'disk.raw') }, null, {
      arch: nativeArch(),
      progress: () => {},
      signal,
    })
    const id = digitsOf(image.checksum)
    await app.db.run(sql`delete from image_copies where image_id = ${id}`)
    await app.db.run(sql`delete from os_templates where checksum = ${image.checksum}`)
    await storeNewImage(first, image, () => {}, signal)
    await copy()
    expect(store.keys(`image-${id}`).length).toBeGreaterThan(2)
    app.clock.advance('25h')
    await copy()
    expect(store.keys(`image-${id}`)).toEqual([])
  })

  test('is stored by a worker where the command could not', async () => {
    store.before = async (call) => {
      if (call === 'put') throw new BackupTargetError('unavailable', 'it does not answer')
    }
    const checksum = await importTemplate(first, 'later')
    const copyOf = async () => (await templateCopies(app.db)).find(({ id }) => id === digitsOf(checksum))
    expect(await copyOf()).toMatchObject({ is_stored: false, error: 'it does not answer' })
    store.before = async () => {}
    await copy()
    expect(await copyOf()).toMatchObject({ is_stored: true, error: null })
  })
})

test('the image of a template that is needed again while object lock keeps it is found, and locked anew', async () => {
  const { app, first, second, importTemplate, open, copy, remove } = await twoMachines()
  const store = await givenBackupTarget(app, { lockDays: 10, clock: app.clock })
  const checksum = await importTemplate(first, 'mine')
  const copies = () =>
    app.db.many<{ is_stored: boolean; renew_at: Date; locked: boolean }>(
      sql`select stored_at is not null as is_stored, renew_at, locked_bytes > 0 as locked from image_copies`,
    )
  expect(await copies()).toMatchObject([{ is_stored: true, locked: false }])
  const row = await getTemplate(app.db, 'mine')
  await remove('mine')
  await copy()
  expect(await copies()).toMatchObject([{ is_stored: false, locked: true }])
  const image = await first.templates.open({ id: '', slug: 'mine', checksum, arch: nativeArch(), hasAgent: false })
  app.clock.advance('4d')
  const attempts = await storeNewImage(first, image, () => {}, signal)
  await app.db.tx(async (tx) => {
    await publishImage(tx, app.clock.now(), await getTemplate(tx, 'mine'), { ...image, origin: row.origin })
    await recordStored(tx, app.clock.now(), checksum, attempts)
  })
  expect(await copies()).toMatchObject([{ is_stored: true, renew_at: new Date(app.clock.now().getTime() + 5 * 86_400_000) }])
  const manifest = store.objects.get(store.keys(`image-${digitsOf(checksum)}/manifests/`)[0]!)![0]!
  expect(manifest.lockedUntil!.getTime()).toBeGreaterThanOrEqual(app.clock.now().getTime() + 10 * 86_400_000)
  expect((await open(second, 'mine')).checksum).toBe(checksum)
})
