// Actions of all VMs that the list is filtered by their labels: shown before with price and refusals, begun together.
import { describe, expect, test } from 'vitest'
import { violations } from './axe.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { becomeFundedOwner, button, dialog, expectShown, fill, go } from './page-actions.ts'
import { startProduct } from './product.ts'

describe('actions of many VMs', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const [regions, templates] = await Promise.all([berth.regions.list(), berth.osTemplates.list()])
  const place = { regionId: regions[0]!.id, osTemplateId: templates.find(({ available }) => available)!.id }
  const create = async (hostname: string, more: object = {}): Promise<string> => {
    const created = await berth.vms.create({ ...place, hostname, ...more })
    await berth.waitForAction(created)
    return created.vmId
  }
  const labels = { env: 'test' }
  const both = [await create('test-1', { labels }), await create('test-2', { labels, isProtected: true })]
  await create('prod')
  const choose = async (action: string): Promise<void> => {
    await button(page, 'Act on all of them').click()
    await page.getByRole('menuitem', { name: action, exact: true }).click()
  }
  const statuses = async (): Promise<object> =>
    Object.fromEntries((await berth.vms.list().all()).map(({ hostname, status }) => [hostname, status]))

  test('nothing is offered for a list that is not filtered by labels', async () => {
    await go(page, 'Virtual machines')
    await expectShown(page.getByRole('link', { name: 'prod' }))
    expect(await button(page, 'Act on all of them').count()).toBe(0)
  })

  test('those with the labels are stopped, and no other', async () => {
    await page.getByLabel('Filter by labels').fill('env=test')
    await page.keyboard.press('Enter')
    await choose('Shut all of them down')
    await expectShown(dialog(page).getByText('2 VMs.'))
    expect(await violations(page)).toEqual([])
    await button(dialog(page), 'Shut down').click()
    await expectShown(page.getByText('2 actions have begun'))
    await expect.poll(statuses, { timeout: 60_000 }).toEqual({ 'test-1': 'STOPPED', 'test-2': 'STOPPED', prod: 'RUNNING' })
  })

  test('snapshots have one name', async () => {
    await choose('Take snapshots of all of them')
    expect(await button(dialog(page), 'Take snapshots').isDisabled()).toBe(true)
    await fill(dialog(page), { 'Name of the snapshots': 'nightly' })
    await button(dialog(page), 'Take snapshots').click()
    const snapshots = async (vmId: string) => (await berth.snapshots.list(vmId).all()).map(({ name, status }) => `${name} ${status}`)
    await expect.poll(() => Promise.all(both.map(snapshots)), { timeout: 60_000 }).toEqual([['nightly AVAILABLE'], ['nightly AVAILABLE']])
    const refusals = async () =>
      (await berth.vms.quoteBulk({ action: 'DELETE', labelSelector: 'env=test' })).vms.map(({ errorCode }) => errorCode)
    await expect.poll(refusals, { timeout: 60_000 }).toEqual([null, 'protected']) // no longer busy
  })

  test('a VM that refuses is named before, with the reason, and the others are deleted', async () => {
    await choose('Delete all of them')
    await expectShown(dialog(page).getByText(/^One VM; 1 cannot, for the reason beside it\. \$\d+\.\d\d are refunded\.$/))
    await expectShown(dialog(page).getByRole('row', { name: /^test-2 .*protect/ }))
    expect(await button(dialog(page), 'Delete').isDisabled()).toBe(true)
    await dialog(page).getByLabel('Type env=test to confirm').fill('env=test')
    await button(dialog(page), 'Delete').click()
    await expectShown(page.getByText('One action has begun; one VM refused'))
    await expect.poll(statuses, { timeout: 60_000 }).toEqual({ 'test-2': 'STOPPED', prod: 'RUNNING' })
    expectNoProblems(owner)
  })
})
