// Calls the hooks that other features register for VM changes.
import type { Driver } from '../../../hypervisor/driver.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import type { Deps, EventDeps } from '../../deps.ts'
import * as sql from './sql.ts'

export async function resizeVm(tx: Tx, deps: EventDeps, vmId: string, size: sql.VmSize): Promise<void> {
  await sql.setShape(tx, deps.clock.now(), vmId, size)
  await notifyResized(tx, deps, vmId)
}

export async function notifyResized(tx: Tx, deps: EventDeps, vmId: string): Promise<void> {
  for (const hook of deps.hooks.onVmResized) await hook(tx, deps, vmId)
}

export async function notifyMacChanged(tx: Tx, deps: EventDeps, vmId: string, before: { mac: string; hostId: string }): Promise<void> {
  for (const hook of deps.hooks.onVmMacChanged) await hook(tx, deps, vmId, before)
}

export async function notifyDeleted(tx: Tx, deps: EventDeps, vm: sql.VmDetails, isLeft: boolean): Promise<void> {
  for (const hook of deps.hooks.onVmDeleted) await hook(tx, { ...vm, isLeft }, deps)
}

export async function runBeforePowerOff(deps: Deps, vmId: string, driver: Driver, signal: AbortSignal): Promise<void> {
  const run = (hook: Deps['hooks']['beforePowerOff'][number]) =>
    hook(deps, vmId, driver, signal).catch((error: unknown) => deps.log.warn({ err: error, vmId }, 'pre-power-off hook failed'))
  await Promise.all(deps.hooks.beforePowerOff.map(run))
}
