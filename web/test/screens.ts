// All URLs of the dashboard, for tests that visit every screen.
import type { Page } from 'playwright-core'
import type { SeededAccount } from './seed-account.ts'
import { expectShown } from './page-actions.ts'

const VM_TABS = ['overview', 'graphs', 'networking', 'copies', 'activity', 'console', 'settings']
const SETTINGS_TABS = ['keys', 'security', 'sessions', 'profile', 'limits']
const LISTS = [
  '/',
  '/vms',
  '/vms/new',
  '/ssh-keys',
  '/networks',
  '/firewalls',
  '/bandwidth',
  '/wallet',
  '/webhooks',
  '/events',
  '/tickets',
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
  'actions',
  'orphaned-volumes',
  'tickets',
  'health',
].map((name) => `/operator/${name}`)
export const OUTSIDE = ['/sign-in', '/sign-up', '/confirm', '/welcome', '/forgot-password', '/reset']
export const CUSTOMER_LISTS = [...LISTS, ...SETTINGS_TABS.map((tab) => `/settings?tab=${tab}`)]

export const pagesOf = ({ vmId, firewallId, webhookId, ticketId }: SeededAccount): string[] => [
  ...VM_TABS.map((tab) => `/vms/${vmId}?tab=${tab}`),
  `/firewalls/${firewallId}`,
  `/webhooks/${webhookId}`,
  `/tickets/${ticketId}`,
]

/** Opens a page and waits until its data is loaded. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await expectShown(page.getByRole('heading'))
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
}
