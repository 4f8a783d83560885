import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { storageBackends } from '../../commands/doctor/storage-backends.ts'
import { expectKind } from '../../hypervisor/conformance/fixture.ts'
import { GIB } from '../../hypervisor/driver.ts'
import type { RbdBackend } from '../../hypervisor/rbd/access.ts'
import type { RbdPool } from '../../hypervisor/rbd/pool.ts'
import { sql } from '../../kernel/database/db.ts'
import { addSimulatedStorage, addStorageBackend, changeStorageBackend, getStorageBackend, type NewStorageBackend } from './service.ts'
import { recordSpace, removeStorageBackend, storageAboveReserveGiB } from './service.ts'
import { watchStorage } from './watch.reconciler.ts'

const KEY = `${'A'.repeat(38)}==`
const app = await testApp()
const { db, vault } = app.deps
const NEW: NewStorageBackend = {
  name: 'ceph1',
  region: 'fra1',
  monitors: ['10.0.0.1', '[fd00::1]:3300'],
  pool: 'berth',
  user: 'berth',
  key: KEY,
  reservePercent: 10,
}
const answers = (): Promise<void> => Promise.resolve()
const add = (changes: Partial<NewStorageBackend> = {}, checkAccess: (backend: RbdBackend) => Promise<unknown> = answers) =>
  addStorageBackend(db, vault, app.clock.now(), { ...NEW, ...changes }, checkAccess)
const opened = async (): Promise<RbdPool> => (await app.deps.storage.poolsOf(app.host.id))[0]!
const count = async () => (await db.one<{ count: bigint }>(sql`select count(*) from storage_backends`)).count

describe('a storage backend', () => {
  test('is added once, with its key sealed for itself', async () => {
    const row = await add()
    expect(row).toMatchObject({
      name: 'ceph1',
      kind: 'RBD',
      monitors: NEW.monitors,
      pool: 'berth',
      reserve_percent: 10,
      capacity_gib: null,
    })
    expect(row.sealed_key.includes(KEY)).toBe(false)
    expect((await opened()).backend).toEqual({ id: row.id, monitors: NEW.monitors, pool: 'berth', user: 'berth', key: KEY })
    expect((await app.deps.storage.poolsOf(app.host.id)).map(({ backend }) => backend.id)).toEqual([row.id])
    expect(() => vault.open(row.sealed_key, 'storage backend of another id')).toThrow('authenticate')
    await expect(add()).rejects.toMatchObject({ code: 'already_exists' })
  })

  test.each<[string, Partial<NewStorageBackend>]>([
    ['name', { name: 'Ceph 1' }],
    ['pool', { name: 'x', pool: '--help' }],
    ['pool', { name: 'x', pool: 'a/b' }],
    ['monitors', { name: 'x', monitors: [] }],
    ['monitors', { name: 'x', monitors: ['10.0.0.1\nkeyring = /etc/passwd'] }],
    ['monitors', { name: 'x', monitors: ['10.0.0.1,10.0.0.2'] }],
    ['user', { name: 'x', user: 'a]\n[b' }],
    ['user', { name: 'x', user: 'client.berth' }],
    ['key', { name: 'x', key: 'secret' }],
    ['reserve', { name: 'x', reservePercent: 91 }],
  ])('is refused with a %s that is none: %j', async (field, changes) => {
    const before = await count()
    const asked = add(changes, () => Promise.reject(new Error('the pool was called')))
    await expect(asked).rejects.toMatchObject({ code: 'validation_failed', message: expect.stringContaining(field) })
    expect(await count()).toBe(before)
  })

  test('is neither added nor changed while it does not answer', async () => {
    const silent = (): Promise<never> => Promise.reject(new Error('no answer'))
    await expect(add({ name: 'silent' }, silent)).rejects.toThrow('no answer')
    await expect(changeStorageBackend(db, vault, 'ceph1', { user: 'other' }, silent)).rejects.toThrow('no answer')
    await expect(getStorageBackend(db, 'silent')).rejects.toMatchObject({ code: 'not_found' })
    expect(await getStorageBackend(db, 'ceph1')).toMatchObject({ user_name: 'berth' })
  })

  test('is changed as a whole, and opened anew', async () => {
    const before = await opened()
    const key = `${'B'.repeat(38)}==`
    const row = await changeStorageBackend(db, vault, 'ceph1', { key, user: 'other', reservePercent: 20 }, answers)
    expect(row).toMatchObject({ user_name: 'other', reserve_percent: 20, pool: 'berth', monitors: NEW.monitors })
    expect(before.backend.key).toBe(KEY)
    expect((await opened()).backend).toMatchObject({ key, user: 'other' })
    expect(await opened()).toBe(await opened())
  })

  test('whose key cannot be opened does not concern other VMs, and gets another one', async () => {
    await db.run(sql`update storage_backends set sealed_key = '\\x00'`)
    const [pool] = await app.deps.storage.poolsOf(app.host.id)
    await expectKind(pool!.findDisk({ vmId: 'cvm', generation: 1 }, AbortSignal.timeout(5_000)), 'permanent')
    await changeStorageBackend(db, vault, 'ceph1', { key: KEY }, answers)
    expect((await app.deps.storage.poolsOf(app.host.id))[0]!.backend.key).toBe(KEY)
  })

  test('has room above its reserve, which doctor and metrics know', async () => {
    const config = { ...app.config, databaseUrl: db.url }
    const { id } = await getStorageBackend(db, 'ceph1')
    const measure = async (free: number) => {
      await recordSpace(db, id, app.clock.now(), { capacityBytes: 1000 * GIB, availableBytes: free * GIB })
      return storageAboveReserveGiB(await getStorageBackend(db, id))
    }
    expect(await measure(700)).toBe(500)
    expect(await storageBackends(config)).toMatchObject({ status: 'ok', message: 'storage backends: ceph1 has 500 GiB above its reserve' })
    expect(await measure(240)).toBe(40)
    expect(await storageBackends(config)).toMatchObject({
      status: 'warning',
      message: 'storage backends: ceph1 has only 40 GiB above its reserve',
    })
    expect(await measure(100)).toBe(-100)
    expect(await storageBackends(config)).toMatchObject({
      status: 'warning',
      message: 'storage backends: ceph1 is below its reserve, so nothing new is written there',
    })
  })

  test('that does not answer is reported, and removed without an answer', async () => {
    await db.run(sql`update storage_backends set sealed_key = '\\x00'`) // its key cannot be opened
    await watchStorage.runOnce(app.deps)
    expect(await getStorageBackend(db, 'ceph1')).toMatchObject({ unreachable_since: expect.any(Date), free_gib: 100 })
    expect(await app.deps.metrics.registry.metrics()).toContain('berth_storage_up{storage="ceph1"} 0')
    expect(await storageBackends({ ...app.config, databaseUrl: db.url })).toMatchObject({
      status: 'warning',
      message: 'storage backends: ceph1 does not answer',
    })
    const { id } = await getStorageBackend(db, 'ceph1')
    const folder = join(app.config.dataDir, 'ceph')
    await mkdir(folder, { recursive: true })
    for (const name of [`${id}.keyring`, `${id}.conf`]) await writeFile(join(folder, name), KEY)
    await watchStorage.runOnce(app.deps)
    expect(await readdir(folder)).toHaveLength(2)
    await db.tx((tx) => removeStorageBackend(tx, 'ceph1'))
    await watchStorage.runOnce(app.deps)
    expect(await app.deps.metrics.registry.metrics()).not.toContain('storage="ceph1"')
    expect(await readdir(folder)).toEqual([])
  })
})

describe('a simulated storage backend', () => {
  const simulated = (changes: object = {}) =>
    db.tx((tx) => addSimulatedStorage(tx, app.clock.now(), { name: 'sim1', region: 'fra1', sizeGiB: 100, reservePercent: 10, ...changes }))

  test('is measured at once, serves simulated hosts alone, and cannot be changed', async () => {
    expect(await simulated()).toMatchObject({ kind: 'SIMULATED', capacity_gib: 100, free_gib: 100, reserve_gib: 10, used_gib: 0 })
    await watchStorage.runOnce(app.deps)
    expect(await getStorageBackend(db, 'sim1')).toMatchObject({ free_gib: 100, unreachable_since: null })
    expect(await app.deps.storage.poolsOf(app.host.id)).toEqual([])
    await expect(simulated()).rejects.toMatchObject({ code: 'already_exists' })
    await expect(changeStorageBackend(db, vault, 'sim1', { user: 'x' }, answers)).rejects.toMatchObject({ code: 'incompatible' })
    await db.run(sql`update regions set network_controller = 'unix:/run/ovn'`)
    await expect(simulated({ name: 'sim2' })).rejects.toMatchObject({ code: 'incompatible' })
    await db.run(sql`update regions set network_controller = null`)
    await db.tx((tx) => removeStorageBackend(tx, 'sim1'))
  })
})
