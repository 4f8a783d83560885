// Moves a machine between two hosts, as one call that can be repeated after any crash: what both hosts have says how far it is.
import { isDriverError, type Driver, type MachineSpec, type MigrationRequest } from './driver.ts'

export interface Move extends Omit<MigrationRequest, 'receiver' | 'hasArrived' | 'dropReceiver'> {
  spec: MachineSpec
  from: Driver
  to: Driver
}

/** Where `from` does not answer, `to` alone says whether the machine has arrived. */
export async function migrateMachine({ spec, from, to, ...request }: Move, signal: AbortSignal): Promise<void> {
  const { vmId } = spec
  const there = { ...spec, cpus: request.cpus }
  const found = await from.findMachine(vmId, signal).catch(async (error: unknown) => {
    if (isDriverError(error, 'unreachable') && (await isReceived(to, spec, request, signal))) return null
    throw error
  })
  if (found) {
    const receiver = await to.ensureReceiver(there, await from.describeDisk(vmId, signal), signal)
    // Its guest may have powered itself off there. One that is paused may still be arriving.
    const hasArrived = async (): Promise<boolean> => ((await to.findMachine(vmId, signal))?.power ?? 'paused') !== 'paused'
    const dropReceiver = () => to.ensurePurgedKeepBackups(vmId, signal)
    await from.ensureMigrated(spec, { ...request, receiver, hasArrived, dropReceiver }, signal)
  }
  await to.ensureReceived(there, request, signal)
}

/** A host that was destroyed is null. `uri` is that of `from`. */
export type Return = Omit<Move, 'from' | 'to'> & { from: Driver | null; to: Driver | null }

export interface Returned {
  /** Remains are at `to`. */
  isLeft: boolean
  /** It stays at `to`, which has its newest disk: `from` cannot be asked or has an older one, or the guest has powered itself off there. */
  hasArrived: boolean
}

/**
 * Undoes it: the machine is on `from` as it was, and `to` has nothing of it. Where the machine has not left, this needs no answer of `to`.
 */
export async function returnMachine({ spec, from, to, ...request }: Return, signal: AbortSignal): Promise<Returned> {
  const { vmId } = spec
  const wanted = request.isOn ? 'running' : 'stopped'
  const stays = { isLeft: false, hasArrived: true }
  const isThere = async (): Promise<boolean> => to !== null && (await isReceived(to, spec, request, signal))
  try {
    await from?.ensureNotMigrating(vmId, request, signal)
  } catch (error) {
    if (isDriverError(error, 'unreachable') && (await isThere())) return stays
    throw error
  }
  const power = (await from?.findMachine(vmId, signal))?.power
  if (power !== wanted) {
    if (await isThere()) {
      if (!from || power !== undefined || (await to!.findMachine(vmId, signal))?.power !== wanted) return stays
      await migrateMachine({ spec, from: to!, to: from, ...request }, signal)
    }
    // On neither of them: the destination lost it when it had hardly arrived, or was destroyed. Or the daemon of `from` died at the last moment.
    else if (from && (power === undefined || power === 'paused')) {
      if (power === undefined && spec.storageId !== null) await from.ensureDisk(spec, { from: 'pool' }, signal) // it left with the machine
      await (request.isOn ? from.ensureRunning(spec, signal) : from.ensureDefined(spec, signal))
    }
  }
  const returned = { isLeft: false, hasArrived: false }
  return to
    ? to.ensurePurgedKeepBackups(vmId, signal).then(
        () => returned,
        (error: unknown) => {
          if (isDriverError(error, 'unreachable', 'unknown_outcome')) return { ...returned, isLeft: true }
          throw error
        },
      )
    : returned
}

async function isReceived(to: Driver, spec: MachineSpec, { isOn }: { isOn: boolean }, signal: AbortSignal): Promise<boolean> {
  if (!(await to.findMachine(spec.vmId, signal))) return false
  return to.ensureReceived(spec, { isOn }, signal).then(
    () => true,
    (error: unknown) => {
      if (isDriverError(error, 'not_found')) return false
      throw error
    },
  )
}
