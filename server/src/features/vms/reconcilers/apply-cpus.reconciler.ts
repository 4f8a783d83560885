// The CPUs of a host that are dedicated to single VMs have changed: shared machines that run are kept off them, or may use them again. Those that are off get theirs when
// they start.
import { sql, type Queries } from '../../../kernel/database/db.ts'
import { keyedReconciler, type Deps } from '../../deps.ts'
import { APPLY_CPUS, callHost, cpuSetOf, getHost, hostsWithChangedCpus, isUnreachable, markCpusApplied } from '../../hosts/service.ts'

export const applyCpus = keyedReconciler(APPLY_CPUS, '30s', {
  busy: async ({ db }) => (await hostsWithChangedCpus(db)).map(({ id }) => id),
  runOnce: apply,
})

async function apply(deps: Deps, hostId: string, stopping: AbortSignal): Promise<void> {
  const host = await getHost(deps.db, hostId)
  let failed = 0
  for (const { id } of await sharedVmsOn(deps.db, hostId)) {
    const set = await cpuSetOf(deps.db, hostId, id, false)
    const error = await callHost(deps, hostId, stopping, (driver, signal) => driver.ensureCpus(id, set, signal))
    if (error && isUnreachable(error)) return
    if (error) failed += 1
  }
  if (failed > 0) return
  await markCpusApplied(deps.db, host)
  deps.log.info({ host: host.name, dedicated: host.dedicated_cpus }, 'machines follow the dedicated CPUs of their host')
}

const sharedVmsOn = (db: Queries, hostId: string) =>
  db.many<{ id: string }>(sql`select id from vms where host_id = ${hostId} and not dedicated_cpu and status <> 'UNMANAGED' order by id`)
