// Actions of all VMs that the list is filtered by their labels: shown before with price and refusals, begun together. And what is ticked in other
// lists, which is deleted together.
import { readFile } from 'node:fs/promises'
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

describe('what is ticked in a list', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin, { viewport: { width: 1440, height: 900 } })
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const [region] = await berth.regions.list()
  const create = (name: string, more: object = {}) => berth.volumes.create({ name, sizeGiB: 10, regionId: region!.id, ...more })
  const check = (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check()
  const table = page.getByRole('table', { name: 'Volumes' })
  const cells = (column: number) => table.locator(`tbody tr td:nth-child(${column})`).allInnerTexts()
  const names = async () => (await cells(2)).map((text) => text.split('\n')[0])
  await create('web', { sizeGiB: 20, labels: { env: 'prod' } })
  await create('db', { labels: { env: 'prod' } })
  const kept = await create('Archive', { sizeGiB: 30, isProtected: true })

  test('a list is sorted by the API, filtered by name, and saved as CSV', async () => {
    await go(page, 'Volumes')
    await expect.poll(names).toEqual(['Archive', 'db', 'web'])
    await button(table, 'Size').click()
    await expect.poll(names).toEqual(['db', 'web', 'Archive'])
    expect(new URL(page.url()).searchParams.get('sort')).toBe('sizeGiB')
    expect(await violations(page)).toEqual([])
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download CSV').click()])
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n')
    expect(lines.map((line) => line.split(',').slice(0, 2).join(' '))).toEqual(['Name Size', 'db 10', 'web 20', 'Archive 30'])
    await page.getByLabel('Search by name').fill('arch')
    await page.keyboard.press('Enter')
    await expect.poll(names).toEqual(['Archive'])
    await button(page, 'Clear filters').click()
    await button(table, 'env=prod').first().click()
    await expect.poll(names).toEqual(['db', 'web'])
    await button(page, 'Clear filters').click()
    await page.getByLabel('Status').selectOption('Attached')
    await expectShown(page.getByText('Nothing matches these filters'))
    await button(page, 'Clear filters').first().click()
    await expect.poll(names).toEqual(['db', 'web', 'Archive'])
  })

  test('it is deleted together, after what is refunded and what refuses was shown', async () => {
    await check('web')
    await check('db')
    await check('Archive')
    await expectShown(page.getByText('3 selected'))
    await button(page, 'Delete volumes').click()
    await expectShown(dialog(page).getByText(/^2 are deleted; 1 cannot be, for the reason beside it\. \$\d+\.\d\d are refunded\.$/))
    await expectShown(dialog(page).getByRole('row', { name: /^Archive .*protected/ }))
    expect(await violations(page)).toEqual([])
    expect(await button(dialog(page), 'Delete volumes').isDisabled()).toBe(true)
    await fill(dialog(page), { 'Type 3 volumes to confirm': '3 volumes' })
    await button(dialog(page), 'Delete volumes').click()
    await expectShown(page.getByText('2 deleted', { exact: true }))
    await expect.poll(names).toEqual(['Archive'])
    expect((await berth.volumes.list().all()).map(({ name }) => name)).toEqual(['Archive'])
    expectNoProblems(owner)
  })

  test('what refuses although it was possible is named with its reason, and the others are gone', async () => {
    await create('doomed')
    await berth.volumes.update(kept.id, { isProtected: false })
    await page.reload()
    await check('doomed')
    await check('Archive')
    await button(page, 'Delete volumes').click()
    await expectShown(dialog(page).getByText(/^2 are deleted\./))
    await berth.volumes.update(kept.id, { isProtected: true })
    await fill(dialog(page), { 'Type 2 volumes to confirm': '2 volumes' })
    await button(dialog(page), 'Delete volumes').click()
    await expectShown(dialog(page).getByRole('row', { name: /^Archive .*protected/ }))
    await expectShown(dialog(page).getByRole('row', { name: 'doomed Deleted.' }))
    expect(await violations(page)).toEqual([])
    await button(dialog(page), 'Close').last().click()
    await expect.poll(names).toEqual(['Archive'])
  })
})
