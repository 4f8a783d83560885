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

/** By the menu at the side. */
export const go = (page: Page, name: string): Promise<void> => link(page.getByRole('navigation', { name: 'Main' }), name).click()

export async function becomeOwner(page: Page, { welcome }: Pick<Product, 'welcome'>): Promise<void> {
  await page.goto(welcome)
  await fill(page, { 'E-mail': OWNER.email, Password: OWNER.password })
  await button(page, 'Set the password and go on').click()
  await expectShown(heading(page, /Hello/))
}

/** With money, and a program beside the browser. */
export async function becomeRichOwner(page: Page, product: Product): Promise<Berth> {
  await becomeOwner(page, product)
  await product.run('account', 'credit', '--account', OWNER.email, '--amount', '100.00')
  return (await product.client(OWNER.email)).berth
}
