// Names of 100 characters: tables stay readable, and a VM can still be deleted.
import { describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { becomeFundedOwner, button, dialog, expectShown, heading } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { seedAccount } from './seed-account.ts'
import { startProduct } from './product.ts'
import { open } from './screens.ts'

const LONG = (what: string): string => `${what} ${'🚢'.repeat(5)}${'W'.repeat(100)}`.slice(0, 100)

/** Values that are split over two lines in the middle of a word: an address, an amount, a region. */
const brokenWords = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const broken: string[] = []
    for (const cell of document.querySelectorAll('td')) {
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
      for (let node = texts.nextNode(); node; node = texts.nextNode()) {
        for (const { 0: word, index } of (node.textContent ?? '').matchAll(/[^\s·]+/g)) {
          const range = document.createRange()
          range.setStart(node, index)
          range.setEnd(node, index + word.length)
          const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top / 8)))
          if (lines.size > 1) broken.push(word)
        }
      }
    }
    return broken
  })

describe('with names of 100 characters', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin, { viewport: { width: 1440, height: 900 } })
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const { vmId, firewallId, webhookId } = await seedAccount(berth, LONG)

  test.each([
    '/vms',
    '/volumes',
    '/images',
    '/ssh-keys',
    '/networks',
    '/firewalls',
    '/bandwidth',
    '/wallet',
    '/tickets',
    '/audit-log',
    '/events',
    `/vms/${vmId}?tab=copies`,
    `/firewalls/${firewallId}`,
    `/webhooks/${webhookId}`,
    '/operator/actions',
    '/operator/tickets',
  ])('no word of a table is split on %s', async (path) => {
    await open(page, path)
    expect(await brokenWords(page)).toEqual([])
  })

  test('the whole name is shown on hover', async () => {
    await open(page, '/vms')
    expect(await page.getByTitle(LONG('web'), { exact: true }).count()).toBe(1)
  })

  test('a number and its unit stay on one line', async () => {
    await open(page, `/vms/${vmId}?tab=copies`)
    const size = page.getByRole('table', { name: 'Snapshots' }).getByRole('cell').nth(2)
    expect(await size.innerText()).toMatch(/^[\d.]+\u00a0[kMG]?B$/)
  })

  test('the private address of a VM is shown', async () => {
    const [network] = (await berth.vms.get(vmId)).privateNetworks
    await open(page, `/vms/${vmId}`)
    await expectShown(page.getByText('Private IPv4').locator('xpath=..').getByText(network!.ipAddress))
    await open(page, `/vms/${vmId}?tab=networking`)
    await expectShown(page.getByRole('listitem').filter({ hasText: network!.name }).getByText(network!.ipAddress))
  })

  test('a VM is deleted by typing its hostname', async () => {
    await open(page, `/vms/${vmId}?tab=settings`)
    await button(page, 'Delete VM').click()
    await dialog(page).getByLabel('Type web to confirm').fill('web')
    await button(dialog(page), 'Delete VM').click()
    await expectShown(heading(page, 'Virtual machines'))
    expectNoProblems(owner)
  })
})
