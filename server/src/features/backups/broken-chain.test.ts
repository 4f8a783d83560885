import { describe, expect, test } from 'vitest'
import { allowManyVms, startDailyBackup, volumesOf } from '../../../test/snapshot-backup-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { removeBackups } from './purge.reconciler.ts'
import { retireFailed } from './sql.ts'
import { sweepOrphanVolumes } from './orphan-volumes.reconciler.ts'

describe('the orphan volume reconciler, when the parent of other backups is missing on its host,', async () => {
  const app = await testApp()
  await allowManyVms(app)
  const customer = await app.given.customer({ credit: '1000.00' })
  const sweep = () => sweepOrphanVolumes.runOnce(app.deps)
  const given = async (days: number) => {
    const { id } = await app.given.vm(customer)
    const ids: string[] = []
    for (let day = 0; day < days; day++) {
      ids.push((await startDailyBackup(app, id)).id)
      await app.settle()
    }
    return { id, ids }
  }
  const lose = (id: string) => app.db.run(sql`delete from simulated.volumes where id = ${id}`)
  const twoLooks = async () => {
    await sweep()
    app.clock.advance('10m')
    await sweep()
  }
  const shown = async (id: string) =>
    (await customer.get(`/vms/${id}/backups`)).body.data.map((each: { status: string; error: string | null }) => [each.status, each.error])
  const BROKEN = ['FAILED', 'A backup that it builds on is no longer on the host']
  const parentOf = async (id: string) =>
    (await app.db.one<{ parent_id: string | null }>(sql`select parent_id from backups where id = ${id}`)).parent_id

  test('fails the dependent backups too, and the next backup uses a complete parent', async () => {
    const { id, ids } = await given(4)
    await lose(ids[1]!)
    await twoLooks()
    expect(await shown(id)).toEqual([BROKEN, BROKEN, ['FAILED', 'Its data is no longer on the host'], ['AVAILABLE', null]])
    expect((await customer.post(`/vms/${id}/backups/${ids[3]}/restore`)).status).toBe(409)
    await app.db.tx((tx) => retireFailed(tx, id))
    await removeBackups.runOnce(app.deps)
    expect(await volumesOf(app, id)).toEqual(['backup', 'disk 1', 'seed 1'])
    const next = await startDailyBackup(app, id)
    await app.settle()
    expect(await parentOf(next.id)).toBe(ids[0])
  })

  test('does not use them as parents from the first check on', async () => {
    const { id, ids } = await given(2)
    await lose(ids[0]!)
    await sweep()
    expect(await parentOf((await startDailyBackup(app, id)).id)).toBeNull()
    await app.settle()
  })

  test('fails a dependent backup that was being created meanwhile', async () => {
    const { id, ids } = await given(3)
    await app.db.run(sql`update backups set status = 'PENDING' where id = ${ids[2]!}`)
    await lose(ids[0]!)
    await twoLooks()
    await app.db.run(sql`update backups set status = 'AVAILABLE' where id = ${ids[2]!}`)
    await sweep()
    expect((await shown(id)).slice(0, 2)).toEqual([BROKEN, BROKEN])
  })

  test('also handles a deleted parent kept as a tombstone, and removes its row', async () => {
    const { id, ids } = await given(3)
    await customer.delete(`/vms/${id}/backups/${ids[0]}`)
    await removeBackups.runOnce(app.deps)
    await lose(ids[0]!)
    await twoLooks()
    expect(await shown(id)).toEqual([BROKEN, BROKEN])
    for (const each of ids.slice(1)) await customer.delete(`/vms/${id}/backups/${each}`)
    await removeBackups.runOnce(app.deps)
    expect(await app.db.many(sql`select from backups where vm_id = ${id}`)).toEqual([])
    expect(await volumesOf(app, id)).toEqual(['disk 1', 'seed 1'])
  })
})
