// `berthd storage` and the worker with a real pool.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { missingForCeph, startCeph, type CephCluster } from '../../../test/ceph.ts'
import { testApp } from '../../../test/harness.ts'
import { berthd, berthdJson, type Outcome } from '../../../test/processes.ts'
import type { RbdBackend } from '../../hypervisor/rbd/access.ts'
import { sql } from '../../kernel/database/db.ts'
import { sweepOrphanImages } from '../vms/reconcilers/orphan-images.reconciler.ts'
import { watchStorage } from './watch.reconciler.ts'

const app = await testApp()
const { db } = app.deps

describeIf(missingForCeph())('berthd storage with a real pool', { timeout: 120_000 }, () => {
  let cluster: CephCluster
  let folder: string
  let backend: RbdBackend
  const settings = { BERTH_DATABASE_URL: db.url, BERTH_DATA_DIR: app.config.dataDir, BERTH_PORT: '0' }
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const command = (verb: string, ...args: string[]): Promise<Outcome> => berthd(settings, 'storage', verb, ...args)

  beforeAll(async () => {
    ;[cluster, folder] = await Promise.all([startCeph(), mkdtemp(join(tmpdir(), 'berth-storage-test-'))])
    backend = await cluster.addPool()
  }, 120_000)
  afterAll(async () => {
    await cluster?.close()
    await rm(folder, { recursive: true })
  })

  test('adds, watches, changes and removes it', async () => {
    const { monitors, pool, user, key } = backend
    const keyring = await file('keyring', `[client.${user}]\n\tkey = ${key}\n\tcaps mon = "profile rbd"\n`)
    const args = ['real', '--region', 'fra1', '--monitors', ...monitors, '--pool', pool, '--user', user, '--key-file']
    const wrong = await file('wrong', (await cluster.addPool()).key)
    const refused = await command('add', ...args, wrong)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`Pool ${pool} cannot be used, so nothing was changed`)])
    expect(await berthdJson(settings, 'storage', 'list')).toEqual([])
    const added = await berthdJson(settings, 'storage', 'add', ...args, keyring)
    expect(added).toMatchObject({ name: 'real', region: 'fra1', pool, monitors, user, reserve: 10, state: 'reachable' })
    expect(JSON.stringify(added)).not.toContain(key)
    const mark = `owner-${(added as { id: string }).id}`
    expect((await cluster.rbd('ls', pool)).trim()).toBe(mark) // nothing of the probe

    const twice = await command(
      'add',
      'again',
      '--region',
      'fra1',
      '--monitors',
      ...monitors,
      '--pool',
      pool,
      '--user',
      user,
      '--key-file',
      keyring,
    )
    expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining(`Pool ${pool} is taken`)])
    expect(twice.stderr).toContain(`rbd rm ${pool}/${mark}`)
    expect((await cluster.rbd('ls', pool)).trim()).toBe(mark)
    // One that an older release added beside it takes nothing of a VM whose machine is off.
    await cluster.rbd('create', '--size=1', `${pool}/vm-cstopped-1`)
    await db.run(sql`insert into storage_backends (id, region_id, name, kind, monitors, pool, user_name, sealed_key, reserve_percent, created_at)
      select 'cold', region_id, 'old', kind, monitors, pool, user_name, ${app.deps.vault.seal(key, 'storage backend cold')}, reserve_percent, created_at
      from storage_backends where name = 'real'`)
    await db.run(
      sql`update storage_backends set sealed_key = ${app.deps.vault.seal(key, `storage backend ${(added as { id: string }).id}`)} where name = 'real'`,
    )
    await db.run(sql`insert into orphan_images (storage_id, vm_id, first_seen_at, last_seen_at)
      select 'cold', 'cstopped', ${app.clock.now()}, ${app.clock.now()}`)
    app.clock.advance('25h')
    await sweepOrphanImages.runOnce(app.deps)
    expect(await cluster.rbd('ls', pool)).toContain('vm-cstopped-1')
    await db.run(sql`delete from orphan_images`)
    await db.run(sql`delete from storage_backends where id = 'cold'`)
    await cluster.rbd('rm', '--no-progress', `${pool}/vm-cstopped-1`)
    await db.run(sql`update storage_backends set capacity_gib = null, free_gib = null`)
    await watchStorage.runOnce(app.deps)
    expect(await app.deps.metrics.registry.metrics()).toMatch(/berth_storage_room_ratio\{storage="real"\} 0\.\d/)
    expect((await command('set', 'real', '--key-file', wrong)).code).toBe(1)
    expect(await berthdJson(settings, 'storage', 'set', 'real', '--reserve', '25')).toMatchObject({ reserve: 25, state: 'reachable' })
    expect((await command('set', 'real')).code).toBe(2)
    expect((await command('remove', 'real')).stderr).toContain('Nothing was changed')
    expect(await berthdJson(settings, 'storage', 'remove', 'real', '--yes')).toMatchObject({ name: 'real' })
    expect(await berthdJson(settings, 'storage', 'list')).toEqual([])
    expect(await cluster.rbd('ls', pool)).toBe('')
    const keys = async (): Promise<string[]> => readdir(join(app.config.dataDir, 'ceph'))
    expect((await keys()).length).toBeGreaterThan(0)
    await watchStorage.runOnce(app.deps)
    expect(await keys()).toEqual([])
  })
})
