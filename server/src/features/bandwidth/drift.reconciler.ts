// Detects drift between the applied and the desired limit of an interface, caused by a manual change or a start that raced a throttle, and
// enqueues a limit update.
import type { Machine } from '../../hypervisor/driver.ts'
import { keyedReconciler, type Deps } from '../deps.ts'
import { callHost, listHosts } from '../hosts/service.ts'
import { speedLimit } from '../vms/service.ts'
import { enqueueLimitUpdates, desiredLimits } from './limit-queue.ts'

const BATCH = 500

export const detectLimitDrift = keyedReconciler('bandwidth.drift', '5m', {
  busy: async ({ db }) => (await listHosts(db)).filter((host) => host.unreachable_since === null).map((host) => host.id),
  runOnce: (deps, hostId, stopping) =>
    callHost(deps, hostId, stopping, async (driver, signal) => {
      if (!(await driver.facts(signal)).canShapeTraffic) return
      let batch: Machine[] = []
      for await (const machine of driver.listMachines(signal)) {
        batch.push(machine)
        if (batch.length === BATCH) batch = await compare(deps, hostId, batch)
      }
      await compare(deps, hostId, batch)
    }),
})

async function compare({ db, clock, log }: Deps, hostId: string, machines: Machine[]): Promise<[]> {
  const limits = new Map(machines.flatMap(({ vmId, nics }) => nics.map(({ mac, limitMbps }) => [`${vmId} ${mac}`, limitMbps] as const)))
  const known = await desiredLimits(
    db,
    hostId,
    machines.flatMap((machine) => machine.vmId ?? []),
  )
  const wrong = known.filter((vm) => {
    const limit = limits.get(`${vm.id} ${vm.mac}`)
    return limit !== undefined && limit !== speedLimit(vm)
  })
  if (wrong.length === 0) return []
  const vmIds = wrong.map((vm) => vm.id)
  log.warn({ hostId, vmIds }, 'bandwidth limit drift detected; reapplying')
  await db.tx((tx) => enqueueLimitUpdates(tx, clock.now(), vmIds))
  return []
}
