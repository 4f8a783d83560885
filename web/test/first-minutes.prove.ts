// The first minutes of an owner: what the dashboard says, preselects and keeps.
import { describe, expect, test } from 'vitest'
import { openDb, sql, type Sql } from '../../server/src/kernel/database/db.ts'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { becomeOwner, button, dialog, expectShown, fill, go, heading, link } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { OWNER, startProduct } from './product.ts'

const PHONE = { width: 390, height: 844 }

describe('in the first minutes an owner', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const { page } = owner
  const change = async (statement: Sql): Promise<void> => {
    const db = openDb({ url: product.databaseUrl, maxConnections: 1, onError: () => {} })
    await db.run(statement)
    await db.close()
  }

  test('reads which e-mail address is meant', async () => {
    await page.goto(product.welcome)
    await expectShown(page.getByText('Your own address. You sign in with it, and it belongs to the first operator.'))
    await becomeOwner(page, product)
  })

  test('sees all steps, and finds the guides', async () => {
    const steps = page.getByRole('region', { name: 'Next step' }).getByRole('listitem')
    await expect
      .poll(() => steps.allInnerTexts())
      .toEqual(['Add an SSH key', 'Add funds', 'Create your first VM', 'Enable two-factor authentication'])
    const { berth } = await product.client(OWNER.email)
    await berth.sshKeys.create({ name: 'laptop', publicKey: generateKey().line })
    await page.reload()
    await expectShown(steps.filter({ hasText: 'Add an SSH key (done)' }))
    expect((await page.request.get((await link(page, 'Guides').getAttribute('href'))!)).status()).toBe(200)
  })

  test('is led to credit, because there is no payment provider', async () => {
    await link(page, 'Give credit').click()
    await expectShown(heading(page, OWNER.email))
    await go(page, 'Wallet')
    await expectShown(page.getByText(/no payment provider is set up/))
    expect(await button(page, 'Add funds').count()).toBe(0)
    await link(page, 'Give credit').click()
    await button(page, 'Add credit').click()
    await fill(dialog(page), { Amount: '100.00', Reason: 'Start' })
    await button(dialog(page), 'Add credit').click()
    await expectShown(page.getByText('$100.00', { exact: true }))
  })

  test('finds the ready image, the only SSH key and the price chosen already', async () => {
    await change(sql`update os_templates set checksum = 'sha256:00' where slug = 'tiny'`)
    await change(sql`update os_templates set available = false where slug = 'rocky-9'`)
    await go(page, 'Home')
    await link(page, 'Create VM').last().click()
    await expectShown(heading(page, 'Create a virtual machine'))
    await expect.poll(() => page.getByLabel(/^Tiny Linux/).isChecked()).toBe(true)
    expect(await page.getByRole('checkbox', { name: 'laptop' }).isChecked()).toBe(true)
    expect(await page.getByText('nobody can log in').count()).toBe(0)
    await expectShown(page.getByText('Due today').locator('xpath=..').getByText('$'))
    expect(await page.getByLabel('Hostname').inputValue()).toMatch(/^[a-z]+-[a-z]+$/)
    await expect.poll(() => button(page, 'Create VM').isEnabled()).toBe(true)
  })

  test('reads why an image cannot be chosen, and where to get it', async () => {
    await expectShown(page.locator('label').filter({ hasText: 'Rocky' }).getByText('Not installed here yet'))
    await expectShown(link(page, 'Install more images'))
    expect(await page.getByRole('radio', { name: /./ }).evaluateAll((all) => all.some((each) => (each as HTMLInputElement).disabled))).toBe(
      true,
    )
  })

  test('sees an unavailable image less bright than an available one in the dark theme', async () => {
    await page.emulateMedia({ colorScheme: 'dark' })
    const brightness = (of: string): Promise<number> =>
      page
        .locator('label')
        .filter({ hasText: of })
        .first()
        .evaluate((label) => {
          const [red, green, blue] = /\d+, \d+, \d+/.exec(getComputedStyle(label).backgroundColor)![0].split(', ').map(Number)
          const isTransparent = getComputedStyle(label).backgroundColor.startsWith('rgba')
          const surface = getComputedStyle(label.closest('section')!).backgroundColor.match(/\d+/g)!.map(Number)
          return isTransparent ? surface[0]! + surface[1]! + surface[2]! : red! + green! + blue!
        })
    expect(await brightness('Rocky')).toBeLessThan(await brightness('Debian 12'))
    await page.emulateMedia({ colorScheme: 'light' })
  })

  test('sees at its field that a hostname is wrong', async () => {
    await page.getByLabel('Hostname').fill('not_a_name')
    await expect.poll(() => page.getByLabel('Hostname').getAttribute('aria-invalid')).toBe('true')
    await expectShown(page.getByText('Check the marked fields.'))
    await page.getByLabel('Hostname').fill('first')
    await expectShown(page.getByText(/^\$9\d\.\d\d$/))
  })

  test('keeps the form when going back and forward', async () => {
    await page.getByLabel('Display name').fill('My first VM')
    await page.getByLabel('Daily backups').check()
    await go(page, 'SSH keys')
    await expectShown(heading(page, 'SSH keys'))
    await page.goBack()
    await expect.poll(() => page.getByLabel('Display name').inputValue()).toBe('My first VM')
    await page.reload()
    await expect.poll(() => page.getByLabel('Hostname').inputValue()).toBe('first')
    expect(await page.getByLabel('Daily backups').isChecked()).toBe(true)
  })

  test('sees the price on a phone without scrolling', async () => {
    await page.setViewportSize(PHONE)
    const { y, height } = (await button(page, 'Create VM').boundingBox())!
    expect(y + height).toBeLessThanOrEqual(PHONE.height)
    await expectShown(page.getByText('Due today').first())
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  test('reads of a step that runs what it waits for, and of a password that it was set', async () => {
    await button(page, 'Create VM').click()
    await expectShown(heading(page, 'My first VM'))
    await expectShown(page.getByText('Running', { exact: true }))
    await page.getByRole('tab', { name: 'Activity' }).click()
    await button(page, /^Create/).click()
    await expectShown(page.getByText('Wait until the guest has booted'))
    await page.getByRole('tab', { name: 'Settings' }).click()
    await button(page, 'Reset password').click()
    await fill(dialog(page), { 'New password': 'a long enough sentence 1' })
    await button(dialog(page), 'Reset password').click()
    await expectShown(page.getByText('Password set', { exact: true }))
    await go(page, 'Home')
    await page.goto('/vms/new')
    await expect.poll(() => page.getByLabel('Hostname').inputValue()).toMatch(/^(?!first$)[a-z]+-[a-z]+$/)
    expectNoProblems(owner)
  })
})
