import { listStorageBackends, storageAboveReserveGiB } from '../../features/storage/service.ts'
import { databaseCheck } from './database.ts'
import { ok, warning } from './check.ts'

/** As the worker measured them last. */
export const storageBackends = databaseCheck('storage backends', async (db) => {
  const rows = await listStorageBackends(db)
  const problems = rows.flatMap((row) => {
    if (row.unreachable_since !== null) return `${row.name} does not answer`
    const left = storageAboveReserveGiB(row)
    if (left === null || left > (row.capacity_gib ?? 0) / 20) return []
    return left < 0
      ? `${row.name} is below its reserve, so nothing new is written there`
      : `${row.name} has only ${left} GiB above its reserve`
  })
  if (problems.length > 0)
    return warning(
      `storage backends: ${problems.join(', ')}`,
      'check the cluster with ceph -s (the log of the worker says why a pool does not answer), add OSDs or delete what is not needed, or lower the reserve with npx berthd storage set <name> --reserve',
    )
  const rooms = rows.map((row) => `${row.name} has ${storageAboveReserveGiB(row) ?? 'an unknown number of'} GiB above its reserve`)
  return ok(`storage backends: ${rooms.join(', ') || 'none, disks are on their hosts'}`)
})
