// The customer's path through the dashboard, from the welcome link to deleting a VM.
import { WEBHOOK_EVENTS } from '@berth/sdk'
import { describe, expect, test } from 'vitest'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { receiver, verified } from '../../server/test/receiver.ts'
import { becomeOwner, button, dialog, expectShown, fill, go, heading, holdResponses, link } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { OWNER, startProduct } from './product.ts'

describe('a customer in the dashboard', { timeout: 60_000 }, async () => {
  const product = await startProduct()
  const mailbox = await receiver()
  const guest = await openBrowser(product.origin)
  const { page } = guest
  let token = ''
  let secret = ''

  test('sets a password with the welcome link', async () => {
    await becomeOwner(page, product)
    expect(page.url()).toBe(`${product.origin}/`)
    await expectShown(page.getByText('Next step · 0 of 4 done'))
  })

  test('creates an API key that works immediately', async () => {
    await go(page, 'Settings')
    await button(page, 'Create API key').first().click()
    await fill(dialog(page), { Name: 'my laptop' })
    await button(dialog(page), 'Full access').click()
    await button(dialog(page), 'Create API key').click()
    token = await dialog(page).getByLabel('API key', { exact: true }).innerText()
    expect(await button(dialog(page), 'Done').isDisabled()).toBe(true)
    await dialog(page).getByLabel('I have saved this secret').check()
    await button(dialog(page), 'Done').click()
    await expectShown(page.getByRole('cell', { name: 'my laptop' }))
    expect((await fetch(`${product.up.url}/regions`, { headers: { 'x-api-key': token } })).status).toBe(200)
    expect(await page.content()).not.toContain(token)
  })

  test('adds an SSH key from the next step', async () => {
    await go(page, 'Home')
    await link(page, 'Add SSH key').click()
    await button(page, 'Add SSH key').first().click()
    await fill(dialog(page), { Name: 'laptop', 'Public key': generateKey().line })
    await button(dialog(page), 'Add SSH key').click()
    await expectShown(page.getByRole('cell', { name: 'laptop' }))
  })

  test('creates a VM at the quoted price and follows its steps', async () => {
    await product.run('account', 'credit', '--account', OWNER.email, '--amount', '100.00')
    await go(page, 'Virtual machines')
    await link(page, 'Create VM').first().click()
    await expectShown(heading(page, 'Create a virtual machine'))
    await page.getByLabel(/^Ubuntu 24\.04/).check()
    await page.getByLabel(/^Small/).check()
    await page.getByLabel('Hostname').fill('web-1')
    await page.getByRole('checkbox', { name: 'laptop' }).check()
    const summary = page.getByRole('region').or(page.locator('section')).filter({ hasText: 'Due today' }).last()
    await expectShown(summary.getByText('$94.00'))
    const quotes = await holdResponses(page, /dryRun=true/)
    await page.getByLabel(/^Medium/).check()
    await quotes.requested
    expect(await button(page, 'Create VM').isDisabled()).toBe(true)
    expect(await summary.getByText('$').count()).toBe(0)
    await quotes.release()
    await expectShown(summary.getByText('$88.00'))
    await page.getByLabel(/^Small/).check()
    await expectShown(summary.getByText('$94.00'))
    await button(page, 'Show API request').click()
    expect(await dialog(page).getByLabel('curl', { exact: true }).last().innerText()).toContain('"hostname": "web-1"')
    await page.keyboard.press('Escape')
    await button(page, 'Create VM').click()
    await expectShown(heading(page, 'web-1'))
    await expectShown(page.getByText('Running', { exact: true }))
    await expectShown(page.getByText(/^ssh ubuntu@\d/))
    await page.getByRole('tab', { name: 'Activity' }).click()
    await button(page, /^Create/).click()
    await expectShown(page.getByRole('listitem').filter({ hasText: 'Completed' }))
  })

  test('opens the console', async () => {
    await page.getByRole('tab', { name: 'Console' }).click()
    await button(page, 'Open console').click()
    await expectShown(page.getByText('Connected'))
    await expectShown(page.getByRole('region', { name: 'Console of web-1' }).getByText(/login:/))
  })

  test('attaches a firewall and tests packets', async () => {
    await go(page, 'Firewalls')
    await button(page, 'Create firewall').first().click()
    await fill(dialog(page), { Name: 'only ssh' })
    await button(dialog(page), 'Create firewall').click()
    await expectShown(heading(page, 'only ssh'))
    await button(page, 'SSH').dblclick()
    await expectShown(page.getByText('Inbound · TCP 22'))
    expect(await button(page, 'SSH').isDisabled()).toBe(true)
    await button(page, 'Attach to VM').click()
    await button(dialog(page), 'Attach to VM').click()
    await button(page, 'Test packet').click()
    await expectShown(page.getByText('Accepted.', { exact: true }))
    await page.getByLabel('Port', { exact: true }).fill('23')
    await page.getByText('Accepted.', { exact: true }).waitFor({ state: 'detached' })
    await button(page, 'Test packet').click()
    await expectShown(page.getByText('Dropped without a response.', { exact: true }))
    expect(await page.getByText('Inbound · TCP 22').count()).toBe(1)
  })

  test('creates a webhook, views a delivery and resends it', async () => {
    await go(page, 'Webhooks')
    await button(page, 'Create webhook').first().click()
    await fill(dialog(page), { URL: mailbox.url })
    expect(await dialog(page).getByRole('checkbox').count()).toBe(WEBHOOK_EVENTS.length)
    expect(await dialog(page).getByRole('group', { name: 'Backups', exact: true }).getByLabel('backup.failed').count()).toBe(1)
    await dialog(page).getByLabel('vm.restarted').check()
    await button(dialog(page), 'Create webhook').click()
    secret = await dialog(page).getByLabel('Signing secret', { exact: true }).innerText()
    await dialog(page).getByLabel('I have saved this secret').check()
    await button(dialog(page), 'Done').click()
    await expectShown(heading(page, mailbox.url))
    await button(page, 'Send test event').click()
    await expect.poll(() => mailbox.received.length).toBe(1)
    await go(page, 'Virtual machines')
    await link(page, 'web-1').click()
    await button(page, 'Reboot').click()
    await expect.poll(() => mailbox.received.length).toBe(2)
    expect(verified(secret, mailbox.received[1]!)).toMatchObject({ type: 'vm.restarted' })
    await go(page, 'Webhooks')
    await link(page, mailbox.url).click()
    await button(page, 'Resend: vm.restarted').click()
    await expect.poll(() => mailbox.received.length).toBe(3)
    await button(page, 'Show vm.restarted').click()
    await expectShown(dialog(page).getByText('Status 200').first())
    await button(dialog(page), 'Close').click()
  })

  test('upgrades the VM at the quoted price', async () => {
    await go(page, 'Virtual machines')
    await link(page, 'web-1').click()
    await page.getByRole('tab', { name: 'Settings' }).click()
    const quotes = await holdResponses(page, /dryRun=true/)
    await page.getByLabel('Plan', { exact: true }).selectOption({ index: 1 })
    await quotes.requested
    expect(await button(page, 'Upgrade to Large').isDisabled()).toBe(true)
    await quotes.release()
    await page.getByLabel('Plan', { exact: true }).selectOption({ index: 0 })
    await expectShown(page.getByText('$6.00', { exact: true }))
    await button(page, 'Upgrade to Medium').click()
    await page.getByRole('tab', { name: 'Overview' }).click()
    await expectShown(page.getByText('2 vCPU · 2 GiB · 50 GiB'))
  })

  test('deletes the VM after typing its name, and other tabs update', async () => {
    const beside = await guest.context.newPage()
    await beside.goto(page.url())
    await expectShown(heading(beside, 'web-1'))
    await page.getByRole('tab', { name: 'Settings' }).click()
    await button(page, 'Delete VM').click()
    await expectShown(dialog(page).getByText(/Refund: \$11\.\d\d\./))
    expect(await button(dialog(page), 'Delete VM').isDisabled()).toBe(true)
    await dialog(page).getByLabel('Type web-1 to confirm').fill('web-1')
    await button(dialog(page), 'Delete VM').click()
    await expectShown(heading(page, 'Virtual machines'))
    await expectShown(page.getByText('No virtual machines yet'))
    await expectShown(heading(beside, 'Not found'))
    expect(await button(beside, 'Reboot').count()).toBe(0)
    await beside.close()
    await go(page, 'Wallet')
    await expectShown(page.getByRole('cell', { name: 'Refund' }))
  })

  test('caused no error, CSP violation or request to another origin', () => expectNoProblems(guest))
})
