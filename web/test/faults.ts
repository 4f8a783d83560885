// Injects faults into the simulated hosts of a running server.
import { openDb, sql } from '../../server/src/kernel/database/db.ts'
import { faultControl, type FaultOrder } from '../../server/src/hypervisor/simulated/faults.ts'
import type { Product } from './product.ts'

const open = ({ databaseUrl }: Product) => openDb({ url: databaseUrl, maxConnections: 1, onError: () => {} })

export async function injectFault(product: Product, fault: FaultOrder): Promise<void> {
  const db = open(product)
  const { id } = await db.one<{ id: string }>(sql`select id from hosts order by created_at, id limit 1`)
  await faultControl(db, id).plant(fault)
  await db.close()
}

/** As the worker does when it has checked the invariants, every five minutes. */
export async function recordViolations(product: Product, count: number): Promise<void> {
  const db = open(product)
  await db.run(sql`insert into invariant_status (violations) values (${count}) on conflict (is_only) do update set violations = ${count}`)
  await db.close()
}

/** Of any VM, as if it had left a lost host: it is tried again in an hour. */
export async function recordFailedRecovery(product: Product): Promise<void> {
  const db = open(product)
  await db.run(sql`
    insert into failed_recoveries (vm_id, source_id, failures, next_attempt_at)
    select id, 'rack-that-burnt', 3, now() + interval '1 hour' from vms where host_id is not null limit 1`)
  await db.close()
}

/** As if the networks of the region were made by controllers that other machines reach. */
export async function giveController(product: Product, region: string): Promise<void> {
  const db = open(product)
  await db.run(sql`update regions set network_controller = 'ssl:127.0.0.1' where slug = ${region}`)
  await db.close()
}
