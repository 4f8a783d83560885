// A valid call of every operation. A new operation needs an entry here: a setup that returns its path parameters and body. It runs for two
// customers, so it must not use unique names.
import { issueInvoices } from '../src/features/invoices/issue.reconciler.ts'
import { addDuration, manualClock } from '../src/kernel/clock.ts'
import { generateKey } from './openssh-keys.ts'
import type { TestApp } from './harness.ts'

export interface Call {
  params?: Record<string, string>
  query?: string
  body?: Record<string, unknown>
  /** What a user must enter besides the password to reauthenticate. */
  proof?: Record<string, string>
  /** The ids in the path are public: there is no other account to test. */
  shared?: true
}

export type Customer = Awaited<ReturnType<TestApp['given']['customer']>>

/** The fixture of one customer. */
export function worldOf(app: TestApp, customer: Customer) {
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
  const world = {
    key: () => made('/ssh-keys', { name: 'key', publicKey: generateKey().line }),
    region: async () => (await app.given.vmInput()).regionId,
    template: async () => (await app.given.vmInput()).osTemplateId,
    plan: (slug: string) => catalog('/plans', slug),
    network: async () => made('/networks', { name: 'net', nodeId: app.host.id, cidr: nextRange() }),
    firewall: () => made('/firewalls', { name: 'fw' }),
    rule: (firewall: string) => made(`/firewalls/${firewall}/rules`, RULE),
    vm: async (input: Record<string, unknown> = {}) => (await app.given.vm(customer, input)).id,
    snapshot: (vmId: string) => madeByAction(vmId, 'snapshots', 'snapshot'),
    backup: (vmId: string) => madeByAction(vmId, 'backups', 'backup'),
    bind: (firewallId: string, vmId: string) => customer.post(`/firewalls/${firewallId}/bindings`, { vmId }),
    pack: (vmId: string) => made(`/vms/${vmId}/bandwidth/packs`, { gigabytes: 1000 }),
    webhook: () => made('/webhooks', WEBHOOK),
    deposit: () => made('/wallet/deposits', { amount: '25.00' }),
    /** Of the month in which the customer was created. */
    invoice: async () => {
      await issueInvoices.runOnce({ ...app.deps, clock: manualClock(addDuration(app.clock.now(), '32d')) })
      return (await customer.get('/invoices')).body.data[0].id as string
    },
    delivery: async (webhookId: string) => {
      await world.vm()
      return (await customer.get(`/webhooks/${webhookId}/deliveries`)).body.data[0].id as string
    },
    ticket: () => made('/tickets', TICKET),
    actionOf: async (vmId: string) => (await customer.get(`/vms/${vmId}/actions`)).body.data[0].id as string,
    stoppedVm: async () => {
      const id = await world.vm()
      await customer.post(`/vms/${id}/stop`)
      await app.settle({ subjectId: id })
      return id
    },
  }
  return world
}

export type World = ReturnType<typeof worldOf>

let ranges = 0
const nextRange = (): string => `10.${100 + Math.floor(ranges / 250)}.${ranges++ % 250}.0/24`

export const RULE = { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22', sourceIps: [], destIps: [] }

/** A URL without a listener. */
const WEBHOOK = { url: 'http://127.0.0.1:9/', events: ['vm.created'] }

const TICKET = { subject: 'No address', body: 'My VM has no address' }

const nothing = async (): Promise<Call> => ({})
/** Lists must not be empty, so that their items are checked. */
const having =
  (make: (world: World) => Promise<unknown>) =>
  async (world: World): Promise<Call> => {
    await make(world)
    return {}
  }
const withId =
  (make: (world: World) => Promise<string>, body?: Record<string, unknown>) =>
  async (world: World): Promise<Call> => ({ params: { id: await make(world) }, ...(body && { body }) })
const vm = (world: World) => world.vm()
const ofVm =
  (body?: Record<string, unknown>) =>
  async (world: World): Promise<Call> => ({
    params: { vmId: await world.vm() },
    ...(body && { body }),
  })
const snapshot = async (world: World): Promise<Call> => {
  const vmId = await world.vm()
  return { params: { vmId, id: await world.snapshot(vmId) } }
}
const backup = async (world: World): Promise<Call> => {
  const vmId = await world.vm()
  return { params: { vmId, id: await world.backup(vmId) } }
}
const boundFirewall = async (world: World) => {
  const [id, vmId] = [await world.firewall(), await world.vm()]
  await world.bind(id, vmId)
  return { id, vmId }
}
const delivery = async (world: World): Promise<Call> => {
  const id = await world.webhook()
  return { params: { id, deliveryId: await world.delivery(id) } }
}
const rule = async (world: World): Promise<Call> => {
  const id = await world.firewall()
  return { params: { id, ruleId: await world.rule(id) } }
}

export const ENDPOINTS: Record<string, (world: World) => Promise<Call>> = {
  listRegions: nothing,
  listPlans: nothing,
  listOsTemplates: nothing,
  getOsTemplate: async () => ({ params: { slug: 'debian-12' }, shared: true }),
  listNodes: async (world) => ({ params: { id: await world.region() }, shared: true }),

  getAccount: nothing,
  listAccountLimits: nothing,
  listAuditLog: having((world) => world.key()),

  listActions: having(vm),
  listVmActions: withId(vm),
  getAction: async (world) => {
    const id = await world.vm()
    return { params: { id, actionId: await world.actionOf(id) } }
  },

  getWallet: nothing,
  listWalletTransactions: nothing,
  createDeposit: async () => ({ body: { amount: '25.00' } }),
  listDeposits: having((world) => world.deposit()),
  getDeposit: withId((world) => world.deposit()),
  listInvoices: having((world) => world.invoice()),
  getInvoice: withId((world) => world.invoice()),

  listSshKeys: having((world) => world.key()),
  createSshKey: async () => ({ body: { name: 'key', publicKey: generateKey().line } }),
  getSshKey: withId((world) => world.key()),
  renameSshKey: withId((world) => world.key(), { name: 'renamed' }),
  deleteSshKey: withId((world) => world.key()),

  listNetworks: having((world) => world.network()),
  createNetwork: async (world) => ({ body: { name: 'net', nodeId: await world.region(), cidr: nextRange() } }),
  getNetwork: withId((world) => world.network()),
  renameNetwork: withId((world) => world.network(), { name: 'renamed' }),
  deleteNetwork: withId((world) => world.network()),

  listFirewalls: having((world) => world.firewall()),
  createFirewall: async () => ({ body: { name: 'fw' } }),
  getFirewall: withId((world) => world.firewall()),
  changeFirewall: withId((world) => world.firewall(), { name: 'renamed' }),
  deleteFirewall: withId((world) => world.firewall()),
  listFirewallRules: async (world) => ({ params: { id: (await rule(world)).params!['id']! } }),
  addFirewallRule: withId((world) => world.firewall(), RULE),
  replaceFirewallRules: withId((world) => world.firewall(), { rules: [RULE] }),
  getFirewallRule: rule,
  changeFirewallRule: async (world) => ({ ...(await rule(world)), body: { port: '23' } }),
  deleteFirewallRule: rule,
  listFirewallBindings: async (world) => ({ params: { id: (await boundFirewall(world)).id } }),
  getFirewallBinding: async (world) => ({ params: await boundFirewall(world) }),
  bindFirewall: async (world) => ({ params: { id: await world.firewall() }, body: { vmId: await world.vm() } }),
  unbindFirewall: async (world) => ({ params: await boundFirewall(world) }),
  checkPacket: async (world) => {
    const { id, vmId } = await boundFirewall(world)
    return { params: { id }, body: { vmId, direction: 'IN', protocol: 'TCP', port: 22, address: '10.0.0.7' } }
  },

  createVm: async (world) => ({
    body: {
      regionId: await world.region(),
      osTemplateId: await world.template(),
      hostname: 'web-1',
      sshKeyIds: [await world.key()],
      firewallIds: [await world.firewall()],
      privateNetworkIds: [await world.network()],
    },
  }),
  listVms: having(vm),
  getVm: withId(vm),
  updateVm: withId(vm, { name: 'renamed' }),
  deleteVm: withId(vm),
  startVm: withId((world) => world.stoppedVm()),
  stopVm: withId(vm, { force: true }),
  restartVm: withId(vm),
  upgradeVm: async (world) => ({ params: { id: await world.vm() }, body: { planId: await world.plan('large') } }),
  rebuildVm: async (world) => ({
    params: { id: await world.vm() },
    body: { osTemplateId: await world.template(), sshKeyIds: [await world.key()] },
  }),
  getVmMetrics: withId(vm),
  openConsole: withId(vm, { type: 'serial' }),
  setVmPassword: withId(vm, { password: 'a new password' }),
  attachNetwork: async (world) => ({ params: { id: await world.vm() }, body: { networkId: await world.network() } }),
  detachNetwork: async (world) => {
    const networkId = await world.network()
    return { params: { id: await world.vm({ privateNetworkIds: [networkId] }), networkId } }
  },

  listSnapshots: async (world) => ({ params: { vmId: (await snapshot(world)).params!['vmId']! } }),
  createSnapshot: ofVm({ name: 'before' }),
  getSnapshot: snapshot,
  restoreSnapshot: snapshot,
  deleteSnapshot: snapshot,

  listBackups: async (world) => ({ params: { vmId: (await backup(world)).params!['vmId']! } }),
  createBackup: ofVm({ name: 'before' }),
  getBackup: backup,
  restoreBackup: async (world) => ({ ...(await backup(world)), body: { withoutNetworks: false } }),
  deleteBackup: backup,

  listBandwidth: having(vm),
  listBandwidthPacks: async (world) => {
    const vmId = await world.vm()
    await world.pack(vmId)
    return { params: { vmId } }
  },
  buyBandwidthPack: ofVm({ gigabytes: 1000 }),

  listEvents: having(vm),
  listWebhooks: having((world) => world.webhook()),
  createWebhook: async () => ({ body: WEBHOOK }),
  getWebhook: withId((world) => world.webhook()),
  updateWebhook: withId((world) => world.webhook(), { description: 'changed' }),
  deleteWebhook: withId((world) => world.webhook()),
  testWebhook: withId((world) => world.webhook()),
  rotateWebhookSecret: withId((world) => world.webhook()),
  listWebhookDeliveries: async (world) => ({ params: { id: (await delivery(world)).params!['id']! } }),
  getWebhookDelivery: delivery,
  redeliverWebhookDelivery: delivery,

  listTickets: having((world) => world.ticket()),
  createTicket: async () => ({ body: TICKET }),
  getTicket: withId((world) => world.ticket()),
  replyToTicket: withId((world) => world.ticket(), { body: 'It has one now' }),
}
