// Keyboard operation: create a VM, reorder rules (also by drag and drop), reauthenticate.
import { describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import pg from 'pg'
import { becomeFundedOwner, button, dialog, expectShown, fill, heading } from './page-actions.ts'
import { violations } from './axe.ts'
import { openBrowser } from './browser.ts'
import { seedAccount } from './seed-account.ts'
import { OWNER, startProduct } from './product.ts'

/** Presses Tab until an element with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let steps = 0; steps < 80; steps++) {
    await page.keyboard.press('Tab')
    if (await focusedName(page).then((found) => found.startsWith(name))) return
  }
  throw new Error(`Tab never focuses ${name}`)
}

const focusedName = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const focused = document.activeElement as HTMLInputElement | null
    return focused?.getAttribute('aria-label') ?? focused?.labels?.[0]?.textContent ?? focused?.textContent ?? ''
  })

describe('keyboard operation', async () => {
  const product = await startProduct()
  const { page } = await openBrowser(product.origin)
  const berth = await becomeFundedOwner(page, product)
  const { firewallId } = await seedAccount(berth)

  test('the skip link skips the menu, and a VM is created', async () => {
    await page.goto('/vms/new')
    await expectShown(heading(page, 'Create a virtual machine'))
    await page.keyboard.press('Tab')
    expect(await focusedName(page)).toBe('Skip to main content')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Hostname')
    await page.keyboard.type('by-hand')
    await tabTo(page, 'laptop')
    expect(await page.getByRole('checkbox', { name: 'laptop' }).isChecked()).toBe(true)
    await expectShown(page.getByText('Due today').locator('xpath=..').getByText('$'))
    await tabTo(page, 'Create VM')
    await page.keyboard.press('Enter')
    await expectShown(heading(page, 'by-hand'))
  })

  test('a rule is moved down with the arrow key', async () => {
    await page.goto(`/firewalls/${firewallId}`)
    await button(page, /^Rule 1:/).focus()
    await page.keyboard.press('ArrowDown')
    await expectShown(page.getByText('Rule 1 moved to position 2'))
    await button(page, 'Review changes').focus()
    await page.keyboard.press('Enter')
    await tabTo(page, 'Apply 1 change')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await berth.firewalls.rules(firewallId)).map(({ action }) => action)).toEqual(['DROP', 'ACCEPT'])
  })

  const rule = (number: number) =>
    page
      .getByRole('list', { name: 'Rules' })
      .getByRole('listitem')
      .nth(number - 1)

  test('a rule is moved up by drag and drop', async () => {
    await rule(2).dragTo(rule(1))
    await expectShown(page.getByText('Rule 2 moved to position 1'))
    await button(page, 'Review changes').click()
    await button(page, 'Apply 1 change').click()
    await expect.poll(async () => (await berth.firewalls.rules(firewallId)).map(({ action }) => action)).toEqual(['ACCEPT', 'DROP'])
    await page.reload()
    expect(await rule(1).innerText()).toContain('TCP 22')
  })

  test('dropping anything else on a rule changes nothing', async () => {
    const dropped = await page.evaluateHandle(() => {
      const words = new DataTransfer()
      words.setData('text/plain', '1')
      return words
    })
    for (const type of ['dragover', 'drop']) await rule(2).dispatchEvent(type, { dataTransfer: dropped })
    expect(await rule(2).getAttribute('data-target')).toBe('false')
    expect(await rule(1).innerText()).toContain('TCP 22')
    expect((await berth.firewalls.rules(firewallId)).map(({ action }) => action)).toEqual(['ACCEPT', 'DROP'])
  })

  test('a dialog traps the focus and returns it', async () => {
    await page.goto('/ssh-keys')
    const add = button(page, 'Add SSH key')
    await add.focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => focusedName(page)).toBe('Name')
    await page.keyboard.press('Escape')
    await expect.poll(() => add.evaluate((element) => element === document.activeElement)).toBe(true)
  })

  test('a dialog that a menu of a row opened returns the focus to the menu', async () => {
    await product.run('ip-pool', 'add', '--region', 'fra1', '--cidr', '198.51.100.0/28', '--gateway', '198.51.100.1')
    const [region] = await berth.regions.list()
    const { id } = await berth.addresses.reserve({ regionId: region!.id, name: 'www' })
    await page.goto('/addresses')
    const menu = button(page, 'Actions for www')
    await menu.focus()
    await page.keyboard.press('Enter')
    await expectShown(page.getByRole('menuitem', { name: 'Assign to a VM' }))
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focusedName(page)).toBe('Assign to a VM')
    await page.keyboard.press('Enter')
    await expect.poll(() => focusedName(page)).toBe('VM')
    await tabTo(page, 'Assign to a VM')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await berth.addresses.get(id)).vmId).not.toBeNull()
    await dialog(page).waitFor({ state: 'detached' })
    await expect.poll(() => focusedName(page)).toBe('Actions for www')
  })

  const search = page.getByRole('combobox', { name: 'Search for' })

  test('the search is opened, chosen from and closed by keys alone', async () => {
    await page.goto('/wallet')
    await expectShown(heading(page, 'Wallet'))
    await page.keyboard.press('Control+k')
    await expect.poll(() => focusedName(page)).toBe('Search for')
    await page.keyboard.type('netw')
    await expectShown(page.getByRole('option', { name: /^Networks/, selected: true }))
    await page.keyboard.press('Enter')
    await expectShown(heading(page, 'Networks'))
    await page.keyboard.press('Control+k')
    await page.keyboard.type('BY-HAND')
    const vm = page.getByRole('option', { name: /^by-hand .*VM$/ })
    await expectShown(vm)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowDown')
    await expect
      .poll(() => vm.evaluate((option) => document.querySelector('[role=combobox]')?.getAttribute('aria-activedescendant') === option.id))
      .toBe(true)
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Enter')
    await expectShown(heading(page, 'by-hand'))
    await button(page, 'Search').focus()
    await page.keyboard.press('Enter')
    await expectShown(search)
    await page.keyboard.press('Escape')
    await expect.poll(() => focusedName(page)).toMatch(/^Search/)
  })

  test('Enter before the answer opens what the text finds, not what the text before found', async () => {
    await page.goto('/wallet')
    await expectShown(heading(page, 'Wallet'))
    await page.keyboard.press('Control+k')
    await expectShown(search)
    await page.keyboard.type('web')
    await expectShown(page.getByRole('option', { name: /^web .*VM$/ }))
    await page.keyboard.press('Control+a')
    await page.keyboard.type('by-hand')
    await page.keyboard.press('Enter')
    await expectShown(heading(page, 'by-hand'))
  })

  test('pages of the documentation are found', async () => {
    await page.keyboard.press('Control+k')
    await expectShown(search)
    await page.keyboard.type('upgrades')
    await expectShown(page.getByRole('option', { name: /Upgrad.*Documentation$/i }))
    await page.keyboard.press('Escape')
  })

  test('an operator finds their own VM once, on a telephone too', async () => {
    const size = page.viewportSize()!
    await page.setViewportSize({ width: 390, height: 844 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await button(page, 'Search').click()
    await search.fill('by-hand')
    await expectShown(page.getByRole('option', { name: /^by-hand .*VM$/ }))
    await expectShown(page.getByText('1 result', { exact: true }))
    expect(await violations(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await search.fill('no such thing')
    await expectShown(page.getByText('Nothing found for “no such thing”'))
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize(size)
  })

  test('the write continues after reauthentication', async () => {
    const database = new pg.Client({ connectionString: product.databaseUrl })
    await database.connect()
    await database.query(`update sessions set authenticated_at = authenticated_at - interval '1 hour'`)
    await database.end()
    await page.goto('/settings')
    await button(page, 'Create API key').first().click()
    await fill(dialog(page), { Name: 'late' })
    await button(dialog(page), 'Read-only').click()
    await button(dialog(page), 'Create API key').click()
    const asks = page.getByRole('dialog', { name: 'Confirm your password' })
    await expectShown(asks)
    await fill(asks, { Password: OWNER.password })
    await page.keyboard.press('Enter')
    await expectShown(page.getByLabel('API key', { exact: true }))
  })
})
