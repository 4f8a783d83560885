// axe checks every screen: empty, full and failed to load, in the light and the dark theme.
import { describe, expect, test } from 'vitest'
import { becomeOwner } from './page-actions.ts'
import { violations } from './axe.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { seedAccount } from './seed-account.ts'
import { OWNER, startProduct } from './product.ts'
import { seedOperator } from './seed-operator.ts'
import { CUSTOMER_LISTS, open, OPERATOR_LISTS, OUTSIDE, pagesOf } from './screens.ts'

describe('axe reports no violations', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const stranger = await openBrowser(product.origin)
  const { page } = owner
  await becomeOwner(page, product)

  let pages: string[] = []
  const check = async (paths: string[], on = page): Promise<string[]> => {
    const wrong: string[] = []
    for (const path of paths) {
      await open(on, path)
      wrong.push(...(await violations(on)).map((line) => `${path}: ${line}`))
    }
    return wrong
  }

  test('before signing in', async () => expect(await check(OUTSIDE, stranger.page)).toEqual([]))

  test('on empty screens', async () => expect(await check([...CUSTOMER_LISTS, ...OPERATOR_LISTS])).toEqual([]))

  test('on full screens, light and dark', async () => {
    await product.run('account', 'credit', '--account', OWNER.email, '--amount', '100.00')
    const { berth } = await product.client(OWNER.email)
    pages = pagesOf(await seedAccount(berth))
    pages.push(`/operator/hosts/${await seedOperator(product.databaseUrl)}`)
    expect(await check([...CUSTOMER_LISTS, ...pages, ...OPERATOR_LISTS])).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await check([...CUSTOMER_LISTS, ...pages, ...OPERATOR_LISTS, '/no-such-page'])).toEqual([])
  })

  test('on full screens in German', async () => {
    await page.evaluate(() => localStorage.setItem('berth:language', 'de'))
    expect(await check([...CUSTOMER_LISTS, ...pages, ...OPERATOR_LISTS])).toEqual([])
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
    await page.evaluate(() => localStorage.removeItem('berth:language'))
  })

  test('on screens that fail to load', async () => {
    await page.route(/\/api\/dashboard\/(v1|operator|sessions$)/, (route) =>
      route.fulfill({ status: 500, json: { success: false, error: 'Something went wrong on our side' } }),
    )
    expect(await check([...CUSTOMER_LISTS, '/vms/cmissing00', '/firewalls/cmissing00', ...OPERATOR_LISTS])).toEqual([])
    expectNoProblems(owner)
  })
})
