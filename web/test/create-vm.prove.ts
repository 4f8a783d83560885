// The create form beyond the way of customer.test.ts, and what the overview of a VM lets one do in place.
import { describe, expect, test } from 'vitest'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { violations } from './axe.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { becomeFundedOwner, button, dialog, expectShown, fill, heading } from './page-actions.ts'
import { startProduct } from './product.ts'
import { open } from './screens.ts'

describe('the create form and the overview', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin, { viewport: { width: 1440, height: 900 } })
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const [region] = await berth.regions.list()

  test('has everything chosen and priced before anything is typed', async () => {
    await open(page, '/vms/new')
    await expect.poll(() => button(page, 'Create VM').isEnabled()).toBe(true)
    expect(await page.getByLabel('Hostname').inputValue()).toMatch(/^[a-z]+-[a-z]+$/)
    await expectShown(page.getByText('Due today').locator('xpath=..').getByText('$'))
  })

  test('suggests another name, and shows those of several', async () => {
    const first = await page.getByLabel('Hostname').inputValue()
    await button(page, 'Suggest another name').click()
    expect(await page.getByLabel('Hostname').inputValue()).not.toBe(first)
    await page.getByLabel('Hostname').fill('web-{n}')
    await page.getByLabel('How many').fill('3')
    await expectShown(page.getByText('web-3', { exact: true }))
    await expectShown(page.getByText('Monthly, all 3'))
  })

  test('adds an SSH key without losing the form', async () => {
    await button(page, 'Add SSH key').click()
    await fill(dialog(page), { Name: 'desk', 'Public key': generateKey().line })
    await button(dialog(page), 'Add SSH key').click()
    await expect.poll(() => page.getByRole('checkbox', { name: 'desk' }).isChecked()).toBe(true)
    expect(await page.getByLabel('Hostname').inputValue()).toBe('web-{n}')
  })

  test('says what is wrong in user data, line by line, and what the API refuses', async () => {
    await button(page, /^User data/).click()
    const editor = page.getByRole('textbox', { name: 'User data' })
    await editor.fill('packages:\n\t- nginx')
    const problems = page.getByRole('list', { name: 'What looks wrong in the user data' }).getByRole('listitem')
    await expect.poll(() => problems.count()).toBe(2)
    await expectShown(page.getByText(/^UserData has no form|^Has no form that cloud-init knows/))
    await button(page, 'Add the line').click()
    await expect.poll(() => problems.allInnerTexts()).toEqual([expect.stringContaining('Tabs cannot indent')])
    await editor.fill('#cloud-config\npackages:\n  - nginx')
    await expect.poll(() => problems.count()).toBe(0)
  })

  test('shows all of it as code', async () => {
    await button(page, /^Labels and placement/).click()
    await page.getByRole('combobox', { name: 'Labels' }).fill('env=prod')
    await page.keyboard.press('Enter')
    await button(page, 'Show as code').click()
    await dialog(page).getByRole('tab', { name: 'CLI' }).click()
    const code = await dialog(page).getByLabel('CLI', { exact: true }).last().innerText()
    expect(code).toContain('berth vm create web-{n}')
    for (const option of [`--region ${region!.slug}`, '--count 3', '--label env=prod', '--user-data @user-data', '--key '])
      expect(code).toContain(option)
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
  })

  test('has volumes: new ones with their price, and those that no VM has', async () => {
    await berth.volumes.create({ name: 'archive', sizeGiB: 30, regionId: region!.id })
    await open(page, '/vms/new')
    const total = page.getByText('Due today').first().locator('xpath=..')
    await expect.poll(() => button(page, 'Create VM').isEnabled()).toBe(true)
    const before = await total.innerText()
    await button(page, /^Volumes/).click()
    await button(page, 'Add new volume').click()
    await page.getByRole('group', { name: 'New volume 1' }).getByLabel('Size (GiB)').fill('50')
    await expectShown(page.getByText(/^\$\d+\.\d\d per month$/).first())
    await expect.poll(() => button(page, 'Create VM').isEnabled()).toBe(true)
    expect(await total.innerText()).not.toBe(before)
    expect(await page.getByRole('checkbox', { name: 'archive' }).isDisabled()).toBe(true)
    await expectShown(page.getByText(/A detached volume can go to one VM only/))
    await button(page, 'Add new volume').click()
    const second = page.getByRole('group', { name: 'New volume 2' })
    await second.getByLabel('Name').fill('')
    await expectShown(second.getByText(/1-100 characters/))
    await button(page, 'Remove').last().click()
    await expect.poll(() => second.count()).toBe(0)
    expect(await violations(page)).toEqual([])
    await button(page, 'Show as code').click()
    await dialog(page).getByRole('tab', { name: 'CLI' }).click()
    await expectShown(dialog(page).getByText("--volume 'name=data,size=50'").last())
    await page.keyboard.press('Escape')
  })

  test('is short on a phone: one line for each section', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await open(page, '/vms/new')
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(1700)
    await button(page, /^Size/).click()
    await page.getByLabel(/^Medium/).check()
    await button(page, /^Size/).click()
    await expectShown(button(page, /^Size.*Medium/))
    expect(await violations(page)).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  test('opens the section that the API refuses', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await button(page, /^Name/).click()
    await page.getByLabel('Hostname').fill('not_a_name')
    await button(page, /^Name/).click()
    await expectShown(button(page, /^Name.*To be corrected/))
    await button(page, /^Name/).click()
    await page.getByLabel('Hostname').fill('app')
    await page.getByLabel('How many').fill('1')
    await page.setViewportSize({ width: 1440, height: 900 })
    if ((await page.getByRole('checkbox', { name: 'archive' }).count()) === 0) await button(page, /^Volumes/).click()
    await page.getByRole('checkbox', { name: 'archive' }).check()
    await expect.poll(() => button(page, 'Create VM').isEnabled()).toBe(true)
    await button(page, 'Create VM').click()
    await expectShown(heading(page, 'app'))
    await expectShown(page.getByText('Running', { exact: true }))
    const [vm] = await berth.vms.list().all()
    const volumes = async () =>
      (await berth.volumes.list({ vmId: vm!.id, sort: 'name' }).all()).map(({ name, status, sizeGiB }) => `${name} ${sizeGiB} ${status}`)
    await expect.poll(volumes, { timeout: 60_000 }).toEqual(['archive 30 ATTACHED', 'data 50 ATTACHED'])
  })

  test('the overview says how to log in, what it costs and what happened', async () => {
    const [vm] = await berth.vms.list().all()
    await expectShown(page.getByText(`ssh root@${vm!.ipAddress}`).or(page.getByText(new RegExp(`^ssh \\w+@${vm!.ipAddress}$`))))
    await expectShown(page.getByRole('listitem').filter({ hasText: 'Created' }))
    await expectShown(page.getByText('This month so far').locator('xpath=..').getByText(`$${vm!.billing.priceMonthly}`))
    expect(await violations(page)).toEqual([])
  })

  test('renames and labels the VM in place', async () => {
    await button(page, 'Rename VM').click()
    await page.getByLabel('Display name').fill('My app')
    await page.keyboard.press('Enter')
    await expectShown(heading(page, 'My app'))
    await button(page, 'Edit labels').click()
    await page.getByRole('combobox', { name: 'Labels' }).fill('team=core')
    await page.keyboard.press('Enter')
    await button(page, 'Save changes').click()
    await expectShown(page.getByText('team=core').first())
    await expect.poll(async () => (await berth.vms.list().all())[0]!.labels).toEqual({ env: 'prod', team: 'core' })
  })

  test('its menu says why something is not possible, and protects', async () => {
    const [vm] = await berth.vms.list().all()
    await button(page, 'More actions').click()
    await page.getByRole('menuitem', { name: 'Protect from deletion' }).click()
    await expect.poll(async () => (await berth.vms.get(vm!.id)).isProtected).toBe(true)
    await button(page, 'More actions').click()
    const entry = page.getByRole('menuitem', { name: /^Delete VM/ })
    await expectShown(entry.getByText('Turn off delete protection first'))
    expect(await entry.getAttribute('aria-disabled')).toBe('true')
    await entry.click({ force: true })
    expect(await dialog(page).count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    expectNoProblems(owner)
  })
})
