// Names are rendered as text: no script runs, no request leaves the page, no name breaks the layout.
import { describe, expect, test } from 'vitest'
import { becomeFundedOwner } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { seedAccount, type SeededAccount } from './seed-account.ts'
import { startProduct } from './product.ts'
import { CUSTOMER_LISTS, open, OPERATOR_LISTS, pagesOf } from './screens.ts'

const HOSTILE = `"><img src=x onerror=pwned=1><script>pwned=1</script>{{7*7}}`
const LONG = 'W'.repeat(30)
const NARROW = { width: 360, height: 740 }

describe('hostile names', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const furnished: SeededAccount = await seedAccount(berth, (what) => `${what}${HOSTILE}`.slice(0, 100))
  const paths = [...CUSTOMER_LISTS, ...pagesOf(furnished), ...OPERATOR_LISTS]

  test('are shown unchanged and execute nothing', async () => {
    for (const path of paths) {
      await open(page, path)
      expect(await page.evaluate(() => 'pwned' in globalThis), path).toBe(false)
      expect(await page.locator('img[src="x"]').count(), path).toBe(0)
    }
    await open(page, '/vms')
    expect(await page.getByRole('table').innerText()).toContain(`web${HOSTILE}`)
    expectNoProblems(owner)
  })

  test('and long names cause no horizontal scrolling at 360 pixels', async () => {
    await berth.vms.update(furnished.vmId, { name: `${LONG}${LONG}${LONG}` })
    await berth.firewalls.update(furnished.firewallId, { name: LONG + LONG, description: LONG + LONG })
    await page.setViewportSize(NARROW)
    const wide: string[] = []
    for (const path of paths) {
      await open(page, path)
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      if (width > NARROW.width) wide.push(`${path} is ${width} wide`)
    }
    expect(wide).toEqual([])
  })
})
