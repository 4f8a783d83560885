// The operator's path through the dashboard: hosts, plans, accounts, tickets.
import { describe, expect, test } from 'vitest'
import { becomeOwner, button, dialog, expectShown, fill, go, heading, link } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { seedAccount } from './seed-account.ts'
import { startProduct } from './product.ts'
import { injectFault, recordFailedRecovery, recordViolations } from './faults.ts'

const CUSTOMER = { email: 'ada@example.com', password: 'another long sentence' }

describe('an operator in the dashboard', async () => {
  const product = await startProduct()
  const operator = await openBrowser(product.origin)
  const customer = await openBrowser(product.origin)
  const { page } = operator
  const menu = (name: string) => button(page, `Actions for ${name}`)
  const pick = (name: string) => page.getByRole('menuitem', { name, exact: true }).click()
  await becomeOwner(page, product)

  test('enables and disables maintenance mode of a host', async () => {
    await go(page, 'Hosts')
    await expectShown(page.getByText('Ready', { exact: true }))
    await menu('local').click()
    await pick('Enable maintenance mode')
    await expectShown(dialog(page).getByText(/^The host takes no new VMs/))
    await button(dialog(page), 'Enable maintenance mode').click()
    await expectShown(page.getByRole('cell', { name: 'Maintenance' }))
    await menu('local').click()
    await pick('Disable maintenance mode')
    await expectShown(page.getByText('Ready', { exact: true }))
    await go(page, 'Capacity')
    await expectShown(page.getByRole('meter', { name: /^IP addresses of/ }))
  })

  test('drains a host, after the plan was shown', async () => {
    await go(page, 'Hosts')
    await menu('local').click()
    await pick('Drain host')
    await expectShown(dialog(page).getByText('The host has no VMs'))
    await button(dialog(page), 'Drain host').click()
    await expectShown(page.getByRole('cell', { name: /^(Draining|Maintenance)$/ }))
    await expectShown(page.getByRole('cell', { name: 'Maintenance', exact: true }))
    await menu('local').click()
    await pick('Disable maintenance mode')
    await expectShown(page.getByText('Ready', { exact: true }))
  })

  test('adds and edits a region', async () => {
    await go(page, 'Regions')
    await button(page, 'Add region').click()
    await fill(dialog(page), { Name: 'Amsterdam 1', Slug: 'ams1', City: 'Amsterdam', Country: 'nl' })
    await button(dialog(page), 'Save changes').click()
    await expectShown(page.getByRole('cell', { name: '🇳🇱 NL' }))
    await button(page, 'Edit region: Amsterdam 1').click()
    await dialog(page).getByLabel('Available for new VMs').uncheck()
    await button(dialog(page), 'Save changes').click()
    await expectShown(page.getByText('Unavailable', { exact: true }))
  })

  test('adds an IP pool and a plan', async () => {
    await go(page, 'IP pools')
    await button(page, 'Add IP pool').click()
    await fill(dialog(page), { 'IP range': '10.99.0.0/24', Gateway: '10.99.0.1' })
    await button(dialog(page), 'Add IP pool').click()
    await expectShown(page.getByRole('cell', { name: '10.99.0.0/24' }))
    await go(page, 'Plans')
    await button(page, 'Add plan').click()
    await fill(dialog(page), { Name: 'Pico', Slug: 'pico', 'Monthly price': '1.50' })
    await button(dialog(page), 'Save changes').click()
    await expectShown(page.getByRole('cell', { name: '$1.50' }))
  })

  test('creates an account with credit and an invite link', async () => {
    await go(page, 'Accounts')
    await button(page, 'Create account').click()
    await fill(dialog(page), { Email: CUSTOMER.email, Name: 'Ada' })
    await button(dialog(page), 'Create account').click()
    await expectShown(heading(page, CUSTOMER.email))
    await button(page, 'Add credit').click()
    await fill(dialog(page), { Amount: '50.00', Reason: 'Welcome' })
    await button(dialog(page), 'Add credit').click()
    await expectShown(page.getByText('$50.00', { exact: true }))
    await menu(CUSTOMER.email).click()
    await pick('Create invite link')
    const url = await dialog(page).getByLabel('Invite link', { exact: true }).innerText()
    await dialog(page).getByLabel('I have saved this secret').check()
    await button(dialog(page), 'Done').click()
    await customer.page.goto(url)
    await fill(customer.page, { Password: CUSTOMER.password })
    await button(customer.page, 'Set password').click()
    await expectShown(heading(customer.page, /Hello/))
    expect(await link(customer.page, 'Hosts').count()).toBe(0)
  })

  test('sees the labels and the usage of limits', async () => {
    const limits = page.getByRole('table', { name: 'Limits' })
    await expectShown(limits.getByRole('row', { name: 'Memory (MiB) 0 / 40960 (default)' }))
    await expectShown(limits.getByRole('row', { name: 'Snapshots per VM 5 (default)' }))
  })

  test('suspends and unsuspends an account', async () => {
    const { berth } = await product.client(CUSTOMER.email)
    const { vmId } = await seedAccount(berth)
    await injectFault(product, { verb: 'ensureSnapshot', kind: 'hang' })
    await berth.snapshots.create(vmId, { name: 'endless' })
    await page.reload()
    await expectShown(page.getByRole('cell', { name: 'web', exact: true }))
    await menu(CUSTOMER.email).click()
    await pick('Suspend account')
    await fill(dialog(page), { Reason: 'Unpaid' })
    await button(dialog(page), 'Suspend account').click()
    const skipped = page.getByRole('dialog', { name: 'Some VMs were skipped' })
    await expectShown(skipped.getByRole('row', { name: /^web VM is busy/ }))
    await expectShown(skipped.getByText('These VMs are suspended once their current action completes.'))
    await button(skipped, 'Close').click()
    await expectShown(page.getByText('Suspended').nth(1))
    await go(page, 'All actions')
    await link(page, 'Suspend').first().click()
    await expectShown(page.getByRole('table', { name: 'Steps' }))
    await link(page, 'All actions').first().click()
    await go(page, 'Accounts')
    await link(page, CUSTOMER.email).click()
    await menu(CUSTOMER.email).click()
    await pick('Unsuspend account')
    await expectShown(page.getByText('Active', { exact: true }))
  })

  test('sees which VM of a lost host waits, why and until when', async () => {
    await recordFailedRecovery(product)
    await go(page, 'Hosts')
    await expectShown(page.getByRole('table', { name: 'VMs of lost hosts that did not start' }))
    for (const name of ['rack-that-burnt', 'Cancelled', '3']) await expectShown(page.getByRole('cell', { name, exact: true }))
  })

  test('replies to a ticket', async () => {
    await go(page, 'Tickets')
    await link(page, 'a question').click()
    await fill(page, { 'Your reply': 'Here is the answer.' })
    await button(page, 'Send reply').click()
    await expectShown(page.getByText('Answered', { exact: true }))
    await go(customer.page, 'Support')
    await link(customer.page, 'a question').click()
    await expectShown(customer.page.getByText('Here is the answer.'))
    await recordViolations(product, 2)
    await go(page, 'System health')
    await expectShown(page.getByRole('table', { name: 'Checks' }))
    await link(page, 'Which ones, and what to do').click()
    await expectShown(page.getByRole('heading', { name: 'Invariant violated' }))
    await page.goBack()
    expectNoProblems(operator)
    expectNoProblems(customer)
  })
})
