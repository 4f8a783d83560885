// Takes the pictures of docs/guide/dashboard.md: npm run docs:pictures. They are taken again whenever the dashboard looks different.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Berth } from '../../sdk/src/index.ts'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { becomeFundedOwner, button, dialog, expectShown, fill, heading } from './page-actions.ts'
import { openBrowser } from './browser.ts'
import { insertMetrics } from './metrics-history.ts'
import { startProduct } from './product.ts'
import { open } from './screens.ts'

const GUIDE = new URL('../../docs/guide/dashboard.md', import.meta.url)
const WIDE = { width: 1280, height: 800 }
const NARROW = { width: 360, height: 740 }

const VMS = [
  { hostname: 'web-1', plan: 'nano' },
  { hostname: 'web-2', plan: 'small' },
  { hostname: 'db-1', plan: 'medium', isProtected: true, dailyBackupEnabled: true },
  { hostname: 'ci-runner', plan: 'nano' },
]

const RULES: Parameters<Berth['firewalls']['addRule']>[1][] = [
  { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '22', sourceIps: ['198.18.4.0/24'], description: 'SSH from the office' },
  { direction: 'IN', action: 'ACCEPT', protocol: 'TCP', port: '80,443', description: 'Web' },
  { direction: 'IN', action: 'ACCEPT', protocol: 'ICMP', description: 'Ping' },
  { direction: 'OUT', action: 'REJECT', protocol: 'TCP', port: '25', description: 'No mail from here' },
]

interface Seeded {
  firewallId: string
  dbId: string
}

async function seed(berth: Berth): Promise<Seeded> {
  const [regions, templates, plans] = await Promise.all([berth.regions.list(), berth.osTemplates.list(), berth.plans.list()])
  const key = await berth.sshKeys.create({ name: 'laptop', publicKey: generateKey().line })
  const network = await berth.networks.create({ name: 'backend', nodeId: regions[0]!.id, cidr: '10.20.0.0/24' })
  const firewall = await berth.firewalls.create({ name: 'web', description: 'SSH from the office, the web for all' })
  for (const rule of RULES) await berth.firewalls.addRule(firewall.id, rule)
  const ids = new Map<string, string>()
  for (const { hostname, plan, isProtected = false, dailyBackupEnabled = false } of VMS) {
    const started = await berth.vms.create({
      regionId: regions[0]!.id,
      osTemplateId: templates.find(({ slug, available }) => available && slug === 'debian-12')!.id,
      planId: plans.find(({ slug }) => slug === plan)!.id,
      hostname,
      sshKeyIds: [key.id],
      dailyBackupEnabled,
      firewallIds: hostname.startsWith('web') ? [firewall.id] : [],
      privateNetworkIds: hostname === 'ci-runner' ? [] : [network.id],
    })
    await berth.waitForAction(started)
    if (isProtected) await berth.vms.update(started.vmId, { isProtected })
    ids.set(hostname, started.vmId)
  }
  const dbId = ids.get('db-1')!
  await berth.waitForAction(await berth.snapshots.create(dbId, { name: 'before upgrade' }))
  await berth.waitForAction(await berth.backups.create(dbId, { name: 'monday' }))
  await berth.waitForAction(await berth.vms.stop(ids.get('ci-runner')!))
  return { firewallId: firewall.id, dbId }
}

test('takes the pictures of the guide', { timeout: 300_000 }, async () => {
  const taken: string[] = []
  const take = async (name: string, on: Page): Promise<void> => {
    await on.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    await on.screenshot({ path: fileURLToPath(new URL(`dashboard/${name}.png`, GUIDE)) })
    taken.push(name)
  }
  const product = await startProduct()
  const stranger = await openBrowser(product.origin, { viewport: WIDE })
  const { page } = await openBrowser(product.origin, { viewport: WIDE })
  const berth = await becomeFundedOwner(page, product)
  await product.run('account', 'credit', '--account', 'owner@example.com', '--amount', '150.00')
  const { firewallId, dbId } = await seed(berth)
  await insertMetrics(product.databaseUrl, dbId)
  const shot = async (name: string, path: string, prepare: () => Promise<void> = async () => {}): Promise<void> => {
    await open(page, path)
    await expectShown(page.locator('[data-state=live]:visible'))
    await prepare()
    await take(name, page)
  }
  const loadGraphs = (): Promise<void> => expectShown(page.locator('canvas').nth(3))

  await stranger.page.goto('/sign-in')
  await expectShown(heading(stranger.page, 'Sign in'))
  await take('sign-in', stranger.page)
  await shot('home', '/')
  await shot('vms', '/vms')
  await shot('vm', `/vms/${dbId}`)
  await shot('graphs', `/vms/${dbId}?tab=graphs`, loadGraphs)
  await shot('vm-settings', `/vms/${dbId}?tab=settings`, async () => {
    await expectShown(page.getByText('Due today'))
    await page.getByRole('heading', { name: 'Size' }).evaluate((title) => title.closest('section')!.scrollIntoView({ block: 'center' }))
  })
  await shot('firewall', `/firewalls/${firewallId}`)
  await shot('wallet', '/wallet')
  await shot('operator-hosts', '/operator/hosts')
  await shot('create', '/vms/new', async () => {
    await page.getByLabel(/^Debian 12/).check()
    await page.getByLabel(/^Small/).check()
    await page.getByLabel('Hostname').fill('web-3')
    await expect.poll(() => button(page, 'Create VM').isEnabled()).toBe(true) // the price is there
    await page.getByRole('heading', { name: 'Size' }).evaluate((title) => title.closest('section')!.scrollIntoView())
  })
  await button(page, 'Show as code').click()
  await expectShown(dialog(page).getByLabel('curl', { exact: true }))
  await take('show-as-code', page)
  await shot('api-keys', '/settings?tab=keys', async () => {
    await button(page, 'Create API key').first().click()
    await fill(dialog(page), { Name: 'deploy' })
  })
  await shot('second-factor', '/settings?tab=security', async () => {
    await button(page, 'Enable').click()
    await expectShown(dialog(page).locator('svg > rect')) // the QR code
  })
  await page.goto('/docs/reference/networks#createNetwork')
  await take('api-reference', page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot('dark-vms', '/vms')
  await shot('dark-graphs', `/vms/${dbId}?tab=graphs`, loadGraphs)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(NARROW)
  await shot('narrow-home', '/')
  await shot('narrow-vms', '/vms')

  const shown = [...readFileSync(GUIDE, 'utf8').matchAll(/\(dashboard\/([\w-]+)\.png\)/g)].map((found) => found[1]!)
  expect(taken.toSorted()).toEqual(shown.toSorted())
})
