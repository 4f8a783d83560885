// Changes appear within two seconds with and without the event stream, and survive a reload and an outage.
import type { Page, Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { stopwatch } from '../../server/src/kernel/clock.ts'
import { becomeFundedOwner, expectShown, go, heading, setHidden } from './page-actions.ts'
import { openBrowser } from './browser.ts'
import { seedAccount } from './seed-account.ts'
import { startProduct } from './product.ts'

const WITHIN_MS = 2_000
const TABS = 8 // two more than a browser's connection limit per server

describe('the dashboard', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const { vmId } = await seedAccount(berth)

  /** Time from the completion of an action until its status is shown. */
  const lag = async (act: 'start' | 'stop', status: string): Promise<number> => {
    await berth.waitForAction(await berth.vms[act](vmId))
    const elapsed = stopwatch()
    await expectShown(page.getByRole('row', { name: /^web/ }).getByText(status))
    return elapsed()
  }

  test('shows a new status within 2 s over the stream', async () => {
    await go(page, 'Virtual machines')
    expect(await lag('stop', 'Stopped')).toBeLessThan(WITHIN_MS)
    expect(await lag('start', 'Running')).toBeLessThan(WITHIN_MS)
    expect(await page.getByText('Live', { exact: true }).count()).toBeGreaterThan(0)
  })

  test.each<[string, (route: Route) => void]>([
    ['is refused', (route) => void route.abort()],
    ['is never answered', () => {}],
  ])('shows it within 2 s when the stream %s, and shows no live badge', async (_, meet) => {
    await page.route(/\/events(\?|$)/, (route) =>
      /event-stream/.test(route.request().headers()['accept'] ?? '') ? meet(route) : route.continue(),
    )
    await page.reload()
    await expectShown(page.getByText('Polling'))
    expect(await lag('stop', 'Stopped')).toBeLessThan(WITHIN_MS + 500)
    expect(await page.getByText('Live', { exact: true }).count()).toBe(0)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await expectShown(page.getByText('Live', { exact: true }))
    expect(await lag('start', 'Running')).toBeLessThan(WITHIN_MS)
  })

  test('closes the stream of hidden tabs, and updates a tab when it becomes visible', async () => {
    await setHidden(page, true)
    const others: Page[] = []
    while (others.length < TABS - 1) {
      const other = await owner.context.newPage()
      await other.goto('/vms')
      await expectShown(other.getByText('Live', { exact: true }))
      await setHidden(other, true)
      others.push(other)
    }
    await berth.waitForAction(await berth.vms.stop(vmId))
    await setHidden(page, false)
    const elapsed = stopwatch()
    await expectShown(page.getByRole('row', { name: /^web/ }).getByText('Stopped'))
    await expectShown(page.getByText('Live', { exact: true }))
    expect(elapsed()).toBeLessThan(WITHIN_MS)
    expect(await lag('start', 'Running')).toBeLessThan(WITHIN_MS)
    await Promise.all(others.map((other) => other.close()))
  })

  test('shows the last page instead of one past the end', async () => {
    await page.goto('/vms?page=9')
    await expectShown(page.getByRole('row', { name: /^web/ }))
    expect(page.url()).toContain('page=1')
  })

  test('keeps page, filter and tab across a reload', async () => {
    await page.goto('/vms')
    await page.getByLabel('Filter by status').selectOption('Stopped')
    await expectShown(page.getByRole('row', { name: /^db/ }))
    await page.reload()
    await expectShown(page.getByRole('row', { name: /^db/ }))
    expect(await page.getByRole('row', { name: /^web/ }).count()).toBe(0)
    await page.goto(`/vms/${vmId}?tab=copies`)
    await page.reload()
    await expectShown(page.getByRole('cell', { name: 'weekly' }))
  })

  test('shows that the server is unreachable, and reconnects automatically', async () => {
    await page.goto(`/vms/${vmId}`)
    await expectShown(heading(page, 'web'))
    await page.context().setOffline(true)
    await expectShown(page.getByText('Offline, reconnecting'), 30_000)
    await page.context().setOffline(false)
    await expectShown(page.getByText('Live', { exact: true }), 30_000)
    await berth.vms.update(vmId, { name: 'web renamed' })
    await expectShown(heading(page, 'web renamed'))
  })
})
