// Injects faults into the simulated hosts of a running server.
import { openDb, sql } from '../../server/src/kernel/database/db.ts'
import { faultControl, type FaultOrder } from '../../server/src/hypervisor/simulated/faults.ts'
import type { Product } from './product.ts'

export async function injectFault({ databaseUrl }: Product, fault: FaultOrder): Promise<void> {
  const db = openDb({ url: databaseUrl, maxConnections: 1, onError: () => {} })
  const { id } = await db.one<{ id: string }>(sql`select id from hosts`)
  await faultControl(db, id).plant(fault)
  await db.close()
}
