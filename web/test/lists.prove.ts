// The list of VMs: sorted, filtered, chosen from, and with thousands of rows. And what was paid, down to one transaction.
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { openDb, sql } from '../../server/src/kernel/database/db.ts'
import { violations } from './axe.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { becomeFundedOwner, button, dialog, expectShown, fill, go, heading, link } from './page-actions.ts'
import { startProduct } from './product.ts'

const MANY = 10_000

describe('lists and money', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin, { viewport: { width: 1440, height: 900 } })
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const [regions, templates] = await Promise.all([berth.regions.list(), berth.osTemplates.list()])
  const place = { regionId: regions[0]!.id, osTemplateId: templates.find(({ available }) => available)!.id }
  const create = async (hostname: string, more: object = {}): Promise<string> => {
    const created = await berth.vms.create({ ...place, hostname, ...more })
    await berth.waitForAction(created)
    return created.vmId
  }
  const webId = await create('web', { labels: { env: 'prod' }, dailyBackupEnabled: true })
  await create('db', { labels: { env: 'prod' } })
  await create('test', { labels: { env: 'test' } })
  const table = page.getByRole('table', { name: 'Virtual machines' })
  const names = () => table.getByRole('link').allInnerTexts()
  const check = (name: string) => page.getByRole('checkbox', { name }).check()

  test('headings sort, and the order is in the URL', async () => {
    await go(page, 'Virtual machines')
    await expect.poll(names).toEqual(['test', 'db', 'web'])
    await button(table, 'Name').click()
    await expect.poll(names).toEqual(['db', 'test', 'web'])
    expect(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe('ascending')
    await button(table, 'Name').click()
    await expect.poll(names).toEqual(['web', 'test', 'db'])
    expect(new URL(page.url()).searchParams.get('sort')).toBe('-name')
    await page.reload()
    await expect.poll(names).toEqual(['web', 'test', 'db'])
  })

  test('filters are in the URL, a label filters by a click, and one button clears them', async () => {
    await button(table, 'env=test').click()
    await expect.poll(names).toEqual(['test'])
    await button(page, 'Clear filters').click()
    await expect.poll(async () => (await names()).length).toBe(3)
    await page.getByLabel('Search by name or address').fill('we')
    await page.keyboard.press('Enter')
    await expect.poll(names).toEqual(['web'])
    const { ipAddress } = await berth.vms.get(webId)
    await page.getByLabel('Search by name or address').fill(ipAddress!)
    await page.keyboard.press('Enter')
    await expect.poll(names).toEqual(['web'])
    await page.goto('/vms?q=nothing')
    await expectShown(page.getByText('Nothing matches these filters'))
    expect(await violations(page)).toEqual([])
    await button(page, 'Clear filters').first().click()
    await expect.poll(async () => (await names()).length).toBe(3)
  })

  test('columns are chosen, and stay so', async () => {
    await button(page, 'Choose columns').click()
    await page.getByRole('checkbox', { name: 'Monthly price' }).check()
    await page.keyboard.press('Escape')
    await expectShown(page.getByRole('columnheader', { name: 'Monthly price' }))
    await page.reload()
    await expectShown(page.getByRole('columnheader', { name: 'Monthly price' }))
  })

  test('those that are ticked are stopped, after price and effect were shown', async () => {
    await check('Select db')
    await check('Select test')
    await expectShown(page.getByText('2 selected'))
    expect(await violations(page)).toEqual([])
    await button(page, 'Shut down').click()
    await expectShown(dialog(page).getByText('2 VMs.'))
    await expectShown(dialog(page).getByText(/is not reachable until they are started/))
    await button(dialog(page), 'Shut down').click()
    await expectShown(page.getByText('2 actions have begun'))
    const statuses = async () => Object.fromEntries((await berth.vms.list().all()).map(({ name, status }) => [name, status]))
    await expect.poll(statuses, { timeout: 60_000 }).toEqual({ web: 'RUNNING', db: 'STOPPED', test: 'STOPPED' })
  })

  test('the menu of a row starts it again, by keyboard alone', async () => {
    await button(page, 'Actions for test').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Start', exact: true }).press('Enter')
    await expectShown(dialog(page).getByText('One VM.'))
    await button(dialog(page), 'Start').press('Enter')
    await expectShown(page.getByText('One action has begun'))
  })

  test('a CSV file has all that match', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download CSV').click()])
    const text = await readFile(await download.path(), 'utf8')
    expect(text.trim().split('\r\n')).toHaveLength(4)
    expect(text).toMatch(/^Name,Status,/)
  })

  test('a month is grouped by label, and an amount leads to its transactions and to what caused one', async () => {
    await page.goto('/wallet')
    await expectShown(page.getByRole('figure', { name: /^Balance of the past 90 days between \$0\.00 and \$\d+\.\d\d, now/ }))
    expect(await violations(page)).toEqual([])
    await page.getByRole('tab', { name: 'Costs' }).click()
    await page.getByLabel('Group by').selectOption('Label env')
    const costs = page.getByRole('table', { name: 'Costs' })
    await expectShown(costs.getByRole('row', { name: /env=prod/ }))
    await expectShown(costs.getByRole('row', { name: /env=test/ }))
    expect(await violations(page)).toEqual([])
    await link(costs, 'env=prod').click()
    const transactions = page.getByRole('table', { name: 'Transactions' })
    await expect.poll(() => transactions.getByRole('row').count()).toBe(3)
    await link(transactions, 'First month of web').click()
    await expectShown(heading(page, 'First month of web'))
    await expectShown(page.getByRole('table', { name: 'Price' }).getByText('Daily backups'))
    await expectShown(page.getByText('Balance before'))
    await expectShown(link(page, 'Creating'))
    expect(await violations(page)).toEqual([])
    await link(page, 'web').click()
    await expectShown(heading(page, 'web'))
  })

  test('10,000 VMs are one list that scrolls by keys, and fetches what is in view', async () => {
    const db = openDb({ url: product.databaseUrl, maxConnections: 1, onError: () => {} })
    await db.run(sql`
      insert into vms
      select copy.* from vms v, generate_series(1, ${MANY}::int) n,
        jsonb_populate_record(v, jsonb_build_object('id', 'c0000000' || lpad(n::text, 16, '0'), 'uuid', gen_random_uuid(), 'status', 'UNMANAGED',
          'name', 'many-' || lpad(n::text, 5, '0'), 'hostname', 'many-' || n, 'ip_address', '10.200.0.0'::inet + n, 'ipv6_address', null, 'ipv6_prefix', null,
          'mac', null)) copy
      where v.id = ${webId}`)
    await db.close()
    await page.goto('/vms?sort=name&view=all&q=many')
    await expectShown(link(page, 'many-00001'))
    expect(await table.getAttribute('aria-rowcount')).toBe(String(MANY + 1))
    expect(await table.getByRole('row').count()).toBeLessThan(80)
    expect(await violations(page)).toEqual([])
    await page.getByRole('region', { name: 'Virtual machines, scrolls' }).focus()
    await page.keyboard.press('End')
    await expectShown(link(page, `many-${MANY}`))
    expect(await table.getByRole('row', { name: new RegExp(`many-${MANY}`) }).getAttribute('aria-rowindex')).toBe(String(MANY + 1))
    await page.keyboard.press('Home')
    await expectShown(link(page, 'many-00001'))
    await check('Select many-00001')
    await expectShown(page.getByText('1 selected'))
    await fill(page, { 'Search by name or address': 'many-099' })
    await page.keyboard.press('Enter')
    await expectShown(link(page, 'many-09900'))
    expect(await page.getByText('1 selected').count()).toBe(0)
    expectNoProblems(owner)
  })
})
