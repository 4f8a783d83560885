// The SDK method of every operation. `body` comes from the server's endpoint table and matches the operation.
import type { Berth } from '../src/index.ts'

interface Params {
  id: string
  vmId: string
  volumeId: string
  slug: string
  actionId: string
  ruleId: string
  routeId: string
  peeringId: string
  networkId: string
  deliveryId: string
}

type CallBySdk = (berth: Berth, params: Params, body: never) => Promise<unknown>

export const CALLS: Record<string, CallBySdk> = {
  listRegions: (berth) => berth.regions.list(),
  listNodes: (berth, { id }) => berth.regions.nodes(id),
  listPlans: (berth) => berth.plans.list(),
  listAvailability: (berth) => berth.plans.availability(),
  listOsTemplates: (berth) => berth.osTemplates.list(),
  getOsTemplate: (berth, { slug }) => berth.osTemplates.get(slug),

  search: (berth) => berth.search('key'),

  getAccount: (berth) => berth.account.get(),
  updateAccount: (berth, _, body) => berth.account.update(body),
  listMembers: (berth) => berth.members.list().page(),
  updateMember: (berth, { id }, body) => berth.members.update(id, body),
  deleteMember: (berth, { id }) => berth.members.delete(id),
  listInvitations: (berth) => berth.invitations.list().page(),
  createInvitation: (berth, _, body) => berth.invitations.create(body),
  deleteInvitation: (berth, { id }) => berth.invitations.delete(id),
  listAccountLimits: (berth) => berth.account.limits(),
  listAuditLog: (berth) => berth.account.auditLog().page(),

  listActions: (berth) => berth.actions.list().page(),
  listVmActions: (berth, { id }) => berth.actions.ofVm(id).page(),
  getAction: (berth, { id, actionId }) => berth.actions.get(id, actionId),

  getWallet: (berth) => berth.wallet.get(),
  listWalletTransactions: (berth) => berth.wallet.transactions().page(),
  getWalletTransaction: (berth, { id }) => berth.wallet.transaction(id),
  getWalletCosts: (berth) => berth.wallet.costs(),
  getWalletTimeline: (berth) => berth.wallet.timeline(),

  listDeposits: (berth) => berth.deposits.list().page(),
  createDeposit: (berth, _, body) => berth.deposits.create(body),
  getDeposit: (berth, { id }) => berth.deposits.get(id),
  listInvoices: (berth) => berth.invoices.list().page(),
  getInvoice: (berth, { id }) => berth.invoices.get(id),

  listTokens: (berth) => berth.tokens.list().page(),
  createToken: (berth, _, body) => berth.tokens.create(body),
  getToken: (berth, { id }) => berth.tokens.get(id),
  updateToken: (berth, { id }, body) => berth.tokens.update(id, body),
  revokeToken: (berth, { id }) => berth.tokens.revoke(id),

  listSshKeys: (berth) => berth.sshKeys.list().page(),
  createSshKey: (berth, _, body) => berth.sshKeys.create(body),
  getSshKey: (berth, { id }) => berth.sshKeys.get(id),
  renameSshKey: (berth, { id }) => berth.sshKeys.rename(id, 'renamed'),
  deleteSshKey: (berth, { id }) => berth.sshKeys.delete(id),

  listPlacementGroups: (berth) => berth.placementGroups.list().page(),
  createPlacementGroup: (berth, _, body) => berth.placementGroups.create(body),
  getPlacementGroup: (berth, { id }) => berth.placementGroups.get(id),
  renamePlacementGroup: (berth, { id }) => berth.placementGroups.rename(id, 'renamed'),
  deletePlacementGroup: (berth, { id }) => berth.placementGroups.delete(id),

  listAlerts: (berth) => berth.alerts.list().page(),
  createAlert: (berth, _, body) => berth.alerts.create(body),
  getAlert: (berth, { id }) => berth.alerts.get(id),
  updateAlert: (berth, { id }, body) => berth.alerts.update(id, body),
  deleteAlert: (berth, { id }) => berth.alerts.delete(id),

  listAnnouncements: (berth) => berth.announcements.list(),
  listMaintenances: (berth) => berth.maintenances.list().page(),

  listNetworks: (berth) => berth.networks.list().page(),
  createNetwork: (berth, _, body) => berth.networks.create(body),
  getNetwork: (berth, { id }) => berth.networks.get(id),
  renameNetwork: (berth, { id }) => berth.networks.rename(id, 'renamed'),
  deleteNetwork: (berth, { id }) => berth.networks.delete(id),
  listNetworkAttachments: (berth, { id }) => berth.networks.attachments(id),
  listNetworkRoutes: (berth, { id }) => berth.networks.routes(id),
  getNetworkRoute: (berth, { id, routeId }) => berth.networks.route(id, routeId),
  createNetworkRoute: (berth, { id }, body) => berth.networks.addRoute(id, body),
  deleteNetworkRoute: (berth, { id, routeId }) => berth.networks.deleteRoute(id, routeId),
  listNetworkPeerings: (berth, { id }) => berth.networks.peerings(id),
  createNetworkPeering: (berth, { id }, body) => berth.networks.addPeering(id, (body as { networkId: string }).networkId),
  getNetworkPeering: (berth, { id, peeringId }) => berth.networks.peering(id, peeringId),
  deleteNetworkPeering: (berth, { id, peeringId }) => berth.networks.deletePeering(id, peeringId),

  listImages: (berth) => berth.images.list().page(),
  createImage: (berth, _, body) => berth.images.create(body),
  getImage: (berth, { id }) => berth.images.get(id),
  updateImage: (berth, { id }, body) => berth.images.update(id, body),
  deleteImage: (berth, { id }) => berth.images.delete(id),
  listAddresses: (berth) => berth.addresses.list().page(),
  reserveAddress: (berth, _, body) => berth.addresses.reserve(body),
  getAddress: (berth, { id }) => berth.addresses.get(id),
  updateAddress: (berth, { id }, body) => berth.addresses.update(id, body),
  releaseAddress: (berth, { id }) => berth.addresses.release(id),
  assignAddress: (berth, { id }, body) => berth.addresses.assign(id, body),
  unassignAddress: (berth, { id }) => berth.addresses.unassign(id),

  listVolumes: (berth) => berth.volumes.list().page(),
  createVolume: (berth, _, body) => berth.volumes.create(body),
  getVolume: (berth, { id }) => berth.volumes.get(id),
  updateVolume: (berth, { id }, body) => berth.volumes.update(id, body),
  deleteVolume: (berth, { id }) => berth.volumes.delete(id),
  attachVolume: (berth, { id }, body) => berth.volumes.attach(id, body),
  detachVolume: (berth, { id }) => berth.volumes.detach(id),
  listVolumeSnapshots: (berth, { volumeId }) => berth.volumeSnapshots.list(volumeId).page(),
  createVolumeSnapshot: (berth, { volumeId }, body) => berth.volumeSnapshots.create(volumeId, body),
  getVolumeSnapshot: (berth, { volumeId, id }) => berth.volumeSnapshots.get(volumeId, id),
  updateVolumeSnapshot: (berth, { volumeId, id }, body) => berth.volumeSnapshots.update(volumeId, id, body),
  restoreVolumeSnapshot: (berth, { volumeId, id }) => berth.volumeSnapshots.restore(volumeId, id),
  deleteVolumeSnapshot: (berth, { volumeId, id }) => berth.volumeSnapshots.delete(volumeId, id),

  listFirewalls: (berth) => berth.firewalls.list().page(),
  createFirewall: (berth, _, body) => berth.firewalls.create(body),
  getFirewall: (berth, { id }) => berth.firewalls.get(id),
  changeFirewall: (berth, { id }, body) => berth.firewalls.update(id, body),
  deleteFirewall: (berth, { id }) => berth.firewalls.delete(id),
  listFirewallRules: (berth, { id }) => berth.firewalls.rules(id),
  addFirewallRule: (berth, { id }, body) => berth.firewalls.addRule(id, body),
  replaceFirewallRules: (berth, { id }) => berth.firewalls.replaceRules(id, [{ direction: 'IN', action: 'ACCEPT', protocol: 'ANY' }]),
  getFirewallUndo: (berth, { id }) => berth.firewalls.undoPreview(id),
  undoFirewallRules: (berth, { id }) => berth.firewalls.undo(id),
  confirmFirewallRules: (berth, { id }) => berth.firewalls.confirm(id),
  getFirewallRule: (berth, { id, ruleId }) => berth.firewalls.rule(id, ruleId),
  changeFirewallRule: (berth, { id, ruleId }, body) => berth.firewalls.updateRule(id, ruleId, body),
  deleteFirewallRule: (berth, { id, ruleId }) => berth.firewalls.deleteRule(id, ruleId),
  listFirewallBindings: (berth, { id }) => berth.firewalls.bindings(id),
  getFirewallBinding: (berth, { id, vmId }) => berth.firewalls.binding(id, vmId),
  bindFirewall: (berth, { id }, body) => berth.firewalls.bind(id, (body as { vmId: string }).vmId),
  unbindFirewall: (berth, { id, vmId }) => berth.firewalls.unbind(id, vmId),
  checkPacket: (berth, { id }, body) => berth.firewalls.check(id, body),

  createVm: (berth, _, body) => berth.vms.create(body),
  listVms: (berth) => berth.vms.list().page(),
  getVm: (berth, { id }) => berth.vms.get(id),
  updateVm: (berth, { id }, body) => berth.vms.update(id, body),
  deleteVm: (berth, { id }) => berth.vms.delete(id),
  startVm: (berth, { id }) => berth.vms.start(id),
  stopVm: (berth, { id }, body) => berth.vms.stop(id, body),
  restartVm: (berth, { id }) => berth.vms.restart(id),
  resizeVm: (berth, { id }, body) => berth.vms.resize(id, body as { disk: number }),
  upgradeVm: (berth, { id }, body) => berth.vms.upgrade(id, (body as { planId: string }).planId),
  rebuildVm: (berth, { id }, body) => berth.vms.rebuild(id, body),
  shelveVm: (berth, { id }) => berth.vms.shelve(id),
  unshelveVm: (berth, { id }) => berth.vms.unshelve(id),
  rescueVm: (berth, { id }, body) => berth.vms.rescue(id, body),
  unrescueVm: (berth, { id }) => berth.vms.unrescue(id),
  attachIso: (berth, { id }, body) => berth.vms.attachIso(id, body),
  detachIso: (berth, { id }) => berth.vms.detachIso(id),
  setVmPassword: (berth, { id }) => berth.vms.setPassword(id, 'a new password'),
  checkReach: (berth, { id }, body) => berth.vms.checkReach(id, body),
  attachNetwork: (berth, { id }, body) => berth.vms.attachNetwork(id, (body as { networkId: string }).networkId),
  detachNetwork: (berth, { id, networkId }) => berth.vms.detachNetwork(id, networkId),
  openConsole: (berth, { id }) => berth.vms.openConsole(id, 'serial'),
  getVmMetrics: (berth, { id }) => berth.vms.metrics(id),
  getRecentVmMetrics: (berth, { id }) => berth.vms.recentMetrics([id!]),

  startBulkAction: (berth, _, body) => berth.vms.bulk(body),

  listSnapshots: (berth, { vmId }) => berth.snapshots.list(vmId).page(),
  createSnapshot: (berth, { vmId }, body) => berth.snapshots.create(vmId, body),
  getSnapshot: (berth, { vmId, id }) => berth.snapshots.get(vmId, id),
  updateSnapshot: (berth, { vmId, id }, body) => berth.snapshots.update(vmId, id, body),
  restoreSnapshot: (berth, { vmId, id }) => berth.snapshots.restore(vmId, id),
  deleteSnapshot: (berth, { vmId, id }) => berth.snapshots.delete(vmId, id),

  listBackups: (berth, { vmId }) => berth.backups.list(vmId).page(),
  createBackup: (berth, { vmId }, body) => berth.backups.create(vmId, body),
  getBackup: (berth, { vmId, id }) => berth.backups.get(vmId, id),
  getBackupScreenshot: (berth, { vmId, id }) => berth.backups.screenshot(vmId, id),
  updateBackup: (berth, { vmId, id }, body) => berth.backups.update(vmId, id, body),
  restoreBackup: (berth, { vmId, id }, body) => berth.backups.restore(vmId, id, body),
  deleteBackup: (berth, { vmId, id }) => berth.backups.delete(vmId, id),

  listBandwidth: (berth) => berth.bandwidth.list(),
  listBandwidthPacks: (berth, { vmId }) => berth.bandwidth.packs(vmId).page(),
  buyBandwidthPack: (berth, { vmId }) => berth.bandwidth.buyPack(vmId, 100),

  listEvents: (berth) => berth.events.page(),

  listWebhooks: (berth) => berth.webhooks.list().page(),
  createWebhook: (berth, _, body) => berth.webhooks.create(body),
  getWebhook: (berth, { id }) => berth.webhooks.get(id),
  updateWebhook: (berth, { id }, body) => berth.webhooks.update(id, body),
  deleteWebhook: (berth, { id }) => berth.webhooks.delete(id),
  testWebhook: (berth, { id }) => berth.webhooks.test(id),
  rotateWebhookSecret: (berth, { id }) => berth.webhooks.rotateSecret(id),
  listWebhookDeliveries: (berth, { id }) => berth.webhooks.deliveries(id).page(),
  getWebhookDelivery: (berth, { id, deliveryId }) => berth.webhooks.delivery(id, deliveryId),
  redeliverWebhookDelivery: (berth, { id, deliveryId }) => berth.webhooks.redeliver(id, deliveryId),

  listProjects: (berth) => berth.projects.list().page(),
  createProject: (berth, _, body) => berth.projects.create(body),
  getProject: (berth, { id }) => berth.projects.get(id),
  updateProject: (berth, { id }, body) => berth.projects.update(id, body),
  deleteProject: (berth, { id }) => berth.projects.delete(id),

  listTickets: (berth) => berth.tickets.list().page(),
  createTicket: (berth, _, body) => berth.tickets.create(body),
  getTicket: (berth, { id }) => berth.tickets.get(id),
  replyToTicket: (berth, { id }) => berth.tickets.reply(id, 'And now?'),
}
