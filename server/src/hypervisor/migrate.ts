// Moves a machine between two hosts, as one call that can be repeated after any crash: what both hosts have says how far it is.
import { isDriverError, type Driver, type MachineSpec, type MigrationRequest } from './driver.ts'

export interface Move extends Omit<MigrationRequest, 'receiver' | 'hasArrived'> {
  spec: MachineSpec
  from: Driver
  to: Driver
}

export async function migrateMachine({ spec, from, to, ...request }: Move, signal: AbortSignal): Promise<void> {
  if (await from.findMachine(spec.vmId, signal)) {
    const receiver = await to.ensureReceiver(spec, await from.describeDisk(spec.vmId, signal), signal)
    const hasArrived = async (): Promise<boolean> => (await to.findMachine(spec.vmId, signal))?.power === 'running'
    await from.ensureMigrated(spec, { ...request, receiver, hasArrived }, signal)
  }
  await to.ensureReceived(spec, request, signal)
}

/**
 * Undoes it: the machine is on `from` as it was, and `to` has nothing of it. Where the machine has not left, this needs no answer of `to`; `isLeft`
 * then says that remains are there. `uri` is that of `from`.
 */
export async function returnMachine({ spec, from, to, ...request }: Move, signal: AbortSignal): Promise<{ isLeft: boolean }> {
  const { vmId } = spec
  await from.ensureNotMigrating(vmId, request, signal)
  const power = (await from.findMachine(vmId, signal))?.power
  if (power !== (request.isOn ? 'running' : 'stopped')) {
    if (await isReceived(to, spec, request, signal)) await migrateMachine({ spec, from: to, to: from, ...request }, signal)
    // On neither of them: the destination lost it when it had hardly arrived. Or the daemon of `from` died at the last moment.
    else if (power === undefined || power === 'paused')
      await (request.isOn ? from.ensureRunning(spec, signal) : from.ensureDefined(spec, signal))
  }
  return to.ensurePurgedKeepBackups(vmId, signal).then(
    () => ({ isLeft: false }),
    (error: unknown) => {
      if (isDriverError(error, 'unreachable', 'unknown_outcome')) return { isLeft: true }
      throw error
    },
  )
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
