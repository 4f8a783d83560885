// All URLs of the dashboard, for tests that visit every screen.
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import type { SeededAccount } from './seed-account.ts'
import { expectShown } from './page-actions.ts'
import { settingsMessages } from '../src/words/en/settings.ts'
import { shellMessages } from '../src/words/en/shell.ts'
import { vmMessages } from '../src/words/en/vm.ts'

/** The paths of the router, such as `/vms/$vmId`. Read as text, because the router needs a browser. */
export const routerPaths = (): string[] =>
  [...readFileSync(new URL('../src/router.tsx', import.meta.url), 'utf8').matchAll(/^ +(?:screen|outside)\('([^']+)'/gm)].map(
    (found) => found[1]!,
  )

const VM_TABS = Object.keys(vmMessages.tabs)
const SETTINGS_TABS = Object.keys(settingsMessages.tabs)
const LISTS = [
  '/',
  '/vms',
  '/vms/new',
  '/volumes',
  '/images',
  '/ssh-keys',
  '/placement-groups',
  '/networks',
  '/addresses',
  '/networks/map',
  '/firewalls',
  '/bandwidth',
  '/wallet',
  '/wallet?tab=costs',
  '/wallet?tab=transactions',
  '/wallet?tab=invoices',
  '/alerts',
  '/webhooks',
  '/events',
  '/tickets',
  '/projects',
  '/members',
  '/audit-log',
]

export const OPERATOR_LISTS = [
  'hosts',
  'capacity',
  'regions',
  'pools',
  'templates',
  'plans',
  'accounts',
  'revenue',
  'branding',
  'announcements',
  'vms',
  'addresses',
  'actions',
  'orphaned-volumes',
  'tickets',
  'health',
].map((name) => `/operator/${name}`)
export const OUTSIDE = [
  '/sign-in',
  '/sign-in/with/staff?error=access_denied',
  '/sign-up',
  '/confirm',
  '/join',
  '/welcome',
  '/forgot-password',
  '/reset',
]
export const CUSTOMER_LISTS = [...LISTS, ...SETTINGS_TABS.map((tab) => `/settings?tab=${tab}`)]

export const pagesOf = ({ vmId, networkId, firewallId, webhookId, ticketId, transactionId }: SeededAccount): string[] => [
  ...VM_TABS.map((tab) => `/vms/${vmId}?tab=${tab}`),
  `/vms/${vmId}/console`,
  `/networks/${networkId}`,
  `/firewalls/${firewallId}`,
  `/webhooks/${webhookId}`,
  `/tickets/${ticketId}`,
  `/wallet/transactions/${transactionId}`,
]

/** A visit of every screen reaches the limit of requests per minute; the client waits until it is over. */
export const PATIENCE_MS = 75_000

/** Opens a page and waits until its data is loaded. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await expectShown(page.getByRole('heading'), PATIENCE_MS)
  await page
    .getByRole('status', { name: /^(Loading|Wird geladen)$/ })
    .first()
    .waitFor({ state: 'detached', timeout: PATIENCE_MS })
}

/** The links of the menu. */
export const MENU = Object.values(shellMessages.items)
