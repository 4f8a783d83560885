import { listHosts, oversoldBy } from '../../features/hosts/service.ts'
import { ok, warning } from './check.ts'
import { databaseCheck } from './database.ts'

/** Hosts that have sold more than their ratios allow: these were lowered, or memory was taken out. */
export const overcommit = databaseCheck('overcommit', async (db) => {
  const hosts = await listHosts(db)
  const over = hosts.flatMap((host) => oversoldBy(host)?.replace(/^More/, `${host.name}: more`) ?? [])
  if (over.length === 0) return ok(`overcommit: ${hosts.length === 0 ? 'no hosts yet' : 'no host has sold more than it may'}`)
  return warning(
    `overcommit: ${over.join('; ')}`,
    'move VMs away with npx berthd vm migrate, or raise the ratio with npx berthd host set <name> --cpu-overcommit or --ram-overcommit',
  )
})
