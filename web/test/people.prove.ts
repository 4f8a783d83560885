// People of an account and what they may spend, by hand: somebody is invited, joins, gets another role and is removed; a key gets a budget and
// keeps within it; a VM is put into rescue and comes back.
import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { Berth } from '../../sdk/src/index.ts'
import { generateKey } from '../../server/test/openssh-keys.ts'
import { violations } from './axe.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { becomeFundedOwner, button, dialog, expectShown, fill, go, heading, link } from './page-actions.ts'
import { OWNER, startProduct } from './product.ts'

const GRACE = { email: 'grace@example.com', password: 'another long sentence' }

describe('people of an account', async () => {
  const product = await startProduct({ BERTH_SIGN_UP: 'open' })
  const owner = await openBrowser(product.origin)
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const guest = await openBrowser(product.origin)
  const row = (name: string): Locator => page.getByRole('row', { name: new RegExp(`^${name} `) })
  const choose = async (name: string, action: string): Promise<void> => {
    await button(page, `Actions for ${name}`).click()
    await page.getByRole('menuitem', { name: action, exact: true }).click()
  }

  test('an invitation is handed over as a link, and joined by signing up with it', async () => {
    await go(page, 'Members')
    await button(page, 'Invite member').click()
    await fill(dialog(page), { Email: GRACE.email })
    await dialog(page).getByRole('radio', { name: 'Read-only' }).check()
    expect(await violations(page)).toEqual([])
    await button(dialog(page), 'Invite member').click()
    const url = await dialog(page)
      .getByText(/\/join#inv_/)
      .innerText()
    await dialog(page).getByRole('checkbox').check()
    await button(dialog(page), 'Done').click()
    await expectShown(page.getByRole('table', { name: 'Open invitations' }).getByText(GRACE.email))

    await guest.page.goto(url.trim())
    await expectShown(guest.page.getByText(`${OWNER.email} invites you to`))
    await fill(guest.page, { Password: GRACE.password })
    expect(await violations(guest.page)).toEqual([])
    await button(guest.page, 'Sign up').click()
    await expectShown(heading(guest.page, /Hello/))
    await guest.page.goto(url.trim())
    await expectShown(guest.page.getByText('This invitation was used already'))
  })

  test('a role decides what is offered, and changes at once', async () => {
    await guest.page.goto('/members')
    await expectShown(guest.page.getByText(OWNER.email).first())
    expect(await button(guest.page, 'Invite member').count()).toBe(0)
    await page.reload()
    await choose(GRACE.email, 'Change role')
    await dialog(page).getByRole('radio', { name: 'Admin' }).check()
    await button(dialog(page), 'Change role').click()
    await expectShown(row(GRACE.email).getByText('Admin'))
    await guest.page.reload()
    await expectShown(button(guest.page, 'Invite member'))
  })

  test('who is removed is out at once', async () => {
    await choose(GRACE.email, 'Remove member')
    await button(dialog(page), 'Remove member').click()
    await row(GRACE.email).waitFor({ state: 'detached' })
    await guest.page.goto('/vms')
    await expectShown(guest.page.getByText('You are a member of no account at the moment').first())
    await page.goto('/audit-log')
    for (const what of [/ invited /, / removed member /]) await expectShown(page.getByRole('row', { name: what }))
  })

  test('a key has a budget, keeps within it, and shows what is left', async () => {
    await page.goto('/settings')
    await button(page, 'Create API key').first().click()
    await fill(dialog(page), { Name: 'ci', 'Monthly budget': '6.00', 'VMs at a time': '1' })
    await button(dialog(page), 'Full access').click()
    await button(dialog(page), 'Create API key').click()
    const token = (await dialog(page).getByText(/^vmk_/).innerText()).trim()
    await dialog(page).getByRole('checkbox').check()
    await button(dialog(page), 'Done').click()
    await expectShown(row('ci').getByText('0.00 of 6.00 used'))

    const ci = new Berth({ baseUrl: product.origin, token })
    const [regions, templates] = await Promise.all([ci.regions.list(), ci.osTemplates.list()])
    const order = { regionId: regions[0]!.id, osTemplateId: templates.find(({ available }) => available)!.id }
    await ci.waitForAction(await ci.vms.create({ ...order, hostname: 'built' }))
    await expect(ci.vms.create({ ...order, hostname: 'too-much' })).rejects.toThrow(/[Bb]udget/)
    await page.reload()
    await expectShown(row('ci').getByText(/^[1-6]\.\d\d of 6\.00 used$/))
    await expectShown(row('ci').getByText('1 of 1 VM'))
    await choose('ci', 'Change budget')
    await fill(dialog(page), { 'Monthly budget': 'six' })
    await button(dialog(page), 'Change budget').click()
    await expectShown(dialog(page).getByText(/^Must be an amount/))
    await fill(dialog(page), { 'Monthly budget': '', 'VMs at a time': '' })
    const [vms, labels] = ['VMs at a time', 'Only for labels'].map((label) => dialog(page).getByLabel(label, { exact: true }))
    await vms!.pressSequentially('12 VMs')
    await labels!.pressSequentially('env in (ci, test)')
    await button(dialog(page), 'Change budget').click()
    await expectShown(row('ci').getByText('1 of 12 VMs'))
    await expectShown(row('ci').getByText('for env in (ci, test)'))
    await choose('ci', 'Change budget')
    await fill(dialog(page), { 'VMs at a time': '', 'Only for labels': '' })
    await button(dialog(page), 'Change budget').click()
    await expectShown(row('ci').getByText('No limit'))
  })

  test('a VM goes into rescue, says how to log in, and comes back', async () => {
    const { id } = await berth.sshKeys.create({ name: 'laptop', publicKey: generateKey().line })
    const [vm] = await berth.vms.list().all()
    await page.goto(`/vms/${vm!.id}`)
    await button(page, 'More actions').click()
    await page.getByRole('menuitem', { name: 'Start rescue' }).click()
    expect(await button(dialog(page), 'Start rescue').isDisabled()).toBe(true)
    await dialog(page).getByRole('checkbox', { name: 'laptop' }).check()
    expect(await violations(page)).toEqual([])
    await button(dialog(page), 'Start rescue').click()
    await expectShown(page.getByText(/^In rescue: log in as \w+; its own disk is the second one/), 60_000)
    await button(page, 'End rescue').first().click()
    await button(dialog(page), 'End rescue').click()
    await expect.poll(async () => (await berth.vms.get(vm!.id)).rescue, { timeout: 60_000 }).toBe(null)
    await expectShown(link(page, 'Virtual machines'))
    await berth.sshKeys.delete(id)
    expectNoProblems(owner)
    expectNoProblems(guest)
  })
})
