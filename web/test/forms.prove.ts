// Dialogs and forms: errors, dead ends, what is out of sight, and the theme of native controls.
import { describe, expect, test } from 'vitest'
import { becomeFundedOwner, button, dialog, expectShown, fill, go, heading, link } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { seedAccount } from './seed-account.ts'
import { OWNER, startProduct } from './product.ts'
import { open } from './screens.ts'

describe('dialogs and forms', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const { vmId, firewallId } = await seedAccount(berth)

  test('show an error once, at its field, in words', async () => {
    await open(page, `/firewalls/${firewallId}`)
    await button(page, 'Add rule').click()
    await fill(dialog(page), { 'Source addresses': '198.18.0.1, nowhere' })
    await button(dialog(page), 'Add rule').click()
    await expectShown(dialog(page).getByText(/^Entry 2 must be/))
    expect(
      await dialog(page)
        .getByText(/must be/)
        .count(),
    ).toBe(1)
    expect(await dialog(page).innerText()).not.toContain('sourceIps')
    expect(
      await dialog(page)
        .getByLabel('Source addresses')
        .evaluate((input) => input === document.activeElement),
    ).toBe(true)
  })

  test('offer ICMP of both families', async () => {
    expect(await dialog(page).getByLabel('Protocol').locator('option').allInnerTexts()).toEqual(['TCP', 'UDP', 'ICMP', 'ICMPV6', 'ANY'])
    await page.keyboard.press('Escape')
  })

  test('name no ports of a rule that has none', async () => {
    await expectShown(page.getByText('Inbound · TCP 22', { exact: false }))
    await expectShown(page.getByText('Inbound · any protocol', { exact: false }))
    expect(await page.getByText(/all ports/).count()).toBe(0)
  })

  test('put the request ID on a line of its own', async () => {
    await page.route(/\/ssh-keys$/, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({
            status: 500,
            json: { success: false, error: 'It broke, 1 full', requestId: 'req-1' },
            headers: { 'x-request-id': 'req-1' },
          })
        : route.continue(),
    )
    await open(page, '/ssh-keys')
    await button(page, 'Add SSH key').click()
    await button(dialog(page), 'Add SSH key').click()
    await expect.poll(() => dialog(page).getByRole('alert').innerText()).toBe('It broke, 1 full.\nRequest ID for support: req-1.')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('do not offer to delete a firewall or a network that is attached', async () => {
    await open(page, `/firewalls/${firewallId}`)
    await button(page, 'Delete firewall').click()
    await expectShown(dialog(page).getByText('The firewall is attached to 2 VMs. Detach the firewall first, then delete it.'))
    expect(await button(dialog(page), 'Delete firewall').isDisabled()).toBe(true)
    await open(page, '/networks')
    await button(page, 'Actions for backend').click()
    await page.getByRole('menuitem', { name: 'Delete network' }).click()
    await expectShown(dialog(page).getByText(/is attached to 2 VMs/))
    expect(await button(dialog(page), 'Delete network').isDisabled()).toBe(true)
  })

  test('lead on when there is nothing to choose', async () => {
    const unattached = (await Array.fromAsync(berth.networks.list())).find(({ name }) => name === 'databases')!
    await berth.waitForAction(await berth.vms.attachNetwork(vmId, unattached.id))
    await open(page, `/vms/${vmId}?tab=networking`)
    await button(page, 'Attach network').click()
    await expectShown(link(dialog(page), 'Create network'))
    await page.keyboard.press('Escape')
    await button(page, 'Attach firewall').click()
    await expectShown(link(dialog(page), 'Create firewall'))
    await open(page, `/networks/${unattached.id}`)
    await button(page, 'Add peering').click()
    await expectShown(dialog(page).getByText('All your other networks with a gateway in this region are peers already.'))
    await open(page, `/firewalls/${firewallId}`)
    await button(page, 'Attach to VM').click()
    await link(dialog(page), 'Create VM').click()
    await expectShown(heading(page, 'Create a virtual machine'))
  })

  test('promise no VM without a public address', async () => {
    await open(page, '/networks')
    await button(page, 'Create network').click()
    expect(await page.locator('body').innerText()).not.toMatch(/without a public IP|needs no public IP/)
  })

  test('keep the submit button in sight while a dialog scrolls', async () => {
    await page.setViewportSize({ width: 390, height: 600 })
    await open(page, '/webhooks')
    await button(page, 'Create webhook').first().click()
    const submit = button(dialog(page), 'Create webhook')
    await expectShown(submit)
    await expect.poll(async () => Math.round((await submit.boundingBox())!.y)).toBeLessThan(600 - 36)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  test('offer the invitation of an account that nobody can sign in to', async () => {
    await product.run('account', 'create', '--email', 'ada@example.com', '--name', 'Ada')
    await open(page, '/operator/accounts')
    await link(page, 'ada@example.com').click()
    await button(page, 'Create invite link').click()
    await expectShown(dialog(page).getByLabel('Invite link', { exact: true }))
    await dialog(page).getByLabel('I have saved this secret').check()
    await button(dialog(page), 'Done').click()
  })

  test('a customer without a payment provider is led to support', async () => {
    const { url } = await product.run('user', 'link', '--account', 'ada@example.com')
    const ada = await openBrowser(product.origin)
    await ada.page.goto(url!.slice(url!.indexOf('/reset'))) // the command does not know the port of this server
    await fill(ada.page, { Password: 'another long sentence' })
    await button(ada.page, 'Set password').click()
    await go(ada.page, 'Wallet')
    await expectShown(link(ada.page, 'Contact support'))
    expect(await button(ada.page, 'Add funds').count()).toBe(0)
    expectNoProblems(ada)
  })

  test('suspending a VM is confirmed first', async () => {
    await open(page, '/operator/accounts')
    await link(page.getByRole('row').filter({ hasNotText: 'shop' }), OWNER.email).click() // not its project
    await button(page, 'Actions for web').click()
    await page.getByRole('menuitem', { name: 'Suspend', exact: true }).click()
    await expectShown(dialog(page).getByText('The VM is stopped and its owner cannot start it.'))
    await button(dialog(page), 'Cancel').click()
  })

  test('the audit log names resources and finds actions by words', async () => {
    await open(page, '/audit-log')
    await expectShown(page.getByRole('row', { name: / created VM web/ }))
    expect(await link(page.getByRole('row', { name: / created VM web/ }), 'web').getAttribute('href')).toBe(`/vms/${vmId}`)
    await page
      .getByRole('combobox', { name: 'Action' })
      .or(page.getByRole('textbox', { name: 'Action' }))
      .first()
      .fill('firewall rule')
    await page.getByRole('option', { name: 'Add firewall rule' }).click()
    await expect.poll(() => page.getByRole('row').count()).toBe(3) // two rules of the seed: the wrong one is not sent
    expect(await page.getByRole('row').last().innerText()).toMatch(/ added a rule to firewall web/)
    expect(await page.getByLabel('From date').isVisible()).toBe(true)
  })

  test('times name their zone', async () => {
    await page.locator('time').first().focus()
    await expectShown(page.getByRole('tooltip', { name: /\d:\d\d [AP]M [A-Z].* UTC$/ }))
  })

  test('make a VM from a backup, with a size that its disk fits in', async () => {
    await open(page, `/vms/${vmId}?tab=copies`)
    await button(page, 'Actions for weekly').click()
    await page.getByRole('menuitem', { name: 'New VM from this backup' }).click()
    await expectShown(heading(page, 'Create a virtual machine'))
    await expectShown(page.getByText('weekly of web').first())
    expect(await page.getByRole('radio', { name: /^Debian/ }).count()).toBe(0)
    await page.getByLabel('Hostname').fill('copied')
    await button(page, 'Create VM').click()
    await expectShown(heading(page, 'copied'))
    await expectShown(page.getByText('Running', { exact: true }))
    await open(page, '/vms/new')
    expect(await page.getByRole('radio', { name: /^Debian/ }).count()).toBeGreaterThan(0)
  })

  test('say when daily backups are made and how many are kept, and what the region does not keep', async () => {
    await berth.vms.update(vmId, { dailyBackupEnabled: true })
    await open(page, `/vms/${vmId}?tab=settings`)
    const policy = page.locator('form', { has: page.getByLabel('Keep daily') })
    const save = button(policy, 'Save changes')
    const kept = async () => (await berth.vms.get(vmId)).backupPolicy
    expect(await save.isDisabled()).toBe(true)
    await policy.getByLabel('Hour (UTC)').selectOption('03:00')
    await policy.getByLabel('Keep daily').fill('14')
    await save.click()
    await expect.poll(kept).toEqual({ hour: 3, keepDaily: 14, keepWeekly: 0, keepMonthly: 0 })
    await expect.poll(() => save.isDisabled()).toBe(true)
    await policy.getByLabel('Keep weekly').fill('4')
    await save.click()
    await expectShown(policy.getByRole('alert').getByText(/keeps no weekly and monthly backups/))
    await policy.getByLabel('Keep weekly').fill('')
    await policy.getByLabel('Hour (UTC)').selectOption('At night')
    await save.click()
    await expect.poll(kept).toEqual({ hour: null, keepDaily: 14, keepWeekly: 0, keepMonthly: 0 })
  })

  test.each(['dark', 'light'] as const)(
    'native controls and scrollbars are %s in the theme of that name, whatever the system prefers',
    async (scheme) => {
      await page.emulateMedia({ colorScheme: scheme === 'dark' ? 'light' : 'dark' })
      await open(page, '/')
      await button(page, /Account menu$/).click()
      await page.getByRole('radio', { name: scheme === 'dark' ? 'Dark' : 'Light' }).check()
      await expect.poll(() => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe(scheme)
      expectNoProblems(owner)
    },
  )
})
