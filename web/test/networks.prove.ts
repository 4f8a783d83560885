// Firewalls as drafts with undo, the map of networks, graphs and consoles, in a browser.
import { afterAll, describe, expect, test } from 'vitest'
import { openDb, sql } from '../../server/src/kernel/database/db.ts'
import { violations } from './axe.ts'
import { becomeFundedOwner, button, dialog, expectShown, fill, heading, signOut } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { seedAccount } from './seed-account.ts'
import { OWNER, startProduct } from './product.ts'
import { open } from './screens.ts'

describe('firewalls, networks, graphs and consoles', async () => {
  const product = await startProduct()
  const db = openDb({ url: product.databaseUrl, maxConnections: 1, onError: () => {} })
  afterAll(() => db.close())
  const owner = await openBrowser(product.origin)
  const { page } = owner
  const berth = await becomeFundedOwner(page, product)
  const { vmId, networkId, firewallId } = await seedAccount(berth)
  const vm = await berth.vms.get(vmId)
  const actions = async (): Promise<string[]> => (await berth.firewalls.rules(firewallId)).map(({ action }) => action)

  test('a draft of rules changes nothing until it is applied, and says what it means', async () => {
    await open(page, `/firewalls/${firewallId}`)
    await button(page, 'Delete rule 1').click()
    await expectShown(page.getByText('1 change, not applied yet'))
    expect(await actions()).toEqual(['ACCEPT', 'DROP'])
    await page.reload()
    await expectShown(page.getByText('1 change, not applied yet'))
    await button(page, 'Review changes').click()
    await expectShown(dialog(page).getByRole('list', { name: 'Changes' }).getByText('Rule 1 removed:'))
    await expectShown(
      dialog(page)
        .getByText(/^Inbound TCP 22 from .* will be dropped$/)
        .first(),
    )
    await page.keyboard.press('Escape')
  })

  test('the tester knows the draft', async () => {
    await expectShown(page.getByText('Evaluates the draft above', { exact: false }))
    await button(page, 'Test packet').click()
    await expectShown(page.getByText('The draft is not applied yet.', { exact: false }))
  })

  test('a mistake is undone, and what that does is shown before', async () => {
    await button(page, 'Review changes').click()
    await button(dialog(page), 'Apply 1 change').click()
    await expect.poll(actions).toEqual(['DROP'])
    await button(page, 'Undo change').click()
    const changes = dialog(page).getByRole('list', { name: 'Changes' }).getByRole('listitem')
    await expectShown(changes.getByText('New rule 1:'))
    expect(await changes.count()).toBe(1)
    expect(await actions()).toEqual(['DROP'])
    await button(dialog(page), 'Undo change').click()
    await expect.poll(actions).toEqual(['ACCEPT', 'DROP'])
    await expect.poll(() => button(page, 'Undo change').count()).toBe(0)
  })

  test('rules that must be kept are kept', async () => {
    await button(page, 'Presets').click()
    await page.getByRole('menuitem', { name: /^Web server/ }).click()
    await button(page, 'Review changes').click()
    await dialog(page)
      .getByRole('checkbox', { name: /^Undo by itself/ })
      .check()
    // As if another worker were still at it.
    const hold = (until: Date | null) => db.run(sql`update vm_ports set claimed_until = ${until} where vm_id = ${vmId}`)
    await hold(new Date('2100-01-01'))
    await button(dialog(page), 'Apply 1 change').click()
    await expectShown(page.getByText('These rules are undone unless you keep them'))
    await expectShown(page.getByText(/^Not in force yet for [12] VM/))
    expect(await button(page, 'Keep rules').isDisabled()).toBe(true)
    await button(page, 'Delete rule 1').click()
    await expectShown(page.getByText('The latest change waits above: keep or undo it first.'))
    expect(await button(page, 'Review changes').isDisabled()).toBe(true)
    await button(page, 'Discard changes').click()
    await hold(null)
    await expectShown(page.getByText(/^Check that you can still reach your VMs/))
    await button(page, 'Keep rules').click()
    await expectShown(page.getByText('The rules were changed'))
    expect((await berth.firewalls.get(firewallId)).confirmBy).toBeNull()
  })

  test('a click on a page that is not up to date undoes nothing', async () => {
    await button(page, 'Undo change').click()
    await expectShown(dialog(page).getByRole('list', { name: 'Changes' }))
    await berth.firewalls.addRule(firewallId, { direction: 'OUT', action: 'REJECT', protocol: 'UDP', port: '123' })
    const rules = await actions()
    await button(dialog(page), 'Undo change').click()
    await expectShown(dialog(page).getByText('The rules were changed since you read them', { exact: false }))
    expect(await actions()).toEqual(rules)
    await page.keyboard.press('Escape')
    await expectShown(page.getByText('Outbound · UDP 123'))
  })

  test('a draft is that of one user in one account, and goes when they sign out', async () => {
    await button(page, 'Delete rule 1').click()
    await expectShown(page.getByText('1 change, not applied yet'))
    const drafts = () => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('berth:draft:')))
    expect(await drafts()).toEqual([expect.stringMatching(new RegExp(`^berth:draft:c\\w{24}:c\\w{24}:firewall:${firewallId}$`))])
    await signOut(page)
    await expectShown(page.getByLabel('Password', { exact: true }))
    expect(await drafts()).toEqual([])
    await fill(page, { Email: OWNER.email, Password: OWNER.password })
    await button(page, 'Sign in').click()
    await expectShown(heading(page, /Hello/))
    await open(page, `/firewalls/${firewallId}`)
    expect(await page.getByText('1 change, not applied yet').count()).toBe(0)
  })

  test('two editors do not overwrite each other', async () => {
    await button(page, 'Delete rule 1').click()
    await berth.firewalls.addRule(firewallId, { direction: 'OUT', action: 'REJECT', protocol: 'TCP', port: '25' })
    await expectShown(page.getByText('Somebody else changed the rules', { exact: false }), 30_000)
    expect(await button(page, 'Review changes').isDisabled()).toBe(true)
    await button(page, 'Discard changes').click()
    await expectShown(page.getByText('Outbound · TCP 25'))
  })

  test('everything on the map is a link, by keyboard too, and the way of a packet is drawn', async () => {
    await open(page, '/networks/map?kind=map')
    const network = page.locator(`a[href="/networks/${networkId}"]`)
    await expectShown(network)
    await button(page, /^Map:/).press('+')
    await button(page, /^Map:/).press('0')
    await page.getByLabel('To', { exact: true }).selectOption('')
    await page.getByLabel('Address', { exact: true }).fill('203.0.113.9')
    await button(page, 'Check path').click()
    await expectShown(page.locator('[data-verdict] circle'))
    await network.focus()
    await page.keyboard.press('Enter')
    await expectShown(heading(page, (await berth.networks.get(networkId)).name))
  })

  test('a list says what the map shows', async () => {
    await open(page, '/networks/map?kind=list')
    await expectShown(page.getByRole('table').first().getByRole('link', { name: vm.name }))
  })

  test('a console types text that is pasted, sends keys, and lets the keyboard go', async () => {
    await open(page, `/vms/${vmId}?tab=console`)
    await button(page, 'Open console').click()
    await expectShown(page.getByText('Connected', { exact: true }))
    await button(page, 'Paste text').click()
    await dialog(page).getByLabel('Text').fill('a\nb\nc\nd\n')
    expect(await button(dialog(page), 'Type text').isDisabled()).toBe(true)
    await dialog(page)
      .getByRole('checkbox', { name: /^Type all 4 lines/ })
      .check()
    await button(dialog(page), 'Type text').click()
    await expectShown(page.getByText('Connected', { exact: true }))
    await button(page, 'Send keys').click()
    await page.getByRole('menuitem', { name: /^Ctrl\+C/ }).click()
    await page.keyboard.press('Control+Shift+Escape')
    expect(await page.evaluate(() => document.activeElement?.closest('section')?.getAttribute('aria-label') ?? null)).toBeNull()
  })

  test('a console opens in a window of its own, which takes over and says so', async () => {
    const opened = owner.context.waitForEvent('page')
    await button(page, 'Open in a window of its own').click()
    const window = await opened
    await expectShown(window.getByText('Connected', { exact: true }))
    expect(await window.getByRole('navigation').count()).toBe(0)
    await button(page, 'Open console').click()
    await expectShown(window.getByText('Another console of this VM was opened and took over.'))
    await window.close()
  })

  test('a console comes back after a reboot of the VM', async () => {
    await expectShown(page.getByText('Connected', { exact: true }))
    await berth.waitForAction(await berth.vms.restart(vmId))
    await expectShown(page.getByText('Connected', { exact: true }), 60_000)
  })

  test('axe reports no violations of what these screens show in use, light and dark', { timeout: 300_000 }, async () => {
    const wrong: string[] = []
    const check = async (what: string, within = 'main'): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        wrong.push(...(await violations(page, within)).map((line) => `${what}, ${colorScheme}: ${line}`))
      }
    }
    await check('console')
    await open(page, '/networks/map?kind=map')
    await button(page, 'Check path').click()
    await expectShown(page.locator('[data-verdict] circle'))
    await check('map')
    await open(page, `/vms/${vmId}?tab=graphs`)
    await check('graphs')
    await open(page, `/firewalls/${firewallId}`)
    await button(page, 'Delete rule 1').click()
    await check('draft')
    await button(page, 'Review changes').click()
    await expectShown(dialog(page).getByRole('list', { name: 'Changes' }))
    await check('review', '[role=dialog]')
    await dialog(page)
      .getByRole('checkbox', { name: /^Undo by itself/ })
      .check()
    await button(dialog(page), /^Apply 1 change/).click()
    await expectShown(button(page, 'Keep rules'))
    await check('unconfirmed')
    await button(page, 'Undo change').click()
    await expectShown(dialog(page).getByRole('list', { name: 'Changes' }))
    await check('undo', '[role=dialog]')
    expect(wrong).toEqual([])
  })

  test('expects no problems', () => expectNoProblems(owner))
})
