// Fills an account with one resource of every kind; tests choose the names.
import type { Berth } from '../../sdk/src/index.ts'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { receiver } from '../../server/test/receiver.ts'

export interface SeededAccount {
  vmId: string
  networkId: string
  firewallId: string
  webhookId: string
  ticketId: string
  /** The charge of the first VM. */
  transactionId: string
}

type Naming = (what: string) => string

/** What a label may consist of. */
const labelOf = (text: string): string => text.replace(/[^A-Za-z0-9._-]/g, '').slice(0, 63)

export async function seedAccount(berth: Berth, name: Naming = (what) => what): Promise<SeededAccount> {
  const [regions, templates, plans] = await Promise.all([berth.regions.list(), berth.osTemplates.list(), berth.plans.list()])
  const regionId = regions[0]!.id
  const osTemplateId = templates.find(({ available }) => available)!.id
  const mailbox = await receiver()
  const key = await berth.sshKeys.create({ name: name('laptop'), publicKey: generateKey().line })
  const network = await berth.networks.create({ name: name('backend'), nodeId: regionId, cidr: '10.20.0.0/24' })
  await berth.networks.addRoute(network.id, { destination: '192.168.7.0/24', nextHop: '10.20.0.9' })
  const other = await berth.networks.create({ name: name('databases'), nodeId: regionId, cidr: '10.21.0.0/24' })
  await berth.networks.addPeering(network.id, other.id)
  const firewallId = await seedFirewall(berth, name)
  const webhook = await berth.webhooks.create({ url: mailbox.url, events: ['vm.created', 'vm.started'], description: name('deploy bot') })
  const plan = plans.find(({ slug }) => slug === 'small')!
  const group = await berth.placementGroups.create({ name: name('frontend'), policy: 'SPREAD' })
  await berth.projects.create({ name: name('shop') })
  await berth.alerts.create({ name: name('busy CPU'), metric: 'cpuPercent', comparison: 'ABOVE', threshold: 90 })
  const [first, second] = await Promise.all(
    ['web', 'db'].map((what) =>
      berth.vms.create({
        regionId,
        osTemplateId,
        planId: plan.id,
        hostname: what,
        name: name(what),
        sshKeyIds: [key.id],
        firewallIds: [firewallId],
        privateNetworkIds: [network.id],
        placementGroupId: group.id,
      }),
    ),
  )
  await Promise.all([berth.waitForAction(first!), berth.waitForAction(second!)])
  const { vmId } = first!
  await berth.waitForAction(await berth.snapshots.create(vmId, { name: name('before'), description: name('a clean state') }))
  await berth.waitForAction(await berth.backups.create(vmId, { name: name('weekly') }))
  await seedVolumes(berth, name, regionId, vmId)
  const { actionId } = await berth.images.create({ name: name('golden'), vmId, labels: { team: labelOf(name('web')) } })
  await berth.waitForAction({ vmId, actionId })
  await berth.waitForAction(await berth.vms.stop(second!.vmId))
  const ticket = await berth.tickets.create({ subject: name('a question'), body: `${name('hello')}\n${name('how are you')}` })
  const [charge] = (await berth.wallet.transactions({ type: 'VM_CHARGE', referenceId: vmId }).page()).items
  return { vmId, networkId: network.id, firewallId, webhookId: webhook.id, ticketId: ticket.id, transactionId: charge!.id }
}

async function seedVolumes(berth: Berth, name: Naming, regionId: string, vmId: string): Promise<void> {
  await berth.volumes.create({ name: name('spare'), sizeGiB: 1, regionId, isProtected: true })
  const { id } = await berth.volumes.create({ name: name('data'), sizeGiB: 10, regionId, labels: { team: labelOf(name('web')) } })
  await berth.waitForAction(await berth.volumes.attach(id, { vmId }))
}

async function seedFirewall(berth: Berth, name: Naming): Promise<string> {
  const { id } = await berth.firewalls.create({ name: name('web'), description: name('what it is for') })
  await berth.firewalls.addRule(id, {
    direction: 'IN',
    action: 'ACCEPT',
    protocol: 'TCP',
    port: '22',
    sourceIps: ['198.18.4.0/24'],
    description: name('ssh'),
  })
  await berth.firewalls.addRule(id, { direction: 'IN', action: 'DROP', protocol: 'ANY', description: name('the rest') })
  return id
}
