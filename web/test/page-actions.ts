// What a person does again and again, by what they see: roles and labels.
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

/** Keeps back the answers to some requests until it is called off; `asked` resolves with the first of them. */
export async function holdResponses(page: Page, requests: RegExp): Promise<{ asked: Promise<unknown>; letGo: () => Promise<void> }> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route(requests, (route) => released.then(() => route.continue()).catch(() => {})) // the page may have given it up
  const letGo = async (): Promise<void> => {
    release()
    await page.unroute(requests)
  }
  return { asked: page.waitForRequest(requests), letGo }
}

/** Chromium without a screen shows all its tabs at once: to the page this is what going to another tab is. */
export const setHidden = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate((is) => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: is })
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: is ? 'hidden' : 'visible' })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  }, hidden)

/** By the menu at the side. */
export const go = (page: Page, name: string): Promise<void> => link(page.getByRole('navigation', { name: 'Main' }), name).click()

export async function becomeOwner(page: Page, { welcome }: Pick<Product, 'welcome'>): Promise<void> {
  await page.goto(welcome)
  await fill(page, { Email: OWNER.email, Password: OWNER.password })
  await button(page, 'Set password').click()
  await expectShown(heading(page, /Hello/))
}

/** With money, and a program beside the browser. */
export async function becomeFundedOwner(page: Page, product: Product): Promise<Berth> {
  await becomeOwner(page, product)
  await product.run('account', 'credit', '--account', OWNER.email, '--amount', '100.00')
  return (await product.client(OWNER.email)).berth
}
