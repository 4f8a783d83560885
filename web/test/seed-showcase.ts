// An account as a customer of some months has it, for pictures of every screen: names that mean something, work that failed, money that moved.
import type { Page } from 'playwright-core'
import type { Berth } from '../../sdk/src/index.ts'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { insertMetrics } from './metrics-history.ts'
import { OWNER, type Product } from './product.ts'
import { seedAccount, type SeededAccount } from './seed-account.ts'

/** The names of what `seedAccount` makes. */
const NAMES: Record<string, string> = {
  laptop: 'Ada’s laptop',
  web: 'web-1',
  db: 'db-1',
  'deploy bot': 'Deploy bot',
  'busy CPU': 'CPU above 90 %',
  'a question': 'Can I get a /28 of my own?',
  hello: 'Hello,',
  'how are you': 'our mail server needs eight public addresses that are next to each other. Is that possible in Frankfurt?',
  'what it is for': 'SSH from the office, the web for all',
  ssh: 'SSH from the office',
  'the rest': 'Everything else',
  before: 'before the upgrade',
  'a clean state': 'A clean state',
  weekly: 'weekly',
  golden: 'web-golden',
}

const MORE_VMS: { hostname: string; plan: string; labels: Record<string, string> }[] = [
  { hostname: 'web-2', plan: 'small', labels: { env: 'prod', team: 'shop' } },
  { hostname: 'ci-runner', plan: 'nano', labels: { env: 'ci' } },
  { hostname: 'mail', plan: 'small', labels: { env: 'prod', team: 'office' } },
  { hostname: 'analytics', plan: 'medium', labels: { env: 'staging', team: 'data' } },
]

export interface Showcase extends SeededAccount {
  accountId: string
}

export async function seedShowcase(page: Page, product: Product, berth: Berth): Promise<Showcase> {
  const credit = (amount: string): Promise<unknown> => product.run('account', 'credit', '--account', OWNER.email, '--amount', amount)
  await credit('150.00')
  const seeded = await seedAccount(berth, (what) => NAMES[what] ?? what)
  await credit('75.00')
  const vmIds = await createVms(berth)
  for (const vmId of [seeded.vmId, ...vmIds]) await insertMetrics(product.databaseUrl, vmId, 24 * 60)
  await berth.vms.update(seeded.vmId, { labels: { env: 'prod', team: 'shop' }, isProtected: true })
  await berth.sshKeys.create({ name: 'CI', publicKey: generateKey().line })
  await berth.firewalls.create({ name: 'mail', description: 'SMTP and IMAP' })
  await berth.tokens.create({
    name: 'terraform',
    scopes: ['vms:create', 'vms:read', 'networks:read'],
    expiresAt: new Date(Date.now() + 90 * 86_400_000).toISOString(),
  })
  await berth.tickets.create({ subject: 'Invoice with our VAT number', body: 'Please add DE123456789 to our next invoice.' })
  await answerTicket(page, seeded.ticketId)
  await product.run('ip-pool', 'add', '--region', 'fra1', '--cidr', '198.51.100.0/28', '--gateway', '198.51.100.1')
  const [region] = await berth.regions.list()
  await berth.addresses.reserve({ regionId: region!.id, name: 'www' })
  const accountId = (await berth.account.get()).id
  return { ...seeded, accountId }
}

async function createVms(berth: Berth): Promise<string[]> {
  const [regions, templates, plans] = await Promise.all([berth.regions.list(), berth.osTemplates.list(), berth.plans.list()])
  const ids: string[] = []
  for (const { hostname, plan, labels } of MORE_VMS) {
    const started = await berth.vms.create({
      regionId: regions[0]!.id,
      osTemplateId: templates.find(({ available }) => available)!.id,
      planId: plans.find(({ slug }) => slug === plan)!.id,
      hostname,
      labels,
      dailyBackupEnabled: plan === 'medium',
    })
    await berth.waitForAction(started)
    ids.push(started.vmId)
  }
  await berth.waitForAction(await berth.vms.stop(ids[1]!))
  await berth.waitForAction(await berth.vms.restart(ids[0]!))
  return ids
}

/** As staff, which the owner is too. */
const answerTicket = (page: Page, ticketId: string): Promise<void> =>
  page.evaluate(async (id) => {
    const body = JSON.stringify({ body: 'Hello Ada, yes: it is reserved for you. You find it under Addresses.' })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`/api/dashboard/operator/tickets/${id}/replies`, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`the reply was refused: ${answer.status}`)
  }, ticketId)
