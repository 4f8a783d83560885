// A host that is silent for longer than its VMs wait for it.
import { controlOf } from './hosts.ts'
import type { TestApp } from './harness.ts'
import { sql } from '../src/kernel/database/db.ts'
import { reconcileStaleMachines } from '../src/features/vms/reconcilers/stale-machines.reconciler.ts'

export async function goesAway(app: TestApp, hostId: string): Promise<void> {
  await controlOf(app, hostId).faults.loseHost()
  await app.db.run(sql`update hosts set unreachable_since = ${new Date(app.clock.now().getTime() - 3_600_000)} where id = ${hostId}`)
}

/** Its machine of the VM is as the VM is afterwards. */
export async function comesBack(app: TestApp, hostId: string, vmId: string): Promise<void> {
  await controlOf(app, hostId).faults.returnHost()
  await app.db.run(sql`update hosts set unreachable_since = null where id = ${hostId}`)
  app.clock.advance('1h')
  await reconcileStaleMachines.runOnce(app.deps)
  await app.settle({ subjectId: vmId })
  await reconcileStaleMachines.runOnce(app.deps)
}
