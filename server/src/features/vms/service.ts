// What other features may use of VMs.
export type { VmDetails, VmRow } from './model/sql.ts'
export { listAllVms, lockVm as lockVmById, vmById } from './model/sql.ts'
export { recordVmEvent } from './model/events.ts'
export { driverForVmId as driverFor, driverForVm as driverOf, getVmRow, machineSpec, speedLimit } from './model/machine-spec.ts'
export { restoreWorkflow, startRestore, type RestoreInput } from './actions/restore.ts'
export { lockIdleVm, lockVm, preemptOpenRun as makeWay, requireIdle, requireVm } from './model/guards.ts'
export { unsuspendAccountVms as bringBackVmsOf, suspendAccountVms as suspendVmsOf, type SuspensionOutcome } from './operator/suspend.ts'
export {
  startSuspension as orderSuspension,
  startUnsuspension as orderUnsuspension,
  suspendByOperator,
  unsuspendByOperator,
} from './operator/suspend.ts'
export { adopt, adoptInPowerState as adoptAsFound, probeUnmanagedVm as lookAtUnmanaged, unmanage } from './actions/update.ts'
export { deleteUnpaidVm as removeUnpaid } from './actions/delete.ts'
export { nextRenewal } from './billing/pricing.ts'
export { suspend, unsuspend } from './actions/power.ts'
export { requireAllowed, requirePaidPeriod as requirePaidMonth } from './model/allowed-actions.ts'
