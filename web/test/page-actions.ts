// Page interactions by role and label.
import type { Locator, Page } from 'playwright-core'
import type { Berth } from '../../sdk/src/index.ts'
import { OWNER, type Product } from './product.ts'

export const button = (page: Page | Locator, name: string | RegExp): Locator =>
  page.getByRole('button', { name, exact: typeof name === 'string' })
export const link = (page: Page | Locator, name: string | RegExp): Locator =>
  page.getByRole('link', { name, exact: typeof name === 'string' })
export const heading = (page: Page | Locator, name: string | RegExp): Locator => page.getByRole('heading', { name, level: 1 })
export const dialog = (page: Page): Locator => page.getByRole('dialog')
export const expectShown = (locator: Locator, timeout?: number): Promise<void> => locator.first().waitFor({ state: 'visible', timeout })

export async function fill(within: Page | Locator, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await within.getByLabel(label, { exact: true }).fill(value)
}

/** Holds matching requests until `release`; `requested` resolves with the first of them. */
export async function holdResponses(page: Page, requests: RegExp): Promise<{ requested: Promise<unknown>; release: () => Promise<void> }> {
  const { promise: released, resolve } = Promise.withResolvers<void>()
  await page.route(requests, (route) => released.then(() => route.continue()).catch(() => {})) // the page may have aborted the request
  const release = async (): Promise<void> => {
    resolve()
    await page.unroute(requests)
  }
  return { requested: page.waitForRequest(requests), release }
}

/** Headless chromium treats all tabs as visible, so this simulates switching tabs. */
export const setHidden = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate((is) => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: is })
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: is ? 'hidden' : 'visible' })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  }, hidden)

/** Navigates with the main menu, by way of the other area where the item is there. */
export async function go(page: Page, name: string): Promise<void> {
  const menu = page.getByRole('navigation', { name: 'Main' })
  await expectShown(menu.getByRole('link'))
  if ((await link(menu, name).count()) === 0) await page.getByRole('navigation', { name: 'Area' }).locator('a:not([aria-current])').click()
  await link(menu, name).click()
}

export async function signOut(page: Page): Promise<void> {
  await button(page, /Account menu$/).click()
  await button(page, 'Sign out').click()
}

export async function becomeOwner(page: Page, { welcome }: Pick<Product, 'welcome'>): Promise<void> {
  await page.goto(welcome)
  await fill(page, { Email: OWNER.email, Password: OWNER.password })
  await button(page, 'Set password').click()
  await expectShown(heading(page, /Hello/))
}

/** An owner with funds, and an API client for the same account. */
export async function becomeFundedOwner(page: Page, product: Product): Promise<Berth> {
  await becomeOwner(page, product)
  await product.run('account', 'credit', '--account', OWNER.email, '--amount', '100.00')
  return (await product.client(OWNER.email)).berth
}
