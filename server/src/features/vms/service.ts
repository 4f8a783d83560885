// The public interface of this feature for other features.
export type { VmDetails, VmRow } from './model/sql.ts'
export { listAllVms, lockSelectedVms, lockVmById, setCopyPrices, vmById } from './model/sql.ts'
export { recordVmEvent } from './model/events.ts'
export { backupPolicyOf } from './model/backup-policy.ts'
export { driverForVm, driverForVmId, getVmRow, machineSpec, templateRef } from './model/machine-spec.ts'
export { provisionWorkflow, type ProvisionInput } from './actions/create.ts'
export { numbered } from './actions/choices.ts'
export { restoreWorkflow, startRestore, type RestoreInput, type RestoreRequest } from './actions/restore.ts'
export { awaitReadyOrEnd, boot, powerOff, purge } from './steps.ts'
export { findBlockingRun, lockOwnVm, requireVm, startAction, startRunOf, type StartRun } from './model/guards.ts'
export {
  startSuspension,
  startUnsuspension,
  suspendAccountVms,
  suspendByOperator,
  suspendUnpaid,
  unsuspendAccountVms,
  unsuspendByOperator,
  type SuspensionOutcome,
} from './operator/suspend.ts'
export { adopt, adoptInPowerState, probeUnmanagedVm, unmanage, unmanageWhenIdle } from './operator/manage.ts'
export { releaseRestoreRoom, reserveRestoreRoom } from './model/restore-room.ts'
export { DRAIN } from './move/steps.ts'
export { endRescueByOperator } from './operator/rescue.ts'
export { DETACH_ISO, takeUnpaidIso } from './actions/iso.ts'
export { vmsWithIso } from './model/iso.ts'
export { UNRESCUE } from './actions/rescue.ts'
export { backupsNote, cancelMigration, planMigration, startMigration } from './operator/migrate.ts'
export { requireMovable, requirePair } from './move/destination.ts'
export { evacuateVm } from './recovery/evacuate.ts'
export { startOnHost, startOnOtherHost } from './recovery/recover.ts'
export { clearFailedRecovery, findFailedRecovery, listFailedRecoveries, postponeFailedRecovery } from './model/failed-recoveries.ts'
export { loseVm, markWaiting } from './operator/lose.ts'
export { deleteUnpaidVm, remove } from './actions/delete.ts'
export {
  clearStaleMachine,
  findOtherRunner,
  findStaleElsewhere,
  forgetHarmlessMachines,
  hasStaleMachine,
  isStale,
  recordStaleMachine,
} from './model/stale-machines.ts'
export { nextRenewal, renewalParts, secondsLeft, speedBought, trafficPackPrice, wholeDaysBetween } from './billing/pricing.ts'
export {
  chargeCopy,
  quoteCopy,
  refundCopies,
  releaseCopies,
  recountCopyQuota,
  releaseCopyQuota,
  releaseCopyRoom,
  reserveCopy,
  type CountedCopy,
  type CopyTerms,
} from './billing/copies.ts'
export { askGuests, GUEST_TIMEOUT_MS, LOOK_AGAIN, nextTry, type DueGuest } from './model/guest-turns.ts'
export { controllerForVm, isPlaced, portSpecs } from './model/ports.ts'
export { applyPortsNow } from './reconcilers/apply-ports.reconciler.ts'
export { restart, start, startVm, stop, unsuspend } from './actions/power.ts'
export { isPreemptible, requireAllowed, requireNotHeld, requirePaidPeriod, SHELVED } from './model/allowed-actions.ts'
