// Memory and disks are added to machines, and other data fills them: what a host can sell is measured again.
import { GIB, type Driver, type HostFacts } from '../../hypervisor/driver.ts'
import { sellableCapacity } from '../../hypervisor/sellable-capacity.ts'
import type { Db } from '../../kernel/database/db.ts'
import type { Log } from '../../kernel/log.ts'
import * as sql from './sql.ts'

export async function measureCapacity(
  { db, log }: { db: Db; log: Log },
  host: sql.HostRow,
  driver: Pick<Driver, 'listVolumes'>,
  facts: Pick<HostFacts, 'vcpu' | 'ramMiB' | 'diskFreeGiB'>,
  signal: AbortSignal,
): Promise<void> {
  let takenBytes = 0
  for await (const { sizeBytes, storageId } of driver.listVolumes(signal)) takenBytes += storageId === null ? sizeBytes : 0
  const diskTakenGiB = Math.floor(takenBytes / GIB)
  const capacity = sellableCapacity({ cpus: facts.vcpu, memoryMiB: facts.ramMiB, diskFreeGiB: facts.diskFreeGiB, diskTakenGiB })
  await db.tx((tx) => sql.writeCapacity(tx, host.id, capacity))
  const before = { vcpu: host.vcpu_total, ramMiB: host.ram_total_mib, diskGiB: host.disk_total_gib }
  if (capacity.vcpu !== before.vcpu || capacity.ramMiB !== before.ramMiB || capacity.diskGiB !== before.diskGiB)
    log.info({ host: host.name, before, capacity }, 'host capacity changed')
}
