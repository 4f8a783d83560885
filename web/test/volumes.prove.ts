// Volumes in the dashboard: created with their price, attached, grown, detached and deleted; named where they are referred to.
import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { violations } from './axe.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { becomeFundedOwner, button, dialog, expectShown, fill, go, link } from './page-actions.ts'
import { startProduct } from './product.ts'

describe('volumes', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const [regions, templates] = await Promise.all([berth.regions.list(), berth.osTemplates.list()])
  const created = await berth.vms.create({
    regionId: regions[0]!.id,
    osTemplateId: templates.find(({ available }) => available)!.id,
    hostname: 'web',
  })
  await berth.waitForAction(created)
  const row = (name: string): Locator => page.getByRole('row', { name: new RegExp(`^${name} `) })
  const choose = async (name: string, action: string): Promise<void> => {
    await button(page, `Actions for ${name}`).click()
    await page.getByRole('menuitem', { name: action, exact: true }).click()
  }

  test('the empty list leads to a volume, with its price before it is created', async () => {
    await go(page, 'Volumes')
    await expectShown(page.getByText('No volumes yet'))
    await button(page, 'Create volume').last().click()
    await fill(dialog(page), { Name: 'data' })
    await expectShown(dialog(page).getByText(/^\$\d+\.\d\d now, and the same each month\.$/))
    expect(await violations(page)).toEqual([])
    await dialog(page).getByLabel('Storage').selectOption('REPLICATED')
    await expectShown(dialog(page).getByText(/no replicated storage/))
    const refused = page.waitForResponse((response) => response.request().method() === 'POST' && !response.url().includes('dryRun'))
    await button(dialog(page), 'Create volume').click()
    expect((await refused).status()).toBe(422)
    await dialog(page).getByLabel('Storage').selectOption('LOCAL')
    await dialog(page).getByRole('alert').waitFor({ state: 'hidden' })
    await expectShown(dialog(page).getByText('The data is on one host'))
    await button(dialog(page), 'Create volume').click()
    await expectShown(row('data').getByText('Detached'))
    await expectShown(row('data').getByText(/^\$\d+\.\d\d/))
  })

  test('it is attached, and the commands of its guest are shown', async () => {
    await choose('data', 'Attach to a VM')
    await button(dialog(page), 'Attach to a VM').click()
    await expectShown(row('data').getByText('Attached', { exact: true }))
    await expectShown(link(page, 'web'))
    const { devicePath } = (await berth.volumes.list().all())[0]!
    await choose('data', 'Use in the guest')
    await expectShown(dialog(page).getByText(`mkfs.ext4 ${devicePath}`))
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
  })

  test('it grows with its price, and is not deleted while it is attached', async () => {
    await choose('data', 'Grow volume')
    await expectShown(dialog(page).getByText(/^\$\d+\.\d\d now, for the rest of the month/))
    await button(dialog(page), 'Grow volume').click()
    await expectShown(row('data').getByText('20 GiB'))
    await choose('data', 'Delete volume')
    expect(await button(dialog(page), 'Delete volume').isDisabled()).toBe(true)
    await button(dialog(page), 'Cancel').click()
  })

  test('its VM, the wallet and the audit log name it', async () => {
    await page.goto(`/vms/${created.vmId}`)
    await expectShown(page.locator('dl').getByRole('link', { name: 'data' }))
    await page.goto('/wallet')
    await expectShown(page.getByRole('table', { name: 'Forecast' }).getByText('Volume data'))
    await page.goto('/audit-log')
    await expectShown(page.getByRole('row', { name: / changed volume data / }))
  })

  test('it is detached and deleted', async () => {
    await go(page, 'Volumes')
    await choose('data', 'Detach')
    await button(dialog(page), 'Detach').click()
    await expectShown(row('data').getByText('Detached'))
    await choose('data', 'Delete volume')
    await button(dialog(page), 'Delete volume').click()
    await expectShown(page.getByText('No volumes yet'))
    expectNoProblems(owner)
  })
})
