// Everything the product can do, in dependency order.
import type { Counters } from '../kernel/database/window-counters.ts'
import type { AnyWorkflow } from '../workflow/executor.ts'
import type { Reconciler } from '../workflow/reconciler-loop.ts'
import { accountRoutes } from './accounts/routes.ts'
import { actionRoutes } from './actions/routes.ts'
import { configureGuests } from './addresses/guests.reconciler.ts'
import { moveAddress } from './addresses/move.workflow.ts'
import { finishReleases } from './addresses/releases.reconciler.ts'
import { evaluateAlerts } from './alerts/evaluate.reconciler.ts'
import { alertRoutes } from './alerts/routes.ts'
import { alertEvents } from './alerts/schema.ts'
import { renewAddresses, triggerAddressRenewals } from './addresses/renew.reconciler.ts'
import { endAddressRests } from './addresses/rests.reconciler.ts'
import { addressRoutes } from './addresses/routes.ts'
import { addressEvents } from './addresses/schema.ts'
import { onVmEvacuated, unassignAll } from './addresses/service.ts'
import { pruneAuditLog } from './audit-log/prune.reconciler.ts'
import { keepAddressHistory } from './address-history/upkeep.reconciler.ts'
import { announcementRoutes } from './announcements/routes.ts'
import { auditLogRoutes } from './audit-log/routes.ts'
import { dailyBackups } from './backups/daily.reconciler.ts'
import { proveBackups } from './backups/prove.reconciler.ts'
import { removeInTargets } from './backups/purge-targets.reconciler.ts'
import { removeBackups } from './backups/purge.reconciler.ts'
import { backupRoutes } from './backups/routes.ts'
import { backupEvents } from './backups/schema.ts'
import { openBackupAsSource, removeOrphans } from './backups/service.ts'
import { sweepOrphanVolumes } from './backups/orphan-volumes.reconciler.ts'
import { backupWorkflows } from './backups/workflows.ts'
import { meterBeforePowerOff } from './bandwidth/metering.ts'
import { meter, watchTraffic } from './bandwidth/meter.reconciler.ts'
import { bandwidthRoutes } from './bandwidth/routes.ts'
import { bandwidthEvents } from './bandwidth/schema.ts'
import { onVmMacChanged, onVmResized } from './bandwidth/service.ts'
import { renewals, triggerRenewals } from './billing/renew.reconciler.ts'
import { billingEvents } from './billing/schema.ts'
import { billingRoutes } from './billing/routes.ts'
import { forecast } from './billing/service.ts'
import { lowBalance } from './billing/low-balance.reconciler.ts'
import { bulkActionRoutes } from './bulk-actions/routes.ts'
import { catalogRoutes } from './catalog/routes.ts'
import { pruneConsoles } from './consoles/prune.reconciler.ts'
import { consoleRoutes } from './consoles/routes.ts'
import { consoleEvents } from './consoles/schema.ts'
import { watchBackupTargets } from './backup-targets/watch.reconciler.ts'
import { dailyControlPlaneBackups } from './control-plane-backups/daily.reconciler.ts'
import type { Deps, Hooks, Routes } from './deps.ts'
import { pruneEvents } from './events/prune.reconciler.ts'
import { eventRoutes } from './events/routes.ts'
import type { EventCatalog } from './events/schema.ts'
import { firewallRoutes } from './firewalls/routes.ts'
import { firewallEvents } from './firewalls/schema.ts'
import { undoUnconfirmed } from './firewalls/undo.reconciler.ts'
import { renewChassisCertificates } from './hosts/chassis-certificates.reconciler.ts'
import { carryOutDrains } from './fleet/drain.reconciler.ts'
import { enrollHosts } from './hosts/enroll.reconciler.ts'
import { readCertificates, readChassis } from './hosts/identity.reconciler.ts'
import { heartbeat } from './hosts/heartbeat.reconciler.ts'
import { watchSilence } from './hosts/silence.reconciler.ts'
import { applyPublicNetworks } from './hosts/public-network.reconciler.ts'
import { hostRoutes } from './hosts/routes.ts'
import { pruneMetrics } from './metrics/prune.reconciler.ts'
import { rollUpMetrics } from './metrics/roll-up.reconciler.ts'
import { mailInvitations } from './members/mail.reconciler.ts'
import { membershipRoutes } from './members/memberships.routes.ts'
import { pruneInvitations } from './members/prune.reconciler.ts'
import { memberRoutes } from './members/routes.ts'
import { memberEvents } from './members/schema.ts'
import { metricsRoutes } from './metrics/routes.ts'
import { sampleMetrics } from './metrics/sample.reconciler.ts'
import { copyImages } from './images/copy.reconciler.ts'
import { removeImageCopy, storeImageCopy } from './images/copy.workflow.ts'
import { createImageWorkflow, importImageWorkflow } from './images/create.workflow.ts'
import { importTemplateWorkflow } from './images/import-template.workflow.ts'
import { evictImages, purgeImages, sweepImageFiles } from './images/purge.reconciler.ts'
import { renewImages, triggerImageRenewals } from './images/renew.reconciler.ts'
import { imageRoutes } from './images/routes.ts'
import { imageEvents } from './images/schema.ts'
import { issueInvoices } from './invoices/issue.reconciler.ts'
import { invoiceRoutes } from './invoices/routes.ts'
import { maintenanceRoutes } from './maintenances/routes.ts'
import { maintenanceEvents } from './maintenances/schema.ts'
import { applyNetworks } from './networks/apply.reconciler.ts'
import { watchNetworks } from './networks/drift.reconciler.ts'
import { networkRoutes } from './networks/routes.ts'
import { queueMail } from './notifications/queue-email.ts'
import { pruneMails, sendMails } from './notifications/send.reconciler.ts'
import { measureBusiness } from './operator/measure.reconciler.ts'
import { operatorRoutes } from './operator/routes.ts'
import type { HealthChecks } from './operator/actions-health.ts'
import { fenceHost } from './recovery/fence.workflow.ts'
import { followLostHosts } from './recovery/lost-hosts.reconciler.ts'
import { retryRecoveries } from './recovery/retries.reconciler.ts'
import { applyReverseNames } from './reverse-names/apply.reconciler.ts'
import { expireDeposits } from './payments/expire.reconciler.ts'
import { depositRoutes } from './payments/routes.ts'
import { pruneUsers } from './users/prune.reconciler.ts'
import { pruneSessions } from './sessions/prune.reconciler.ts'
import { identityRoutes } from './sessions/identities.routes.ts'
import { mailIdentities } from './identities/mail.reconciler.ts'
import { pruneFlows, refreshProviders } from './identities/refresh.reconciler.ts'
import { searchRoutes } from './search/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { snapshotRoutes } from './snapshots/routes.ts'
import { snapshotEvents } from './snapshots/schema.ts'
import { releaseAllSnapshots } from './snapshots/service.ts'
import { snapshotWorkflows } from './snapshots/workflows.ts'
import { placementGroupRoutes } from './placement-groups/routes.ts'
import { projectRoutes } from './projects/routes.ts'
import { projectEvents } from './projects/schema.ts'
import { sshKeyRoutes } from './ssh-keys/routes.ts'
import { watchStorage } from './storage/watch.reconciler.ts'
import { ticketRoutes } from './support/routes.ts'
import { ticketEvents } from './support/schema.ts'
import { scopeRoutes, tokenRoutes } from './tokens/routes.ts'
import { revokeTokensBeyond } from './tokens/service.ts'
import { tokenEvents } from './tokens/schema.ts'
import { availabilityRoutes } from './vms/availability.routes.ts'
import { firewallBindingRoutes } from './vms/firewall-bindings.routes.ts'
import { subscribeHostEvents } from './vms/reconcilers/power-sync.reconciler.ts'
import { askInitializations } from './vms/reconcilers/initializations.reconciler.ts'
import { applyCpus } from './vms/reconcilers/apply-cpus.reconciler.ts'
import { applyPorts } from './vms/reconcilers/apply-ports.reconciler.ts'
import { tellRoutes } from './vms/reconcilers/guest-routes.reconciler.ts'
import { watchPorts } from './vms/reconcilers/port-drift.reconciler.ts'
import { sweepOrphanImages } from './vms/reconcilers/orphan-images.reconciler.ts'
import { endRescues } from './vms/reconcilers/rescues.reconciler.ts'
import { reconcileStaleMachines } from './vms/reconcilers/stale-machines.reconciler.ts'
import { confirmPowerStates, syncPowerStates } from './vms/reconcilers/power-sync.reconciler.ts'
import { enforceSuspension } from './vms/reconcilers/enforce-suspension.reconciler.ts'
import { vmRoutes } from './vms/routes.ts'
import { vmEvents } from './vms/schema.ts'
import { vmWorkflows } from './vms/workflows.ts'
import { failMissingSnapshots } from './volume-snapshots/missing-data.ts'
import { volumeSnapshotRoutes } from './volume-snapshots/routes.ts'
import { volumeSnapshotEvents } from './volume-snapshots/schema.ts'
import { volumeSnapshotWorkflows } from './volume-snapshots/workflows.ts'
import { attachWorkflow, detachWorkflow } from './volumes/attach.workflow.ts'
import { createFromSnapshotWorkflow } from './volumes/from-snapshot.workflow.ts'
import { growWorkflow } from './volumes/grow.workflow.ts'
import { purgeVolumes } from './volumes/purge.reconciler.ts'
import { renewVolumes, triggerVolumeRenewals } from './volumes/renew.reconciler.ts'
import { volumeRoutes } from './volumes/routes.ts'
import { volumeEvents } from './volumes/schema.ts'
import { keepVolumes } from './volumes/service.ts'
import { endVmVolumes, openVmVolumes } from './volumes/with-vm.ts'
import { walletRoutes } from './wallet/routes.ts'
import { walletEvents } from './wallet/schema.ts'
import { deliverWebhooks } from './webhooks/deliver.reconciler.ts'
import { fanOut } from './webhooks/fan-out.ts'
import { pruneWebhooks } from './webhooks/prune.reconciler.ts'
import { webhookRoutes } from './webhooks/routes.ts'
import { webhookEvents, webhookMessages } from './webhooks/schema.ts'

/** Every type of event: what can be recorded, subscribed to and documented. */
export const eventCatalog: EventCatalog = {
  ...vmEvents,
  ...billingEvents,
  ...walletEvents,
  ...ticketEvents,
  ...snapshotEvents,
  ...backupEvents,
  ...imageEvents,
  ...bandwidthEvents,
  ...consoleEvents,
  ...addressEvents,
  ...volumeEvents,
  ...volumeSnapshotEvents,
  ...maintenanceEvents,
  ...memberEvents,
  ...tokenEvents,
  ...alertEvents,
  ...projectEvents,
  ...firewallEvents,
  ...webhookEvents,
}

/** What receivers of webhooks are sent. */
export const messages = webhookMessages(eventCatalog)

export const routes: Routes[] = [
  catalogRoutes,
  accountRoutes,
  memberRoutes,
  actionRoutes,
  eventRoutes(eventCatalog),
  walletRoutes(forecast),
  billingRoutes,
  depositRoutes,
  invoiceRoutes,
  auditLogRoutes,
  tokenRoutes,
  hostRoutes,
  sshKeyRoutes,
  placementGroupRoutes,
  networkRoutes,
  firewallRoutes,
  availabilityRoutes,
  vmRoutes,
  announcementRoutes,
  maintenanceRoutes,
  consoleRoutes,
  metricsRoutes,
  snapshotRoutes,
  bulkActionRoutes,
  backupRoutes,
  imageRoutes,
  firewallBindingRoutes,
  bandwidthRoutes,
  addressRoutes,
  volumeRoutes,
  volumeSnapshotRoutes,
  alertRoutes,
  webhookRoutes(eventCatalog),
  ticketRoutes,
  projectRoutes,
  searchRoutes,
]

/** What only people do. `counters` are of their wrong attempts, `look` asks how this process is doing. */
export const personalRoutes = (counters: Counters, look: HealthChecks): Routes[] => [
  sessionRoutes(counters),
  identityRoutes(counters),
  membershipRoutes,
  scopeRoutes,
  ...operatorRoutes(look),
]

export const workflows: AnyWorkflow[] = [
  ...vmWorkflows,
  ...snapshotWorkflows,
  ...backupWorkflows,
  createImageWorkflow,
  importImageWorkflow,
  importTemplateWorkflow,
  storeImageCopy,
  removeImageCopy,
  moveAddress,
  attachWorkflow,
  detachWorkflow,
  growWorkflow,
  createFromSnapshotWorkflow,
  ...volumeSnapshotWorkflows,
  fenceHost,
]

export const reconcilers: Reconciler<Deps>[] = [
  pruneAuditLog,
  pruneEvents,
  keepAddressHistory,
  pruneUsers,
  pruneSessions,
  pruneFlows,
  refreshProviders,
  mailIdentities,
  mailInvitations,
  pruneInvitations,
  heartbeat,
  watchSilence,
  followLostHosts,
  retryRecoveries,
  renewChassisCertificates,
  enrollHosts,
  readCertificates,
  readChassis,
  watchStorage,
  applyPublicNetworks,
  applyReverseNames,
  applyNetworks,
  watchNetworks,
  applyCpus,
  applyPorts,
  undoUnconfirmed,
  tellRoutes,
  askInitializations,
  watchPorts,
  syncPowerStates,
  confirmPowerStates,
  subscribeHostEvents,
  reconcileStaleMachines,
  endRescues,
  sweepOrphanImages,
  enforceSuspension,
  carryOutDrains,
  pruneConsoles,
  sampleMetrics,
  rollUpMetrics,
  pruneMetrics,
  watchBackupTargets,
  dailyControlPlaneBackups,
  dailyBackups,
  proveBackups,
  removeBackups,
  removeInTargets,
  sweepOrphanVolumes,
  purgeImages,
  evictImages,
  sweepImageFiles,
  copyImages,
  meter,
  watchTraffic,
  finishReleases,
  endAddressRests,
  configureGuests,
  renewals,
  renewAddresses,
  renewImages,
  purgeVolumes,
  renewVolumes,
  lowBalance,
  evaluateAlerts,
  issueInvoices,
  expireDeposits,
  deliverWebhooks,
  pruneWebhooks,
  sendMails,
  measureBusiness,
  pruneMails,
]

export const hooks: Hooks = {
  onEvent: [fanOut, queueMail],
  onCredit: [triggerRenewals, triggerAddressRenewals, triggerImageRenewals, triggerVolumeRenewals],
  onRightsTaken: [revokeTokensBeyond],
  onVmResized: [onVmResized],
  onVmMacChanged: [onVmMacChanged, onVmEvacuated],
  onVmDeleted: [releaseAllSnapshots, removeOrphans, unassignAll, keepVolumes],
  onCopiesListed: [failMissingSnapshots],
  openVmSource: openBackupAsSource,
  openVmVolumes,
  endVmVolumes,
  beforePowerOff: [meterBeforePowerOff],
}
