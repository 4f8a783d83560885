import type { Command } from 'commander'
import { listHosts } from '../features/hosts/service.ts'
import { onDatabase, type Admin } from './admin.ts'
import { table, type Result } from './output.ts'

export function hostCommands(program: Command): void {
  const host = program.command('host').description('machines that run VMs')
  onDatabase(host.command('list').description('list hosts with what is used of them'), 'host list', list)
}

async function list({ db }: Admin): Promise<Result> {
  const rows = (await listHosts(db)).map((row) => ({
    id: row.id,
    name: row.name,
    region: row.region_slug,
    driver: row.driver,
    vcpu: { used: row.vcpu_used, total: Math.floor(row.vcpu_total * row.vcpu_overcommit) },
    ramMiB: { used: row.ram_used_mib, total: row.ram_total_mib },
    diskGiB: { used: row.disk_used_gib, total: row.disk_total_gib },
    maintenance: row.maintenance,
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
  }))
  const ofTotal = ({ used, total }: { used: number; total: number }): string => `${used}/${total}`
  const shown = table(
    rows.map((row) => ({ ...row, vcpu: ofTotal(row.vcpu), ramMiB: ofTotal(row.ramMiB), diskGiB: ofTotal(row.diskGiB) })),
    ['id', 'name', 'region', 'driver', 'vcpu', 'ramMiB', 'diskGiB', 'maintenance', 'lastSeenAt'],
    'There is no host: npx berthd migrate adds those of the catalog',
  )
  return { data: rows, text: shown.text }
}
