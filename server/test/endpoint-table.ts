// A valid call of every operation. A new operation needs an entry here: a setup that returns its path parameters and body. It runs for two
// customers, so it must not use unique names.
import { proveBackups } from '../src/features/backups/prove.reconciler.ts'
import { issueInvoices } from '../src/features/invoices/issue.reconciler.ts'
import { createAnnouncement } from '../src/features/announcements/service.ts'
import { announceMaintenance } from '../src/features/maintenances/service.ts'
import { addSimulatedStorage, listStorageBackends } from '../src/features/storage/service.ts'
import { reconcileStaleMachines } from '../src/features/vms/reconcilers/stale-machines.reconciler.ts'
import { addDuration, manualClock } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { newId } from '../src/kernel/ids.ts'
import { givenIso } from './iso-image.ts'
import { generateKey } from './openssh-keys.ts'
import type { TestApp } from './harness.ts'

export interface Call {
  params?: Record<string, string>
  query?: string
  body?: Record<string, unknown>
  /** What a user must enter besides the password to reauthenticate. */
  proof?: Record<string, string>
  /** That its body asks for, besides the scope of the operation. */
  otherScopes?: string[]
  /** The ids in the path are public: there is no other account to test. */
  shared?: true
}

export type Customer = Awaited<ReturnType<TestApp['given']['customer']>>

/** The fixture of one customer. */
export function fixtureOf(app: TestApp, customer: Customer) {
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await customer.post(path, body)
    if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${answer.body.error}`)
    return answer.body.data.id as string
  }
  /** For resources created by an action: sends the request, completes the action and returns the id. */
  const madeByAction = async (vmId: string, path: string, thing: string): Promise<string> => {
    const answer = await customer.post(`/vms/${vmId}/${path}`, { name: thing })
    if (answer.status !== 202) throw new Error(`POST ${path} answered ${answer.status}: ${answer.body.error}`)
    await app.settle({ subjectId: vmId })
    return answer.body.data[thing].id as string
  }
  const catalog = async (path: string, slug: string): Promise<string> =>
    ((await customer.get(path)).body.data as { id: string; slug: string }[]).find((each) => each.slug === slug)!.id
  const fixture = {
    placementGroup: () => made('/placement-groups', { name: 'web', policy: 'SPREAD' }),
    alert: () => made('/alerts', { name: 'busy', metric: 'cpuPercent', comparison: 'ABOVE', threshold: 90 }),
    maintenance: async () => {
      await fixture.vm()
      const [startsAt, endsAt] = [addDuration(app.clock.now(), '1d'), addDuration(app.clock.now(), '2d')]
      const order = { host: app.host.id, startsAt, endsAt, text: 'New memory' }
      return (await app.db.tx((tx) => announceMaintenance(tx, app.deps, order))).id
    },
    announcement: async () =>
      (await app.db.tx((tx) => createAnnouncement(tx, app.clock.now(), { level: 'INFO', text: 'A new region opens' }))).id,
    project: () => made('/projects', { name: 'shop' }),
    token: () => made('/tokens', { name: 'ci', scopes: ['vms:read'] }),
    key: () => made('/ssh-keys', { name: 'key', publicKey: generateKey().line }),
    region: async () => (await app.given.vmInput()).regionId,
    template: async () => (await app.given.vmInput()).osTemplateId,
    plan: (slug: string) => catalog('/plans', slug),
    network: async () => made('/networks', { name: 'net', nodeId: app.host.id, cidr: nextRange() }),
    routeIn: async (network: string) => ({
      destination: '192.168.7.0/24',
      nextHop: (await customer.get(`/networks/${network}`)).body.data.gateway.replace(/1$/, '9') as string,
    }),
    route: async (network: string) => made(`/networks/${network}/routes`, await fixture.routeIn(network)),
    peering: async (network: string) => made(`/networks/${network}/peerings`, { networkId: await fixture.network() }),
    address: async () => {
      await app.db.run(sql`update address_pools set host_id = null`) // only a region's own addresses can move
      return made('/addresses', { regionId: await fixture.region() })
    },
    image: async () => {
      const answer = await customer.post('/images', { name: 'image', vmId: await fixture.vm() })
      if (answer.status !== 202) throw new Error(`POST /images answered ${answer.status}: ${answer.body.error}`)
      await app.settle()
      return answer.body.data.image.id as string
    },
    iso: () => givenIso(app, customer),
    vmWithIso: async () => {
      const id = await fixture.vm()
      await customer.put(`/vms/${id}/iso`, { imageId: await fixture.iso() })
      await app.settle({ subjectId: id })
      return id
    },
    assignedAddress: async () => {
      const id = await fixture.address()
      await customer.post(`/addresses/${id}/assignment`, { vmId: await fixture.vm() })
      await app.settle({ subjectId: id })
      return id
    },
    volume: async () => made('/volumes', { name: 'data', sizeGiB: 10, regionId: await fixture.region() }),
    attachedVolume: async () => {
      const vmId = await fixture.vm()
      const id = await made('/volumes', { name: 'data', sizeGiB: 10, regionId: await fixture.region(), vmId })
      await app.settle({ subjectId: vmId })
      return id
    },
    /** With data. */
    detachedVolume: async () => {
      const id = await fixture.attachedVolume()
      await customer.post(`/volumes/${id}/detach`)
      await app.settle()
      return id
    },
    volumeSnapshot: async (volumeId: string) => {
      const { snapshot } = (await customer.post(`/volumes/${volumeId}/snapshots`, { name: 'before' })).body.data
      await app.settle({ subjectId: volumeId })
      return snapshot.id as string
    },
    firewall: () => made('/firewalls', { name: 'fw' }),
    rule: (firewall: string) => made(`/firewalls/${firewall}/rules`, RULE),
    unconfirmed: async () => {
      const id = await fixture.firewall()
      await made(`/firewalls/${id}/rules`, RULE)
      await customer.put(`/firewalls/${id}/rules`, { rules: [], confirmWithinSeconds: 300 })
      return id
    },
    vm: async (input: Record<string, unknown> = {}) => (await app.given.vm(customer, input)).id,
    snapshot: (vmId: string) => madeByAction(vmId, 'snapshots', 'snapshot'),
    backup: (vmId: string) => madeByAction(vmId, 'backups', 'backup'),
    /** Before those of other VMs. */
    proveBackupOf: async (vmId: string) => {
      await app.settle() // hosts with work prove nothing
      await app.db.run(sql`update backup_proof_times set next_at = 'epoch' where vm_id = ${vmId}`)
      await proveBackups.runOnce({ ...app.deps, config: { ...app.config, backupProofShare: 90 } })
      await app.settle()
    },
    bind: (firewallId: string, vmId: string) => customer.post(`/firewalls/${firewallId}/bindings`, { vmId }),
    pack: (vmId: string) => made(`/vms/${vmId}/bandwidth/packs`, { gigabytes: 1000 }),
    webhook: () => made('/webhooks', WEBHOOK),
    deposit: () => made('/wallet/deposits', { amount: '25.00' }),
    transaction: async () => {
      await fixture.vm()
      return (await customer.get('/wallet/transactions?type=VM_CHARGE')).body.data[0].id as string
    },
    /** Of the month in which the customer was created. */
    invoice: async () => {
      await issueInvoices.runOnce({ ...app.deps, clock: manualClock(addDuration(app.clock.now(), '32d')) })
      return (await customer.get('/invoices')).body.data[0].id as string
    },
    delivery: async (webhookId: string) => {
      await fixture.vm()
      return (await customer.get(`/webhooks/${webhookId}/deliveries`)).body.data[0].id as string
    },
    /** As after the last attempt. */
    exhaust: (deliveryId: string) =>
      app.db.run(sql`
        update webhook_deliveries set status = 'EXHAUSTED', next_attempt_at = null, completed_at = created_at where id = ${deliveryId}`),
    ticket: () => made('/tickets', TICKET),
    invitation: () => made('/invitations', { email: 'ada@example.com', ...READER }),
    member: async () => {
      const id = newId()
      const now = app.clock.now()
      await app.db.run(sql`insert into users (id, email, name, created_at) values (${id}, ${`${id}@example.com`}, 'Ada', ${now})`)
      await app.db.run(sql`
        insert into members (account_id, user_id, role, scopes, created_at)
        values (${customer.accountId}, ${id}, 'custom', ${['vms:read']}, ${now})`)
      return id
    },
    actionOf: async (vmId: string) => (await customer.get(`/vms/${vmId}/actions`)).body.data[0].id as string,
    /** Its disk stays in the pool when it is shelved. */
    replicatedVm: async () => {
      await app.db.tx(async (tx) => {
        const pool = { name: 'shelves', region: 'fra1', sizeGiB: 10_000, reservePercent: 10 }
        if ((await listStorageBackends(tx)).length === 0) await addSimulatedStorage(tx, app.clock.now(), pool)
        await tx.run(sql`update plans set storage = 'REPLICATED'`)
      })
      const id = await fixture.vm()
      await app.db.run(sql`update plans set storage = 'LOCAL'`)
      return id
    },
    shelvedVm: async () => {
      const id = await fixture.replicatedVm()
      await customer.post(`/vms/${id}/shelve`)
      await app.settle({ subjectId: id })
      await reconcileStaleMachines.runOnce(app.deps)
      return id
    },
    rescuedVm: async () => {
      const id = await fixture.vm()
      await customer.post(`/vms/${id}/rescue`, { password: 'a new password' })
      await app.settle({ subjectId: id })
      return id
    },
    stoppedVm: async () => {
      const id = await fixture.vm()
      await customer.post(`/vms/${id}/stop`)
      await app.settle({ subjectId: id })
      return id
    },
  }
  return fixture
}

export type Fixture = ReturnType<typeof fixtureOf>

let ranges = 0
const nextRange = (): string => `10.${100 + Math.floor(ranges / 250)}.${ranges++ % 250}.0/24`

export const RULE = { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22', sourceIps: [], destIps: [] }

/** A URL without a listener. */
const WEBHOOK = { url: 'http://127.0.0.1:9/', events: ['vm.created'] }

const READER = { role: 'custom', scopes: ['vms:read'] }
const TICKET = { subject: 'No address', body: 'My VM has no address' }

const nothing = async (): Promise<Call> => ({})
/** Lists must not be empty, so that their items are checked. */
const having =
  (make: (fixture: Fixture) => Promise<unknown>) =>
  async (fixture: Fixture): Promise<Call> => {
    await make(fixture)
    return {}
  }
const withId =
  (make: (fixture: Fixture) => Promise<string>, body?: Record<string, unknown>) =>
  async (fixture: Fixture): Promise<Call> => ({ params: { id: await make(fixture) }, ...(body && { body }) })
const vm = (fixture: Fixture) => fixture.vm()
const ofVm =
  (body?: Record<string, unknown>) =>
  async (fixture: Fixture): Promise<Call> => ({
    params: { vmId: await fixture.vm() },
    ...(body && { body }),
  })
const volumeSnapshot = async (fixture: Fixture): Promise<Call> => {
  const volumeId = await fixture.detachedVolume()
  return { params: { volumeId, id: await fixture.volumeSnapshot(volumeId) } }
}
const snapshot = async (fixture: Fixture): Promise<Call> => {
  const vmId = await fixture.vm()
  return { params: { vmId, id: await fixture.snapshot(vmId) } }
}
const backup = async (fixture: Fixture): Promise<Call> => {
  const vmId = await fixture.vm()
  return { params: { vmId, id: await fixture.backup(vmId) } }
}
const backupWithScreenshot = async (fixture: Fixture): Promise<Call> => {
  const call = await backup(fixture)
  await fixture.proveBackupOf(call.params!['vmId']!)
  return call
}
const boundFirewall = async (fixture: Fixture) => {
  const [id, vmId] = [await fixture.firewall(), await fixture.vm()]
  await fixture.bind(id, vmId)
  return { id, vmId }
}
const delivery = async (fixture: Fixture): Promise<Call> => {
  const id = await fixture.webhook()
  return { params: { id, deliveryId: await fixture.delivery(id) } }
}
const route = async (fixture: Fixture): Promise<Call> => {
  const id = await fixture.network()
  return { params: { id, routeId: await fixture.route(id) } }
}
const peering = async (fixture: Fixture): Promise<Call> => {
  const id = await fixture.network()
  return { params: { id, peeringId: await fixture.peering(id) } }
}
const rule = async (fixture: Fixture): Promise<Call> => {
  const id = await fixture.firewall()
  return { params: { id, ruleId: await fixture.rule(id) } }
}

export const ENDPOINTS: Record<string, (fixture: Fixture) => Promise<Call>> = {
  listRegions: nothing,
  listPlans: nothing,
  listAvailability: nothing,
  listOsTemplates: nothing,
  getOsTemplate: async () => ({ params: { slug: 'debian-12' }, shared: true }),
  listNodes: async (fixture) => ({ params: { id: await fixture.region() }, shared: true }),

  search: async (fixture) => ({ ...(await having((each) => each.key())(fixture)), query: '?q=key' }),

  getAccount: nothing,
  listAccountLimits: nothing,
  listAuditLog: having((fixture) => fixture.key()),
  updateAccount: async () => ({ body: { name: 'Example Ltd' } }),

  listMembers: having((fixture) => fixture.member()),
  updateMember: async (fixture) => ({
    ...(await withId((each) => each.member(), { ...READER, budget: { monthlyAmount: '50.00' } })(fixture)),
    otherScopes: ['vms:read'],
  }),
  deleteMember: async (fixture) => ({ ...(await withId((each) => each.member())(fixture)), otherScopes: ['vms:read'] }),
  listInvitations: having((fixture) => fixture.invitation()),
  createInvitation: async () => ({ body: { email: 'grace@example.com', ...READER, budget: { maxVms: 5 } }, otherScopes: ['vms:read'] }),
  deleteInvitation: withId((fixture) => fixture.invitation()),

  listActions: having(vm),
  listVmActions: withId(vm),
  getAction: async (fixture) => {
    const id = await fixture.vm()
    return { params: { id, actionId: await fixture.actionOf(id) } }
  },

  getWallet: nothing,
  listWalletTransactions: nothing,
  getWalletTransaction: withId((fixture) => fixture.transaction()),
  getWalletCosts: having(vm),
  getWalletTimeline: having(vm),
  createDeposit: async () => ({ body: { amount: '25.00' } }),
  listDeposits: having((fixture) => fixture.deposit()),
  getDeposit: withId((fixture) => fixture.deposit()),
  listInvoices: having((fixture) => fixture.invoice()),
  getInvoice: withId((fixture) => fixture.invoice()),

  listSshKeys: having((fixture) => fixture.key()),
  createSshKey: async () => ({ body: { name: 'key', publicKey: generateKey().line } }),
  getSshKey: withId((fixture) => fixture.key()),
  renameSshKey: withId((fixture) => fixture.key(), { name: 'renamed' }),
  deleteSshKey: withId((fixture) => fixture.key()),

  listTokens: nothing,
  createToken: async () => ({
    body: { name: 'ci', scopes: ['vms:read'], budget: { monthlyAmount: '50.00', maxVms: 5, labelSelector: 'env=ci' } },
    otherScopes: ['vms:read'],
  }),
  getToken: withId((fixture) => fixture.token()),
  updateToken: withId((fixture) => fixture.token(), { name: 'renamed' }),
  revokeToken: withId((fixture) => fixture.token()),

  listPlacementGroups: having((fixture) => fixture.placementGroup()),
  createPlacementGroup: async () => ({ body: { name: 'web', policy: 'STRICT_SPREAD' } }),
  getPlacementGroup: withId((fixture) => fixture.placementGroup()),
  renamePlacementGroup: withId((fixture) => fixture.placementGroup(), { name: 'renamed' }),
  deletePlacementGroup: withId((fixture) => fixture.placementGroup()),

  listAlerts: having((fixture) => fixture.alert()),
  createAlert: async () => ({ body: { name: 'busy', metric: 'cpuPercent', comparison: 'ABOVE', threshold: 90 } }),
  getAlert: withId((fixture) => fixture.alert()),
  updateAlert: withId((fixture) => fixture.alert(), { threshold: 80 }),
  deleteAlert: withId((fixture) => fixture.alert()),

  listAnnouncements: having((fixture) => fixture.announcement()),
  listMaintenances: having((fixture) => fixture.maintenance()),

  listNetworks: having((fixture) => fixture.network()),
  createNetwork: async (fixture) => ({ body: { name: 'net', nodeId: await fixture.region(), cidr: nextRange() } }),
  getNetwork: withId((fixture) => fixture.network()),
  renameNetwork: withId((fixture) => fixture.network(), { name: 'renamed' }),
  deleteNetwork: withId((fixture) => fixture.network()),
  listNetworkAttachments: async (fixture) => {
    const id = await fixture.network()
    await fixture.vm({ privateNetworkIds: [id] })
    return { params: { id } }
  },
  listNetworkRoutes: async (fixture) => ({ params: { id: (await route(fixture)).params!['id']! } }),
  createNetworkRoute: async (fixture) => {
    const id = await fixture.network()
    return { params: { id }, body: await fixture.routeIn(id) }
  },
  getNetworkRoute: route,
  deleteNetworkRoute: route,
  listNetworkPeerings: async (fixture) => ({ params: { id: (await peering(fixture)).params!['id']! } }),
  createNetworkPeering: async (fixture) => ({ params: { id: await fixture.network() }, body: { networkId: await fixture.network() } }),
  getNetworkPeering: peering,
  deleteNetworkPeering: peering,

  listImages: having((fixture) => fixture.image()),
  createImage: async (fixture) => ({ body: { name: 'image', vmId: await fixture.vm() }, otherScopes: ['vms:update'] }),
  getImage: withId((fixture) => fixture.image()),
  updateImage: withId((fixture) => fixture.image(), { name: 'renamed' }),
  deleteImage: withId((fixture) => fixture.image()),
  listAddresses: having((fixture) => fixture.address()),
  reserveAddress: async (fixture) => {
    await fixture.address()
    return { body: { regionId: await fixture.region() } }
  },
  getAddress: withId((fixture) => fixture.address()),
  updateAddress: withId((fixture) => fixture.address(), { name: 'renamed' }),
  releaseAddress: withId((fixture) => fixture.address()),
  assignAddress: async (fixture) => ({ params: { id: await fixture.address() }, body: { vmId: await fixture.vm() } }),
  unassignAddress: withId((fixture) => fixture.assignedAddress()),

  listVolumes: having((fixture) => fixture.volume()),
  createVolume: async (fixture) => ({ body: { name: 'data', sizeGiB: 10, regionId: await fixture.region() } }),
  getVolume: withId((fixture) => fixture.volume()),
  updateVolume: withId((fixture) => fixture.volume(), { name: 'renamed' }),
  deleteVolume: withId((fixture) => fixture.volume()),
  attachVolume: async (fixture) => ({ params: { id: await fixture.volume() }, body: { vmId: await fixture.vm() } }),
  detachVolume: withId((fixture) => fixture.attachedVolume()),
  listVolumeSnapshots: async (fixture) => ({ params: { volumeId: (await volumeSnapshot(fixture)).params!['volumeId']! } }),
  createVolumeSnapshot: async (fixture) => ({ params: { volumeId: await fixture.attachedVolume() }, body: { name: 'before' } }),
  getVolumeSnapshot: volumeSnapshot,
  updateVolumeSnapshot: async (fixture) => ({ ...(await volumeSnapshot(fixture)), body: { labels: { env: 'test' } } }),
  restoreVolumeSnapshot: volumeSnapshot,
  deleteVolumeSnapshot: volumeSnapshot,

  listFirewalls: having((fixture) => fixture.firewall()),
  createFirewall: async () => ({ body: { name: 'fw' } }),
  getFirewall: withId((fixture) => fixture.firewall()),
  changeFirewall: withId((fixture) => fixture.firewall(), { name: 'renamed' }),
  deleteFirewall: withId((fixture) => fixture.firewall()),
  listFirewallRules: async (fixture) => ({ params: { id: (await rule(fixture)).params!['id']! } }),
  addFirewallRule: withId((fixture) => fixture.firewall(), RULE),
  replaceFirewallRules: withId((fixture) => fixture.firewall(), { rules: [RULE] }),
  getFirewallUndo: async (fixture) => ({ params: { id: await fixture.unconfirmed() } }),
  undoFirewallRules: async (fixture) => ({ params: { id: await fixture.unconfirmed() } }),
  confirmFirewallRules: async (fixture) => ({ params: { id: await fixture.unconfirmed() } }),
  getFirewallRule: rule,
  changeFirewallRule: async (fixture) => ({ ...(await rule(fixture)), body: { port: '23' } }),
  deleteFirewallRule: rule,
  listFirewallBindings: async (fixture) => ({ params: { id: (await boundFirewall(fixture)).id } }),
  getFirewallBinding: async (fixture) => ({ params: await boundFirewall(fixture) }),
  bindFirewall: async (fixture) => ({ params: { id: await fixture.firewall() }, body: { vmId: await fixture.vm() } }),
  unbindFirewall: async (fixture) => ({ params: await boundFirewall(fixture) }),
  checkPacket: async (fixture) => {
    const { id, vmId } = await boundFirewall(fixture)
    return { params: { id }, body: { vmId, direction: 'IN', protocol: 'TCP', port: 22, address: '10.0.0.7' } }
  },

  checkReach: async (fixture) => ({
    params: { id: await fixture.vm() },
    body: { to: await fixture.vm(), protocol: 'TCP', port: 22 },
  }),
  createVm: async (fixture) => ({
    body: {
      regionId: await fixture.region(),
      osTemplateId: await fixture.template(),
      hostname: 'web-1',
      sshKeyIds: [await fixture.key()],
      placementGroupId: await fixture.placementGroup(),
      firewallIds: [await fixture.firewall()],
      privateNetworkIds: [await fixture.network()],
    },
  }),
  listVms: having(vm),
  getVm: withId(vm),
  updateVm: withId(vm, { name: 'renamed' }),
  deleteVm: withId(vm),
  startVm: withId((fixture) => fixture.stoppedVm()),
  stopVm: withId(vm, { force: true }),
  restartVm: withId(vm),
  resizeVm: async (fixture) => ({ params: { id: await fixture.vm() }, body: { disk: 60 } }),
  upgradeVm: async (fixture) => ({ params: { id: await fixture.vm() }, body: { planId: await fixture.plan('large') } }),
  rebuildVm: async (fixture) => ({
    params: { id: await fixture.vm() },
    body: { osTemplateId: await fixture.template(), sshKeyIds: [await fixture.key()] },
  }),
  shelveVm: withId((fixture) => fixture.replicatedVm()),
  unshelveVm: withId((fixture) => fixture.shelvedVm()),
  rescueVm: async (fixture) => ({ params: { id: await fixture.vm() }, body: { sshKeyIds: [await fixture.key()] } }),
  unrescueVm: withId((fixture) => fixture.rescuedVm()),
  attachIso: async (fixture) => ({
    params: { id: await fixture.vm() },
    body: { imageId: await fixture.iso() },
    otherScopes: ['images:read'],
  }),
  detachIso: withId((fixture) => fixture.vmWithIso()),
  getVmMetrics: withId(vm),
  getRecentVmMetrics: async (fixture) => {
    const id = await fixture.vm()
    return { params: { id }, query: `?vmIds=${id}`, shared: true } // no part of the path: of another account it is left out
  },
  openConsole: withId(vm, { type: 'serial' }),
  setVmPassword: withId(vm, { password: 'a new password' }),
  attachNetwork: async (fixture) => ({ params: { id: await fixture.vm() }, body: { networkId: await fixture.network() } }),
  detachNetwork: async (fixture) => {
    const networkId = await fixture.network()
    return { params: { id: await fixture.vm({ privateNetworkIds: [networkId] }), networkId } }
  },

  startBulkAction: async (fixture) => {
    await fixture.vm({ labels: { env: 'test' } })
    return { body: { labelSelector: 'env=test', action: 'START' }, otherScopes: ['vms:power'] }
  },

  listSnapshots: async (fixture) => ({ params: { vmId: (await snapshot(fixture)).params!['vmId']! } }),
  createSnapshot: ofVm({ name: 'before' }),
  getSnapshot: snapshot,
  updateSnapshot: async (fixture) => ({ ...(await snapshot(fixture)), body: { labels: { env: 'test' } } }),
  restoreSnapshot: snapshot,
  deleteSnapshot: snapshot,

  listBackups: async (fixture) => ({ params: { vmId: (await backup(fixture)).params!['vmId']! } }),
  createBackup: ofVm({ name: 'before' }),
  getBackup: backup,
  getBackupScreenshot: backupWithScreenshot,
  updateBackup: async (fixture) => ({ ...(await backup(fixture)), body: { labels: { env: 'test' } } }),
  restoreBackup: async (fixture) => ({ ...(await backup(fixture)), body: { withoutNetworks: false } }),
  deleteBackup: backup,

  listBandwidth: having(vm),
  listBandwidthPacks: async (fixture) => {
    const vmId = await fixture.vm()
    await fixture.pack(vmId)
    return { params: { vmId } }
  },
  buyBandwidthPack: ofVm({ gigabytes: 1000 }),

  listEvents: having(vm),
  listWebhooks: having((fixture) => fixture.webhook()),
  createWebhook: async () => ({ body: WEBHOOK }),
  getWebhook: withId((fixture) => fixture.webhook()),
  updateWebhook: withId((fixture) => fixture.webhook(), { description: 'changed' }),
  deleteWebhook: withId((fixture) => fixture.webhook()),
  testWebhook: withId((fixture) => fixture.webhook()),
  rotateWebhookSecret: withId((fixture) => fixture.webhook()),
  listWebhookDeliveries: async (fixture) => ({ params: { id: (await delivery(fixture)).params!['id']! } }),
  getWebhookDelivery: delivery,
  redeliverWebhookDelivery: async (fixture) => {
    const call = await delivery(fixture)
    await fixture.exhaust(call.params!['deliveryId']!)
    return call
  },

  listProjects: having((fixture) => fixture.project()),
  createProject: async () => ({ body: { name: 'shop' } }),
  getProject: withId((fixture) => fixture.project()),
  updateProject: withId((fixture) => fixture.project(), { name: 'renamed', budget: { monthlyAmount: '50.00' } }),
  deleteProject: withId((fixture) => fixture.project()),

  listTickets: having((fixture) => fixture.ticket()),
  createTicket: async () => ({ body: TICKET }),
  getTicket: withId((fixture) => fixture.ticket()),
  replyToTicket: withId((fixture) => fixture.ticket(), { body: 'It has one now' }),
}
