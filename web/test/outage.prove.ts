// A server that answers with errors, a lost connection and a session that ended.
import { describe, expect, test } from 'vitest'
import { stopwatch } from '../../server/src/kernel/clock.ts'
import { becomeFundedOwner, button, expectShown, fill, go, heading, signOut } from './page-actions.ts'
import { openBrowser } from './browser.ts'
import { OWNER, startProduct } from './product.ts'

const API = /\/api\/dashboard\/v1\/(?!events)/

describe('the dashboard says so', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin, { viewport: { width: 1440, height: 900 } })
  const { page } = owner
  await becomeFundedOwner(page, product)
  const live = page.getByText('Live', { exact: true })

  test('when the server answers 502, within 10 s and until it recovers', async () => {
    await expectShown(live)
    await page.route(API, (route) => route.fulfill({ status: 502, body: 'Bad Gateway' }))
    const elapsed = stopwatch()
    await go(page, 'Virtual machines')
    await expectShown(page.getByRole('heading', { name: 'Failed to load' }), 10_000)
    await expectShown(page.getByText('Server error, retrying'))
    expect(await live.count()).toBe(0)
    let skeletons = 0
    while (elapsed() < 20_000) skeletons += await page.getByRole('status', { name: 'Loading' }).count()
    expect(skeletons).toBe(0)
    await page.unroute(API)
    await expectShown(page.getByText('No virtual machines yet'))
    await expectShown(live)
  })

  test.each([1440, 390])('when it is offline, within the menu, at %i pixels', async (width) => {
    await page.setViewportSize({ width, height: 900 })
    await page.context().setOffline(true)
    const badge = page.locator('[data-state=offline]:visible')
    await expectShown(badge, 30_000)
    const { right, edge, overflow } = await badge.first().evaluate((element) => {
      const frame = element.closest('aside, header')!.getBoundingClientRect()
      const text = element.querySelector('span')!
      return { right: text.getBoundingClientRect().right, edge: frame.right, overflow: element.scrollWidth - element.clientWidth }
    })
    expect(right).toBeLessThanOrEqual(edge)
    expect(overflow).toBeLessThanOrEqual(0)
    await page.context().setOffline(false)
    await expectShown(page.locator('[data-state=live]:visible'), 30_000)
  })

  test('when the session has ended, and continues on the same page', async () => {
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto('/vms/new')
    await page.getByLabel('Hostname').fill('half-way')
    await page.context().clearCookies()
    await expectShown(heading(page, 'Sign in'), 30_000)
    await expectShown(page.getByText('Your session has ended. Sign in to continue where you left off.'))
    await fill(page, { Email: OWNER.email, Password: OWNER.password })
    await button(page, 'Sign in').click()
    await expectShown(heading(page, 'Create a virtual machine'))
    expect(await page.getByLabel('Hostname').inputValue()).toBe('half-way')
    await signOut(page)
    await expectShown(heading(page, 'Sign in'))
    expect(await page.getByText('Your session has ended.').count()).toBe(0)
  })

  test('when a page does not exist, without leaving the menu', async () => {
    await fill(page, { Email: OWNER.email, Password: OWNER.password })
    await button(page, 'Sign in').click()
    await expectShown(heading(page, /Hello/))
    await page.goto('/no-such-page')
    await expectShown(heading(page, 'Not found'))
    await go(page, 'Wallet')
    await expectShown(heading(page, 'Wallet'))
  })
})
