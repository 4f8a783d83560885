import { aboveReserveGiB, listHosts } from '../../features/hosts/service.ts'
import { databaseCheck } from './database.ts'
import { ok, warning } from './check.ts'

/** The disks of all hosts: how much can be written before only the reserve is left. */
export const reserve = databaseCheck('disk reserve', async (db) => {
  const hosts = (await listHosts(db)).map((host) => ({
    name: host.name,
    left: aboveReserveGiB(host),
    isLow: aboveReserveGiB(host) <= host.disk_total_gib / 20,
  }))
  const low = hosts.filter(({ isLow }) => isLow)
  if (low.length === 0)
    return ok(`disk reserve: ${hosts.map(({ name, left }) => `${name} has ${left} GiB above it`).join(', ') || 'no hosts yet'}`)
  return warning(
    `disk reserve: ${low.map(({ name, left }) => (left < 0 ? `${name} is below it, so nothing new is written there` : `${name} has only ${left} GiB above it`)).join(', ')}`,
    'delete snapshots, backups or VMs, add a disk and run npx berthd host set <name> --refresh-capacity, or lower it with --disk-reserve',
  )
})
