// What other features may use of VMs.
export type { VmDetails, VmRow } from './sql.ts'
export { listAllVms, lockVm as lockVmById, vmById } from './sql.ts'
export { recordVmEvent } from './events.ts'
export { driverForVmId as driverFor, driverForVm as driverOf, getVmRow, machineSpec, speedLimit } from './machine.ts'
export { restoreWorkflow, startRestore, type RestoreInput } from './restore.ts'
export { lockIdleVm, lockVm, preemptOpenRun as makeWay, requireIdle, requireVm } from './gate.ts'
export { unsuspendAccountVms as bringBackVmsOf, suspendAccountVms as suspendVmsOf, type SuspensionOutcome } from './account-suspension.ts'
export {
  startSuspension as orderSuspension,
  startUnsuspension as orderUnsuspension,
  suspendByOperator,
  unsuspendByOperator,
} from './operator.ts'
export { adopt, adoptInPowerState as adoptAsFound, probeUnmanagedVm as lookAtUnmanaged, unmanage } from './update.ts'
export { onMacChange } from './move.ts'
export { onVmDeleted, deleteUnpaidVm as removeUnpaid } from './delete.ts'
export { nextRenewal } from './period.ts'
export { suspend, unsuspend } from './power.ts'
export { requireAllowed, requirePaidPeriod as requirePaidMonth } from './rules.ts'
export { onResize as onShapeChange } from './shape.ts'
export { onBeforePowerOff } from './steps.ts'
